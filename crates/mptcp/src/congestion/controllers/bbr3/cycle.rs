//! ProbeBW, the state in which BBRv3 regularly probes for more bandwidth: its phases Down, Cruise, Refill and
//! Up (draft-ietf-ccwg-bbr section 5.3.3).
//!
//! Owns the start of each phase, the growth of the long-term limit, and the reaction to losses while probing
//! (section 5.5.10.2).

use mptcp_clock::{Duration, Instant};

use crate::congestion::controllers::bbr3::model;
use crate::congestion::controllers::bbr3::path::{Acks, PathMemory};
use crate::congestion::controllers::bbr3::state::{BETA, LOSS_THRESHOLD, State};
use crate::congestion::controllers::jitter::JitterRng;
use crate::congestion::{Lost, Path, Sample};

/// Section 5.3.3.8: maximum number of rounds between probes; the limit allows Reno flows to coexist.
const RENO_ROUNDS: u64 = 63;

impl PathMemory {
    /// `StartProbeBW_DOWN`.
    pub(crate) fn start_down(&mut self, now: Instant, jitter: &mut JitterRng) {
        self.model.reset_signals();
        self.cycle.bytes_per_segment = 0;
        // `PickProbeWait`.
        self.cycle.rounds_since_probe = jitter.below(now, 2);
        self.cycle.wait = Duration::from_secs_f64(2.0 + jitter.unit(now));
        self.cycle.since = now;
        self.stop_probing();
        self.state = State::Down;
    }

    /// Data sent after this round does not belong to a probe.
    pub(crate) fn stop_probing(&mut self) {
        self.cycle.acks = Acks::Stopping;
        self.model.start_round();
    }

    /// `StartProbeBW_REFILL`.
    pub(crate) fn start_refill(&mut self) {
        self.model.reset_short();
        (self.cycle.up_rounds, self.cycle.up_acked) = (0, 0);
        self.cycle.was_precautionary = false;
        self.cycle.acks = Acks::Refilling;
        self.model.start_round();
        self.state = State::Refill;
    }

    /// `StartProbeBW_UP`.
    fn start_up(&mut self, state: &Path, sample: &Sample) {
        self.cycle.is_probe = true;
        self.cycle.acks = Acks::Starting;
        self.model.start_round();
        self.model.reset_full(sample.rate.unwrap_or(0.0));
        self.state = State::Up;
        self.raise_slope(state);
    }

    /// `UpdateProbeBWCyclePhase`.
    pub(crate) fn update_cycle(&mut self, state: &Path, sample: &Sample, jitter: &mut JitterRng) {
        if !self.model.full_reached || self.adapt_long(state, sample) {
            return;
        }
        let current = self.state;
        match current {
            State::Down | State::Cruise if self.is_time_to_probe(state, sample) => self.start_refill(),
            State::Down if self.is_time_to_cruise(state, sample) => self.state = State::Cruise,
            State::Refill if self.model.round_start => self.start_up(state, sample),
            State::Up if self.is_time_to_go_down(state, sample) => {
                self.cycle.was_too_high = false;
                self.start_down(sample.now, jitter);
            }
            _ => {}
        }
    }

    /// `IsTimeToProbeBW`.
    fn is_time_to_probe(&self, state: &Path, sample: &Sample) -> bool {
        let reno_rounds = (self.target(state) / state.mss.max(1)).clamp(1, RENO_ROUNDS);
        sample.now > self.cycle.since + self.cycle.wait || self.cycle.rounds_since_probe >= reno_rounds
    }

    /// `IsTimeToCruise`; uses the maximum bandwidth, without the short-term limit.
    fn is_time_to_cruise(&self, state: &Path, sample: &Sample) -> bool {
        let bdp = self.bdp_at(state, self.model.max_bw(), 1.0);
        sample.in_flight <= self.model.with_headroom(state)
            && sample.in_flight <= self.with_budget(state, bdp)
    }

    /// `IsTimeToGoDown`.
    fn is_time_to_go_down(&mut self, state: &Path, sample: &Sample) -> bool {
        let long = self.model.inflight_long;
        if self.cycle.was_too_high && sample.in_flight >= long {
            // Section 5.3.3.6: the last probe caused too many losses.
            self.cycle.was_precautionary = true;
            return true;
        }
        if sample.window_limited && state.cwnd >= long {
            self.model.reset_full(sample.rate.unwrap_or(0.0));
            return false;
        }
        self.model.full_now
    }

