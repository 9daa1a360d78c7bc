//! BBR version 3, uncoupled (draft-ietf-ccwg-bbr, version of August 2026). Section numbers are those of the
//! draft.
//!
//! Owns the sequence of steps after an acknowledgement, Startup and Drain, and the resulting pacing rate and
//! window. `model` estimates bandwidth and in-flight limits, `path` has the other state of a path, `cycle`
//! probes for bandwidth, and `probe_rtt` for the minimum RTT. Omits ECN, as the draft does.

pub(crate) mod cycle;
pub(crate) mod min_rtt;
pub(crate) mod model;
pub(crate) mod path;
pub(crate) mod probe_rtt;
pub(crate) mod state;

use mptcp_clock::{Duration, Instant};

use crate::congestion::controllers::bbr::{MARGIN, NOMINAL};
use crate::congestion::controllers::bbr3::path::PathMemory;
use crate::congestion::controllers::bbr3::state::{INITIAL, MIN_WINDOW, STARTUP_GAIN, State};
use crate::congestion::controllers::jitter::JitterRng;
use crate::congestion::controllers::pace::pace;
use crate::congestion::{Acked, CongestionControl, Lost, Mark, Path, Repair, Sample};
use crate::path::PerPath;

/// BBRStartupFullLossCnt. As in Linux, this counts acknowledgements that report losses, not gaps.
const STARTUP_LOSSES: u32 = 6;
/// Maximum number of rounds of Drain.
const DRAIN_ROUNDS: u64 = 3;

/// BBR version 3, with its state per path.
#[derive(Clone, Debug, Default)]
pub struct Bbr3 {
    paths: PerPath<PathMemory>,
    jitter: JitterRng,
}

impl Bbr3 {
    fn path(&mut self, path: usize) -> &mut PathMemory {
        self.paths.at(path)
    }
}

impl PathMemory {
    /// Section 5.3.1.3: leaves Startup after a round of recovery with too many losses.
    fn check_startup_losses(&mut self, state: &Path, sample: &Sample) {
        if self.model.full_reached {
            return;
        }
        self.startup_losses += u32::from(sample.newly_lost > 0);
        if !self.model.loss_round_start {
            return;
        }
        // Without selective acknowledgements, one loss is enough.
        let minimum = if sample.selective { STARTUP_LOSSES } else { 1 };
        let is_enough = std::mem::take(&mut self.startup_losses) >= minimum;
        let too_much = model::is_inflight_too_high(sample.lost, sample.in_flight_at_send, sample.selective);
        if is_enough && too_much && sample.repair == Repair::Fast {
            self.undo.state = Some(State::Startup);
            (self.model.full_reached, self.model.full_now) = (true, true);
            self.model.inflight_long = self.bdp(state, 1.0).max(self.model.inflight_latest);
        }
    }

    /// Sections 5.3.1 and 5.3.2: leaves Startup for Drain, and Drain for ProbeBW.
    fn leave_startup(&mut self, state: &Path, sample: &Sample, jitter: &mut JitterRng) {
        self.check_startup_losses(state, sample);
        if self.state == State::Startup && self.model.full_reached {
            (self.state, self.drain_start_round) = (State::Drain, self.model.rounds);
        }
        if self.state == State::Drain
            && (sample.in_flight <= self.inflight(state, 1.0)
                || self.model.rounds > self.drain_start_round + DRAIN_ROUNDS)
        {
            self.start_down(sample.now, jitter);
        }
    }

    /// Section 5.6.2: sets the pacing rate.
    fn set_pacing(&mut self, state: &mut Path, gain: f64) {
        if !self.measured && state.srtt.is_some() {
            self.init_pacing(state);
        }
        let rate = gain * self.model.bw * MARGIN;
        if self.model.full_reached || state.pacing.is_none_or(|pace| rate > pace) {
            pace(state, rate);
        }
    }

    /// `InitPacingRate`.
    fn init_pacing(&mut self, state: &mut Path) {
        self.measured = state.srtt.is_some();
        let rtt = state.srtt.unwrap_or(NOMINAL).as_secs_f64().max(1e-6);
        pace(state, STARTUP_GAIN * state.cwnd as f64 / rtt);
    }

