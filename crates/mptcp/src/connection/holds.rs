//! What holds a subflow back: its window, its pace, its interface's queue.
//!
//! Owns the rules; what a scheduler sees of them, and which subflows are asked about, is the affair of `candidates`.

use mptcp_clock::Instant;

use super::Connection;
use crate::congestion::PathState;
use crate::subflow::{DSS_SPACE, Subflow};

/// What a connection's settings and its data have to say of all subflows.
#[derive(Clone, Copy)]
pub(super) struct Holds {
    unsent: u64,
    small_queues: Option<u64>,
    pacing: bool,
    /// What a segment carries less than one of TCP, at the end of the stream; 0 before, and see [`Connection::last_allowance`].
    option: u64,
}

impl Holds {
    #[inline]
    pub(super) fn of(connection: &Connection) -> Self {
        Self {
            unsent: connection.send.buffer.unsent(),
            small_queues: connection.config.small_queues,
            pacing: connection.config.pacing,
            option: if connection.send.writer.is_closed() { connection.last_allowance() } else { 0 },
        }
    }

    /// Whether what is unsent decides for subflows that nothing went on, too.
    #[inline]
    pub(super) fn depend_on_unsent(&self, subflow: &Subflow, path: &PathState) -> bool {
        subflow.agreed().gso_max > 0 || self.option > 0 && self.unsent < path.mss
    }

    /// Small queues: whether enough of a subflow's packets wait in the interface. Two always may.
    #[inline]
    pub(super) fn is_queue_full(&self, path: &PathState) -> bool {
        self.small_queues.is_some_and(|limit| path.local.bytes >= limit.max(2 * path.mss))
    }

    /// Whether the window of a subflow has room: for a frame, or on a device that cuts segments for a quarter of the window, so
    /// that a few large segments are under way and not many small ones; but for no more than leaves in one row.
    #[inline]
    pub(super) fn has_window(&self, subflow: &Subflow, path: &PathState, in_flight: u64) -> bool {
        let (largest, mss) = (subflow.agreed().gso_max, path.mss);
        let one = if largest <= mss {
            mss
        } else {
            paced_row(path, largest.min(path.cwnd / 4).min(self.unsent)).max(mss)
        };
        in_flight + one <= path.cwnd || self.is_last(path, in_flight)
    }

    /// Whether all that is left is less than a segment, and TCP, whose segments carry more for want of a DSS option, would have
    /// sent it along with what this window holds.
    #[inline]
    fn is_last(&self, path: &PathState, in_flight: u64) -> bool {
        let (left, mss) = (self.unsent, path.mss);
        self.option > 0
            && (1..mss).contains(&left)
            && in_flight + left <= path.cwnd + path.cwnd / mss * self.option
    }

    /// Whether the window has room, or a probe goes beyond it.
    #[inline]
    pub(super) fn have_window(&self, subflow: &Subflow, path: &PathState, in_flight: u64) -> bool {
        self.has_window(subflow, path, in_flight) || subflow.sender().wants_probe()
    }

    /// Whether its interface's queue has room too.
    #[inline]
    pub(super) fn have_room(&self, subflow: &Subflow, path: &PathState, in_flight: u64) -> bool {
        self.have_window(subflow, path, in_flight) && !self.is_queue_full(path)
    }

    /// The time until which a path is held back, if it is.
    #[inline]
    pub(super) fn paced_until(&self, now: Instant, subflow: &Subflow, path: &PathState) -> Option<Instant> {
        // A controller that no longer asks for a pace holds nobody back.
        let paces = self.pacing || path.pacing.is_some();
        paces.then(|| subflow.turn().held_until).filter(|&until| until > now)
    }
}

/// As much of `large` as leaves in a row: what a controller paces goes in its rows.
#[inline]
pub(super) fn paced_row(path: &PathState, large: u64) -> u64 {
    if path.pacing.is_some() { large.min(path.quantum.max(path.mss)) } else { large }
}

impl Connection {
    /// Bytes by which the last segment of a closed stream may be beyond a window for each segment in it: 0 while anything else may go
    /// there, so that it is new data and no more than that.
    #[cold]
    fn last_allowance(&self) -> u64 {
        let buffer = &self.send.buffer;
        let queues = self.config.linux_stack.subflow_queues;
        let alone = buffer.first_again().is_none() && !self.choice.duplicates && !queues;
        let fits = buffer.unsent() <= buffer.window_room();
        if alone && fits && !self.negotiation.is_plain() { DSS_SPACE } else { 0 }
    }
}
