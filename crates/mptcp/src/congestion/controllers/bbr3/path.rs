//! The BBRv3 state of a path, and the in-flight amounts that the other files of `bbr3` derive from it.
//!
//! Owns the fields. Never changes the BBR state: `cycle`, `probe_rtt` and the parent module do.

use mptcp_clock::{Duration, Instant};

use crate::congestion::controllers::bbr3::min_rtt::MinRttFilter;
use crate::congestion::controllers::bbr3::model::Model;
use crate::congestion::controllers::bbr3::state::{INITIAL, MIN_WINDOW, State, Undo};
use crate::congestion::{Path, Repair};

/// The draft's `ack_phase`: the phase of a bandwidth probe to which the arriving acknowledgements belong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Acks {
    #[default]
    Init,
    Refilling,
    Starting,
    Feedback,
    Stopping,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cycle {
    pub(crate) acks: Acks,
    pub(crate) since: Instant,
    pub(crate) wait: Duration,
    pub(crate) rounds_since_probe: u64,
    /// Whether the arriving data was sent while probing.
    pub(crate) is_probe: bool,
    pub(crate) up_rounds: u32,
    pub(crate) up_acked: u64,
    /// Acknowledged bytes per increase of the limit by one segment; 0 if it does not grow.
    pub(crate) bytes_per_segment: u64,
    pub(crate) was_too_high: bool,
    pub(crate) was_precautionary: bool,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PathMemory {
    pub(crate) state: State,
    pub(crate) model: Model,
    pub(crate) cycle: Cycle,
    pub(crate) min_rtt: MinRttFilter,
    pub(crate) drain_start_round: u64,
    /// Acknowledgements of this round that reported losses.
    pub(crate) startup_losses: u32,
    /// Window to restore after recovery and ProbeRTT, bytes.
    pub(crate) prior: u64,
    pub(crate) repair: Repair,
    pub(crate) undo: Undo,
    /// Whether the losses of the present recovery may still be undone. The saved state is kept until this
    /// recovery ends.
    pub(crate) may_undo: bool,
    pub(crate) idle_restart: bool,
    pub(crate) measured: bool,
}

impl PathMemory {
    /// `BDPMultiple`, bytes.
    pub(crate) fn bdp(&self, state: &Path, gain: f64) -> u64 {
        self.bdp_at(state, self.model.bw, gain)
    }

    /// `BDPMultiple` for another rate than that of the model.
    pub(crate) fn bdp_at(&self, state: &Path, rate: f64, gain: f64) -> u64 {
        match self.min_rtt.min_rtt {
            None => INITIAL * state.mss,
            Some(min_rtt) => (rate * min_rtt.as_secs_f64() * gain) as u64,
        }
    }

    /// `QuantizationBudget`: an allowance for aggregation.
    pub(crate) fn with_budget(&self, state: &Path, inflight: u64) -> u64 {
        let inflight = inflight.max(3 * state.quantum).max(MIN_WINDOW * state.mss);
        inflight + if self.state == State::Up { 2 * state.mss } else { 0 }
    }

    /// `Inflight`.
    pub(crate) fn inflight(&self, state: &Path, gain: f64) -> u64 {
        self.with_budget(state, self.bdp(state, gain))
    }

    /// `TargetInflight`.
    pub(crate) fn target(&self, state: &Path) -> u64 {
        self.bdp(state, 1.0).min(state.cwnd)
    }

    /// `SaveCwnd`.
    pub(crate) fn save_window(&mut self, state: &Path) {
        let is_valid = self.repair == Repair::None && self.state != State::ProbeRtt;
        self.prior = if is_valid { state.cwnd } else { self.prior.max(state.cwnd) };
    }

    /// `RestoreCwnd`.
    pub(crate) fn restore_window(&self, state: &mut Path) {
        state.cwnd = state.cwnd.max(self.prior);
    }

    /// `SaveStateUponLoss`.
    pub(crate) fn save_state(&mut self, state: &Path) {
        self.save_window(state);
        self.undo = Undo {
            state: None,
            bw_short: self.model.bw_short,
            inflight_short: self.model.inflight_short,
            inflight_long: self.model.inflight_long,
        };
    }
}