    /// Section 5.6.4.6: sets the congestion window.
    fn set_window(&mut self, state: &mut Path, sample: &Sample) {
        let limit = self.bdp(state, self.state.window_gain()) + self.model.extra_acked();
        let limit = self.with_budget(state, limit);
        if self.model.full_reached {
            state.cwnd = (state.cwnd + sample.newly_delivered).min(limit);
        } else if state.cwnd < limit || sample.total_delivered < INITIAL * state.mss {
            state.cwnd += sample.newly_delivered;
        }
        let minimum = MIN_WINDOW * state.mss;
        state.cwnd = state.cwnd.max(minimum);
        if self.state == State::ProbeRtt {
            state.cwnd = state.cwnd.min(self.probe_rtt_window(state));
        }
        // Section 5.6.4.7: bounds the window by the long-term and short-term limits.
        let cap = match self.state {
            State::Down | State::Refill | State::Up => self.model.inflight_long,
            State::Cruise | State::ProbeRtt => self.model.with_headroom(state),
            State::Startup | State::Drain => u64::MAX,
        };
        state.cwnd = state.cwnd.min(cap.min(self.model.inflight_short).max(minimum));
    }
}

impl CongestionControl for Bbr3 {
    fn name(&self) -> &'static str {
        "bbr3"
    }

    fn needs_samples(&self) -> bool {
        true
    }

    fn on_path_change(&mut self, paths: &mut [Path], path: usize) {
        let own = self.path(path);
        *own = PathMemory::default();
        let state = &mut paths[path];
        (state.pacing, state.quantum, state.held_back) = (None, 0, false);
        if state.active {
            own.init_pacing(state);
        }
    }

    fn on_ack(&mut self, _paths: &mut [Path], _path: usize, _acked: Acked) {}

    /// `UpdateOnACK`, section 5.2.3.
    fn on_sample(&mut self, paths: &mut [Path], path: usize, sample: &Sample) {
        self.path(path);
        let (own, state, jitter) = (&mut self.paths[path], &mut paths[path], &mut self.jitter);
        let before = std::mem::replace(&mut own.repair, sample.repair);
        if before != Repair::None && sample.repair == Repair::None {
            own.restore_window(state);
        }
        own.may_undo &= sample.repair != Repair::None;
        own.min_rtt.init(state, sample.now);
        own.model.update_latest(sample);
        own.model.update_max_bw(sample);
        own.cycle.rounds_since_probe += u64::from(own.model.round_start);
        if own.model.loss_round_start {
            own.model.adapt_lower_bounds(state, own.state.is_probing());
        }
        own.model.update_aggregation(state, sample);
        own.model.check_full(sample);
        own.leave_startup(state, sample, jitter);
        own.update_cycle(state, sample, jitter);
        own.update_min_rtt(state, sample, jitter);
        own.model.advance_latest(sample);
        own.model.bound();
        own.set_pacing(state, own.state.pacing_gain());
        own.set_window(state, sample);
    }

    fn on_lost(&mut self, paths: &mut [Path], path: usize, lost: &Lost) {
        self.path(path);
        self.paths[path].on_lost(&paths[path], lost, &mut self.jitter);
    }

    /// `OnEnterFastRecovery` and `OnEnterRTO`.
    fn on_loss(&mut self, paths: &mut [Path], path: usize, _now: Instant) -> u64 {
        let own = self.path(path);
        own.save_state(&paths[path]);
        own.may_undo = true;
        paths[path].ssthresh
    }

    /// `on_loss` is not called for losses that follow marks in the same round.
    fn on_mark(&mut self, paths: &mut [Path], path: usize, _mark: Mark) -> u64 {
        self.path(path).save_window(&paths[path]);
        paths[path].ssthresh
    }

    fn on_timeout(&mut self, _paths: &mut [Path], path: usize) {
        self.path(path).repair = Repair::Timeout;
    }

    /// `HandleSpuriousLossDetection`, section 5.5.11.2.
    fn on_undo(&mut self, paths: &mut [Path], path: usize, delivered: u64) {
        let own = self.path(path);
        // A round that starts here is measured from this total of delivered bytes.
        own.model.delivered = delivered;
        own.restore_window(&mut paths[path]);
        own.model.undo(&own.undo);
        own.may_undo = false;
        let state = std::mem::take(&mut own.undo).state;
        match state {
            Some(State::Startup) if own.state != State::Startup => {
                own.model.full_reached = false;
                if own.state != State::ProbeRtt {
                    own.state = State::Startup;
                }
            }
            Some(State::Up) if own.state != State::Up && own.state != State::ProbeRtt => own.start_refill(),
            _ => {}
        }
    }

    /// `HandleRestartFromIdle`, section 5.4.1.
    fn on_restart(&mut self, paths: &mut [Path], path: usize, now: Instant, _idle: Duration) {
        self.path(path);
        let (own, state, jitter) = (&mut self.paths[path], &mut paths[path], &mut self.jitter);
        own.idle_restart = true;
        own.model.extra_from = now;
        if own.state.is_probe_bw() {
            own.set_pacing(state, 1.0);
        } else if own.state == State::ProbeRtt {
            own.check_probe_rtt_done(state, now, jitter);
        }
    }
}
