//! The two minimum RTT filters of BBRv3 (draft-ietf-ccwg-bbr section 5.3.4.3). The expiry of the five-second
//! filter starts ProbeRTT. The ten-second filter gives the RTT of the model.
//!
//! Owns both minima. Never changes the window: `probe_rtt` does.

use mptcp_clock::{Duration, Instant};

use crate::congestion::{Path, Sample};

/// BBR.ProbeRTTInterval.
const INTERVAL: Duration = Duration::from_secs(5);
/// BBR.MinRTTFilterLen.
const LIFETIME: Duration = Duration::from_secs(10);

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MinRttFilter {
    /// Minimum RTT of the last ten seconds.
    pub(crate) min_rtt: Option<Duration>,
    at: Instant,
    /// Minimum RTT of the last five seconds.
    probe: Option<Duration>,
    pub(crate) probe_at: Instant,
    /// Earliest end of ProbeRTT, set once at most ProbeRTT's window is in flight. `round`: a round has passed
    /// since.
    pub(crate) ends: Option<Instant>,
    pub(crate) round: bool,
}

impl MinRttFilter {
    /// Initialises both filters with the RTT of the handshake.
    pub(crate) fn init(&mut self, state: &Path, now: Instant) {
        if self.min_rtt.is_none() {
            (self.min_rtt, self.probe) = (state.min_rtt, state.min_rtt);
            (self.at, self.probe_at) = (now, now);
        }
    }

    /// `UpdateMinRTT`. Returns whether the five-second filter has expired.
    pub(crate) fn update(&mut self, sample: &Sample) -> bool {
        let expired = sample.now > self.probe_at + INTERVAL;
        if let Some(rtt) = sample.rtt
            && (expired || self.probe.is_none_or(|probe| rtt < probe))
        {
            (self.probe, self.probe_at) = (Some(rtt), sample.now);
        }
        let is_expired = sample.now > self.at + LIFETIME;
        if let Some(probe) = self.probe
            && (is_expired || self.min_rtt.is_none_or(|min_rtt| probe < min_rtt))
        {
            (self.min_rtt, self.at) = (Some(probe), self.probe_at);
        }
        expired
    }
}
