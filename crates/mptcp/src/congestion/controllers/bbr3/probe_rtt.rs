//! ProbeRTT: keeps half of the bandwidth-delay product in flight for at least 200 ms, to measure the minimum
//! RTT (draft-ietf-ccwg-bbr section 5.3.4).
//!
//! Owns the start and the end of ProbeRTT. Never computes the minima: `min_rtt` does.

use mptcp_clock::{Duration, Instant};

use crate::congestion::controllers::bbr3::path::PathMemory;
use crate::congestion::controllers::bbr3::state::{MIN_WINDOW, PROBE_RTT_WINDOW_GAIN, State};
use crate::congestion::controllers::jitter::JitterRng;
use crate::congestion::{Path, Sample};

/// BBR.ProbeRTTDuration.
const DURATION: Duration = Duration::from_millis(200);

impl PathMemory {
    /// `ProbeRTTCwnd`.
    pub(crate) fn probe_rtt_window(&self, state: &Path) -> u64 {
        self.bdp(state, PROBE_RTT_WINDOW_GAIN).max(MIN_WINDOW * state.mss)
    }

    /// `UpdateMinRTT` and `CheckProbeRTT`.
    pub(crate) fn update_min_rtt(&mut self, state: &mut Path, sample: &Sample, jitter: &mut JitterRng) {
        let expired = self.min_rtt.update(sample);
        if expired && !self.idle_restart && self.state != State::ProbeRtt {
            self.save_window(state);
            self.state = State::ProbeRtt;
            self.min_rtt.ends = None;
            self.stop_probing();
        }
        if self.state == State::ProbeRtt {
            // Low delivery rates are ignored during ProbeRTT.
            state.held_back = true;
            if self.min_rtt.ends.is_some() {
                self.min_rtt.round |= self.model.round_start;
                if self.min_rtt.round {
                    self.check_probe_rtt_done(state, sample.now, jitter);
                }
            } else if sample.in_flight <= self.probe_rtt_window(state) {
                (self.min_rtt.ends, self.min_rtt.round) = (Some(sample.now + DURATION), false);
                self.model.start_round();
            }
        }
        self.idle_restart &= sample.delivered == 0;
    }

    /// `CheckProbeRTTDone` and `ExitProbeRTT`.
    pub(crate) fn check_probe_rtt_done(&mut self, state: &mut Path, now: Instant, jitter: &mut JitterRng) {
        if self.min_rtt.ends.is_none_or(|ends| now <= ends) {
            return;
        }
        self.min_rtt.probe_at = now;
        self.restore_window(state);
        state.held_back = false;
        self.model.reset_short();
        if self.model.full_reached {
            self.start_down(now, jitter);
            self.state = State::Cruise;
        } else {
            self.state = State::Startup;
        }
    }
}
