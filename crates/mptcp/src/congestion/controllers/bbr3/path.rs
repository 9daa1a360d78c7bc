//! What BBRv3 knows of a path, and the amounts that follow from it.
//!
//! Owns the fields; `cycle`, `probe_rtt` and the module itself say when they change.

use mptcp_clock::{Duration, Instant};

use crate::congestion::controllers::bbr3::model::Model;
use crate::congestion::controllers::bbr3::shortest::MinRttFilter;
use crate::congestion::controllers::bbr3::state::{INITIAL, LEAST, State, Undo};
use crate::congestion::{Path, Repair};

/// What the acknowledgements that come speak of: `ack_phase`.
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
    /// What arrives was sent while probing.
    pub(crate) is_probe: bool,
    pub(crate) up_rounds: u32,
    pub(crate) up_acked: u64,
    /// Bytes for which the bound grows by a segment; 0 while it does not.
    pub(crate) per_segment: u64,
    pub(crate) was_too_high: bool,
    pub(crate) was_precautionary: bool,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PathMemory {
    pub(crate) state: State,
    pub(crate) model: Model,
    pub(crate) cycle: Cycle,
    pub(crate) shortest: MinRttFilter,
    pub(crate) drain_from: u64,
    /// Acknowledgements of this round that told of losses.
    pub(crate) startup_losses: u32,
    /// The window before repairs and ProbeRTT.
    pub(crate) prior: u64,
    pub(crate) repair: Repair,
    pub(crate) undo: Undo,
    /// A repair goes on whose losses may yet be taken back: what was before it stays known, however many rounds it has.
    pub(crate) undo_waits: bool,
    pub(crate) restarts: bool,
    pub(crate) measured: bool,
}

impl PathMemory {
    /// `BDPMultiple`, bytes.
    pub(crate) fn product(&self, state: &Path, gain: f64) -> u64 {
        self.product_at(state, self.model.bw, gain)
    }

    /// The same for another rate than that of the model.
    pub(crate) fn product_at(&self, state: &Path, rate: f64, gain: f64) -> u64 {
        match self.shortest.min_rtt {
            None => INITIAL * state.mss,
            Some(shortest) => (rate * shortest.as_secs_f64() * gain) as u64,
        }
    }

    /// `QuantizationBudget`: what is put together on the way needs room.
    pub(crate) fn with_budget(&self, state: &Path, inflight: u64) -> u64 {
        let inflight = inflight.max(3 * state.quantum).max(LEAST * state.mss);
        inflight + if self.state == State::Up { 2 * state.mss } else { 0 }
    }

    /// `Inflight`.
    pub(crate) fn inflight(&self, state: &Path, gain: f64) -> u64 {
        self.with_budget(state, self.product(state, gain))
    }

    /// `TargetInflight`.
    pub(crate) fn target(&self, state: &Path) -> u64 {
        self.product(state, 1.0).min(state.cwnd)
    }

    /// `SaveCwnd`.
    pub(crate) fn save_window(&mut self, state: &Path) {
        let good = self.repair == Repair::None && self.state != State::ProbeRtt;
        self.prior = if good { state.cwnd } else { self.prior.max(state.cwnd) };
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
