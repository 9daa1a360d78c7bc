//! BBR version 3 (draft-ietf-ccwg-bbr as the working group had it in August 2026), on each path by
//! itself. Section numbers are those of the draft.
//!
//! Owns the order of what an acknowledgement sets off, Startup and Drain, and what becomes of the model: pace and window. `model`
//! has the model and what losses make of it, `path` what else is known, `cycle` the probing for bandwidth, `probe_rtt` that for
//! the shortest round trip.
//! ECN, which the draft leaves out, is left out; so is what Linux's branch of v3 does with it.

pub(crate) mod cycle;
pub(crate) mod model;
pub(crate) mod path;
pub(crate) mod probe_rtt;
pub(crate) mod shortest;
pub(crate) mod state;

use mptcp_clock::{Duration, Instant};

use crate::congestion::controllers::bbr::{MARGIN, NOMINAL};
use crate::congestion::controllers::bbr3::path::PathMemory;
use crate::congestion::controllers::bbr3::state::{INITIAL, LEAST, STARTUP_GAIN, State};
use crate::congestion::controllers::jitter::JitterRng;
use crate::congestion::controllers::pace::pace;
use crate::congestion::{Acked, CongestionControl, Lost, Mark, Path, Repair, Sample};
use crate::path::PerPath;

/// BBRStartupFullLossCnt. Counted as Linux does, by acknowledgements that tell of losses, not by gaps.
const STARTUP_LOSSES: u32 = 6;
/// Rounds after which Drain ends whatever is under way.
const DRAIN_ROUNDS: u64 = 3;

/// BBRv3's memory of each path.
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
    /// Section 5.3.1.3: too much was lost for a whole round of recovery.
    fn check_startup_losses(&mut self, state: &Path, sample: &Sample) {
        if self.model.full_reached {
            return;
        }
        self.startup_losses += u32::from(sample.newly_lost > 0);
        if !self.model.loss_round_start {
            return;
        }
        // Without selective acknowledgements any will do.
        let least = if sample.selective { STARTUP_LOSSES } else { 1 };
        let enough = std::mem::take(&mut self.startup_losses) >= least;
        let too_much = crate::congestion::controllers::bbr3::model::is_too_much(
            sample.lost,
            sample.in_flight_then,
            sample.selective,
        );
        if enough && too_much && sample.repair == Repair::Fast {
            self.undo.state = Some(State::Startup);
            (self.model.full_reached, self.model.full_now) = (true, true);
            self.model.inflight_long = self.product(state, 1.0).max(self.model.inflight_latest);
        }
    }

    /// Sections 5.3.1 and 5.3.2.
    fn leave_startup(&mut self, state: &Path, sample: &Sample, jitter: &mut JitterRng) {
        self.check_startup_losses(state, sample);
        if self.state == State::Startup && self.model.full_reached {
            (self.state, self.drain_from) = (State::Drain, self.model.rounds);
        }
        if self.state == State::Drain
            && (sample.in_flight <= self.inflight(state, 1.0)
                || self.model.rounds > self.drain_from + DRAIN_ROUNDS)
        {
            self.go_down(sample.now, jitter);
        }
    }

    /// Section 5.6.2.
    fn set_pace(&mut self, state: &mut Path, gain: f64) {
        if !self.measured && state.srtt.is_some() {
            self.begin_pace(state);
        }
        let rate = gain * self.model.bw * MARGIN;
        if self.model.full_reached || state.pacing.is_none_or(|pace| rate > pace) {
            pace(state, rate);
        }
    }

    /// `InitPacingRate`.
    fn begin_pace(&mut self, state: &mut Path) {
        self.measured = state.srtt.is_some();
        let rtt = state.srtt.unwrap_or(NOMINAL).as_secs_f64().max(1e-6);
        pace(state, STARTUP_GAIN * state.cwnd as f64 / rtt);
    }

    /// Section 5.6.4.6.
    fn set_window(&mut self, state: &mut Path, sample: &Sample) {
        let most = self.product(state, self.state.window_gain()) + self.model.extra_acked();
        let most = self.with_budget(state, most);
        if self.model.full_reached {
            state.cwnd = (state.cwnd + sample.newly_delivered).min(most);
        } else if state.cwnd < most || sample.delivered_in_all < INITIAL * state.mss {
            state.cwnd += sample.newly_delivered;
        }
        let least = LEAST * state.mss;
        state.cwnd = state.cwnd.max(least);
        if self.state == State::ProbeRtt {
            state.cwnd = state.cwnd.min(self.probe_rtt_window(state));
        }
        // Section 5.6.4.7: what losses have taught.
        let cap = match self.state {
            State::Down | State::Refill | State::Up => self.model.inflight_long,
            State::Cruise | State::ProbeRtt => self.model.with_headroom(state),
            State::Startup | State::Drain => u64::MAX,
        };
        state.cwnd = state.cwnd.min(cap.min(self.model.inflight_short).max(least));
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
            own.begin_pace(state);
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
        own.undo_waits &= sample.repair != Repair::None;
        own.shortest.begin(state, sample.now);
        own.model.update_latest(sample);
        own.model.update_max_bw(sample);
        own.cycle.rounds_since_probe += u64::from(own.model.round_start);
        if own.model.loss_round_start {
            own.model.adapt_lower_bounds(state, own.state.accelerates());
        }
        own.model.update_aggregation(state, sample);
        own.model.check_full(sample);
        own.leave_startup(state, sample, jitter);
        own.update_cycle(state, sample, jitter);
        own.update_shortest(state, sample, jitter);
        own.model.advance_latest(sample);
        own.model.bound();
        own.set_pace(state, own.state.pacing_gain());
        own.set_window(state, sample);
    }

    fn on_lost(&mut self, paths: &mut [Path], path: usize, lost: &Lost) {
        self.path(path);
        self.paths[path].on_lost(&paths[path], lost, &mut self.jitter);
    }

    /// `OnEnterFastRecovery`; `OnEnterRTO`.
    fn on_loss(&mut self, paths: &mut [Path], path: usize, _now: Instant) -> u64 {
        let own = self.path(path);
        own.save_state(&paths[path]);
        own.undo_waits = true;
        paths[path].ssthresh
    }

    /// No `on_loss` comes where losses follow marks in the same round trip.
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
        // A round that begins now counts from here.
        own.model.delivered = delivered;
        own.restore_window(&mut paths[path]);
        own.model.undo(&own.undo);
        own.undo_waits = false;
        let state = std::mem::take(&mut own.undo).state;
        match state {
            Some(State::Startup) if own.state != State::Startup => {
                own.model.full_reached = false;
                if own.state != State::ProbeRtt {
                    own.state = State::Startup;
                }
            }
            Some(State::Up) if own.state != State::Up && own.state != State::ProbeRtt => own.refill(),
            _ => {}
        }
    }

    /// `HandleRestartFromIdle`, section 5.4.1.
    fn on_restart(&mut self, paths: &mut [Path], path: usize, now: Instant, _idle: Duration) {
        self.path(path);
        let (own, state, jitter) = (&mut self.paths[path], &mut paths[path], &mut self.jitter);
        own.restarts = true;
        own.model.extra_from = now;
        if own.state.is_probe_bw() {
            own.set_pace(state, 1.0);
        } else if own.state == State::ProbeRtt {
            own.check_probe_rtt_done(state, now, jitter);
        }
    }
}
