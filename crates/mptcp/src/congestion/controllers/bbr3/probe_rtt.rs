//! ProbeRTT: half of the product under way for a while, so that the shortest round trip shows (draft section 5.3.4).
//!
//! Owns when it begins and ends. The minima are `shortest`'s.

use mptcp_clock::{Duration, Instant};

use crate::congestion::controllers::bbr3::path::PathMemory;
use crate::congestion::controllers::bbr3::state::{LEAST, PROBE_RTT_WINDOW_GAIN, State};
use crate::congestion::controllers::jitter::JitterRng;
use crate::congestion::{Path, Sample};

/// BBR.ProbeRTTDuration.
const DURATION: Duration = Duration::from_millis(200);

impl PathMemory {
    /// `ProbeRTTCwnd`.
    pub(crate) fn probe_rtt_window(&self, state: &Path) -> u64 {
        self.product(state, PROBE_RTT_WINDOW_GAIN).max(LEAST * state.mss)
    }

    /// `UpdateMinRTT` and `CheckProbeRTT`.
    pub(crate) fn update_shortest(&mut self, state: &mut Path, sample: &Sample, jitter: &mut JitterRng) {
        let expired = self.shortest.update(sample);
        if expired && !self.restarts && self.state != State::ProbeRtt {
            self.save_window(state);
            self.state = State::ProbeRtt;
            self.shortest.ends = None;
            self.stop_probing();
        }
        if self.state == State::ProbeRtt {
            // Low rates say nothing meanwhile.
            state.held_back = true;
            if self.shortest.ends.is_some() {
                self.shortest.round |= self.model.round_start;
                if self.shortest.round {
                    self.check_probe_rtt_done(state, sample.now, jitter);
                }
            } else if sample.in_flight <= self.probe_rtt_window(state) {
                (self.shortest.ends, self.shortest.round) = (Some(sample.now + DURATION), false);
                self.model.start_round();
            }
        }
        self.restarts &= sample.delivered == 0;
    }

    /// `CheckProbeRTTDone` and `ExitProbeRTT`.
    pub(crate) fn check_probe_rtt_done(&mut self, state: &mut Path, now: Instant, jitter: &mut JitterRng) {
        if self.shortest.ends.is_none_or(|ends| now <= ends) {
            return;
        }
        self.shortest.probe_at = now;
        self.restore_window(state);
        state.held_back = false;
        self.model.reset_short();
        if self.model.full_reached {
            self.go_down(now, jitter);
            self.state = State::Cruise;
        } else {
            self.state = State::Startup;
        }
    }
}