    /// `AdaptLongTermModel`. Returns whether this function has chosen the next phase.
    fn adapt_long(&mut self, state: &Path, sample: &Sample) -> bool {
        if self.cycle.acks == Acks::Starting && self.model.round_start {
            self.cycle.acks = Acks::Feedback;
        }
        if self.cycle.acks == Acks::Stopping && self.model.round_start {
            self.cycle.is_probe = false;
            self.cycle.acks = Acks::Init;
            let probes = self.state.is_probe_bw();
            if probes && !sample.app_limited {
                self.model.advance_max_bw();
            }
            if probes && self.cycle.was_precautionary && !self.cycle.was_too_high {
                self.start_refill();
                return true;
            }
        }
        if self.model.inflight_long == u64::MAX
            || model::is_inflight_too_high(sample.lost, sample.in_flight_at_send, sample.selective)
        {
            return false;
        }
        self.model.inflight_long = self.model.inflight_long.max(sample.in_flight_at_send);
        if self.state == State::Up {
            self.raise_long(state, sample);
        }
        false
    }

    /// `RaiseInflightLongtermSlope`.
    fn raise_slope(&mut self, state: &Path) {
        let growth = 1_u64 << self.cycle.up_rounds;
        self.cycle.up_rounds = (self.cycle.up_rounds + 1).min(30);
        self.cycle.bytes_per_segment = (state.cwnd / growth).max(state.mss).max(1);
    }

    /// `ProbeInflightLongtermUpward`.
    fn raise_long(&mut self, state: &Path, sample: &Sample) {
        if !sample.window_limited
            || state.cwnd < self.model.inflight_long
            || self.cycle.bytes_per_segment == 0
        {
            return;
        }
        self.cycle.up_acked += sample.newly_delivered;
        let segments = self.cycle.up_acked / self.cycle.bytes_per_segment;
        self.cycle.up_acked -= segments * self.cycle.bytes_per_segment;
        self.model.inflight_long = self.model.inflight_long.saturating_add(segments * state.mss);
        if self.model.round_start {
            self.raise_slope(state);
        }
    }

    /// `HandleLostPacket`.
    pub(crate) fn on_lost(&mut self, state: &Path, lost: &Lost, jitter: &mut JitterRng) {
        self.model.delivered = lost.total_delivered;
        let first = self.model.note_loss(lost.total_delivered);
        if first && !self.may_undo {
            self.save_state(state);
        }
        if self.cycle.is_probe
            && model::is_inflight_too_high(lost.lost, lost.in_flight_at_send, lost.selective)
        {
            self.on_too_high(state, lost, jitter);
        }
    }

    /// `HandleInflightTooHigh`.
    fn on_too_high(&mut self, state: &Path, lost: &Lost, jitter: &mut JitterRng) {
        self.cycle.was_too_high = true;
        self.cycle.is_probe = false;
        if !lost.app_limited {
            let minimum = (self.target(state) as f64 * BETA) as u64;
            self.model.inflight_long = inflight_at_loss(lost).max(minimum);
        }
        if self.state == State::Up {
            self.undo.state = Some(State::Up);
            self.start_down(lost.now, jitter);
        }
    }
}

/// `InflightAtLoss`: bytes in flight when the losses exceeded the threshold, interpolated within a large
/// segment.
fn inflight_at_loss(lost: &Lost) -> u64 {
    let before = lost.in_flight_at_send.saturating_sub(lost.bytes) as f64;
    let lost_before = lost.lost.saturating_sub(lost.bytes) as f64;
    let excess = (LOSS_THRESHOLD * before - lost_before) / (1.0 - LOSS_THRESHOLD);
    (before + excess).max(0.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 100 kB in flight, and a segment of 10 kB is lost. The losses reach 2% after 1,836 bytes of the
    /// segment: 2% of 90 kB, divided by 98%.
    #[test]
    fn inflight_at_loss_is_interpolated_within_a_segment() {
        let lost = Lost {
            now: Instant::ZERO,
            bytes: 10_000,
            in_flight_at_send: 100_000,
            lost: 10_000,
            total_delivered: 0,
            app_limited: false,
            selective: true,
        };
        assert_eq!(inflight_at_loss(&lost), 91_836);
        assert_eq!(inflight_at_loss(&Lost { lost: 12_000, ..lost }), 89_795);
    }

    /// `HandleLostPacket`: only losses of a probe show that too much was in flight, and only above 2%.
    #[test]
    fn probe_losses_above_the_threshold_are_too_many() {
        let too_high = |is_probe, lost, selective| {
            let mut path = PathMemory::default();
            path.cycle.is_probe = is_probe;
            let lost = Lost {
                now: Instant::ZERO,
                bytes: 1_000,
                in_flight_at_send: 100_000,
                lost,
                total_delivered: 500_000,
                app_limited: false,
                selective,
            };
            path.on_lost(&Path::new(1_000, 100), &lost, &mut JitterRng::default());
            assert_eq!(path.cycle.is_probe, is_probe && !path.cycle.was_too_high, "a probe is judged once");
            path.cycle.was_too_high
        };
        assert!(!too_high(true, 2_000, true) && too_high(true, 2_001, true));
        assert!(too_high(true, 1_000, false), "without SACK, any loss is too high");
        assert!(!too_high(false, 50_000, true) && !too_high(false, 50_000, false));
    }
}
