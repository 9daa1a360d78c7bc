//! What the scheduler, reinjection and pacing remember of one subflow.

use mptcp_clock::Instant;

use crate::subflow::state::Probation;

/// How far M1 has looked for what would come sooner on a subflow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScanPosition {
    /// All under way up to this offset of the stream, and when.
    pub(crate) to: u64,
    pub(crate) at: Instant,
    /// When the first of it counts as lost.
    pub(crate) overdue: Instant,
    /// When the last of it is expected.
    pub(crate) latest: Instant,
}

/// Data-level timeouts that found data on a subflow.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StaleState {
    /// How many in a row, while nothing was heard: `stale_count`.
    pub(crate) count: u32,
    /// Segments that had come by then.
    pub(crate) heard: u64,
    /// New data passes it over until it is heard.
    pub(crate) stale: bool,
}

/// Its part among the others: what it may carry, and when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SchedulingState {
    /// Its outstanding data was given to the others.
    pub(crate) reinjected: bool,
    /// Joined from here lately, so that the peer may not be ready for data: see [`crate::JOIN_PROBATION`].
    pub(crate) probation: Option<Probation>,
    /// Up to this offset of the stream it has carried all: where the redundant scheduler goes on.
    pub(crate) duplicated: u64,
    /// What M1 has looked at for it.
    pub(crate) reinjection_scan: ScanPosition,
    /// When what was sent so far would have left at the path's pace.
    pub(crate) next_send: Instant,
    /// No new data before.
    pub(crate) held_until: Instant,
    /// The earliest time for M4 to look again.
    pub(crate) next_cwnd_cap: Instant,
    /// When M2 last penalised this subflow, or another one on its behalf: see `PenaltyRule`.
    pub(crate) last_penalty: Option<Instant>,
    /// How often the data level has found it silent.
    pub(crate) stale_state: StaleState,
    /// A segment without MPTCP options was accepted, and none with them has acknowledged news since.
    pub(crate) options_stripped: bool,
}

impl Default for SchedulingState {
    fn default() -> Self {
        Self {
            reinjected: false,
            probation: None,
            duplicated: 0,
            reinjection_scan: ScanPosition {
                to: 0,
                at: Instant::ZERO,
                overdue: Instant::FAR_FUTURE,
                latest: Instant::ZERO,
            },
            next_send: Instant::ZERO,
            held_until: Instant::ZERO,
            next_cwnd_cap: Instant::ZERO,
            last_penalty: None,
            stale_state: StaleState::default(),
            options_stripped: false,
        }
    }
}
