//! The shortest round trip: over five seconds, which says when to look for it, and over ten, which the model uses (draft section
//! 5.3.4.3).
//!
//! Owns both minima. What is done to see it is `probe_rtt`'s affair.

use mptcp_clock::{Duration, Instant};

use crate::congestion::{Path, Sample};

/// BBR.ProbeRTTInterval.
const INTERVAL: Duration = Duration::from_secs(5);
/// BBR.MinRTTFilterLen.
const LASTS: Duration = Duration::from_secs(10);

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MinRttFilter {
    /// Over ten seconds.
    pub(crate) min_rtt: Option<Duration>,
    at: Instant,
    /// Over five.
    probe: Option<Duration>,
    pub(crate) probe_at: Instant,
    /// When it may end, once little is under way, and whether a round of that is over.
    pub(crate) ends: Option<Instant>,
    pub(crate) round: bool,
}

impl MinRttFilter {
    /// Begins with what the handshake showed.
    pub(crate) fn begin(&mut self, state: &Path, now: Instant) {
        if self.min_rtt.is_none() {
            (self.min_rtt, self.probe) = (state.min_rtt, state.min_rtt);
            (self.at, self.probe_at) = (now, now);
        }
    }

    /// `UpdateMinRTT`; returns whether it is time to look.
    pub(crate) fn update(&mut self, sample: &Sample) -> bool {
        let expired = sample.now > self.probe_at + INTERVAL;
        if let Some(rtt) = sample.rtt
            && (expired || self.probe.is_none_or(|probe| rtt < probe))
        {
            (self.probe, self.probe_at) = (Some(rtt), sample.now);
        }
        let old = sample.now > self.at + LASTS;
        if let Some(probe) = self.probe
            && (old || self.min_rtt.is_none_or(|least| probe < least))
        {
            (self.min_rtt, self.at) = (Some(probe), self.probe_at);
        }
        expired
    }
}
