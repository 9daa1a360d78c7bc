//! The state of a subflow for the scheduler, reinjection and pacing.
//!
//! It is stored per subflow, so that a new subflow in a reused slot starts with default values. Never
//! interprets the data: the connection does.

use mptcp_clock::Instant;

use crate::subflow::state::Probation;

/// The progress of the search by opportunistic retransmission (M1) for chunks that arrive sooner on a subflow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScanPosition {
    /// The data offset up to which the search has come, and the time at which the search started.
    pub(crate) to: u64,
    pub(crate) at: Instant,
    /// The time at which the first chunk counts as lost.
    pub(crate) overdue: Instant,
    /// The expected arrival of the last chunk.
    pub(crate) latest: Instant,
}

/// The state of Linux's stale detection: data-level timeouts with data on the subflow.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StaleState {
    /// Consecutive timeouts without a received segment: `stale_count`.
    pub(crate) count: u32,
    /// Segments received at the first of these timeouts.
    pub(crate) heard: u64,
    /// The subflow gets no new data until a segment arrives.
    pub(crate) stale: bool,
}

/// The scheduling state of a subflow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SchedulingState {
    /// Reinjection of the subflow's outstanding data was requested.
    pub(crate) reinjected: bool,
    /// A recent join from this host, for whose data the peer may not be ready: see [`crate::JOIN_PROBATION`].
    pub(crate) probation: Option<Probation>,
    /// The data offset up to which the subflow has carried all data (redundant scheduler).
    pub(crate) redundant_up_to: u64,
    /// The progress of M1's search.
    pub(crate) reinjection_scan: ScanPosition,
    /// The time at which the data sent so far would have been sent at the pacing rate.
    pub(crate) next_paced_send: Instant,
    /// The time before which the subflow sends no new data.
    pub(crate) blocked_until: Instant,
    /// The earliest time at which the limit of the congestion window (M4) applies again.
    pub(crate) next_cwnd_cap: Instant,
    /// The time of the last penalisation (M2) of this subflow, or of another one on behalf of this subflow:
    /// see `PenaltyRule`.
    pub(crate) last_penalty: Option<Instant>,
    /// The stale state, as in Linux.
    pub(crate) stale_state: StaleState,
    /// A segment without MPTCP options was accepted, and no new acknowledgement with options has arrived since.
    pub(crate) options_stripped: bool,
}

impl Default for SchedulingState {
    fn default() -> Self {
        Self {
            reinjected: false,
            probation: None,
            redundant_up_to: 0,
            reinjection_scan: ScanPosition {
                to: 0,
                at: Instant::ZERO,
                overdue: Instant::FAR_FUTURE,
                latest: Instant::ZERO,
            },
            next_paced_send: Instant::ZERO,
            blocked_until: Instant::ZERO,
            next_cwnd_cap: Instant::ZERO,
            last_penalty: None,
            stale_state: StaleState::default(),
            options_stripped: false,
        }
    }
}
