//! Small segments wait for more: Nagle's algorithm, and the application's switches for it.
//!
//! Owns the rule; how long corked data waits is the timers' affair.

use mptcp_clock::Instant;

use super::Connection;

impl Connection {
    /// Nagle (RFC 9293 section 3.7.4): a small segment waits while data is in flight; corked, also when none is.
    /// What subflows have had acknowledged is not: Linux's DATA_ACK for it may come only with the answer to more. `id` is where it
    /// would go.
    #[inline(always)]
    pub(super) fn must_wait_for_more(&self, now: Instant, id: usize, size: u64, mss: u64) -> bool {
        // A segment that a record ends, and others follow, waits for nothing.
        if size >= mss || size < self.send.buffer.unsent() {
            return false;
        }
        let is_acknowledged = || self.send.buffer.next() == self.send.buffer.una();
        let nagle = self.config.nagle && !is_acknowledged() && self.holds_small_up(now, id);
        let waits = self.send.writer.holds_back() || nagle;
        waits && !self.send.writer.is_closed() && !self.send.writer.is_pushing()
    }

    /// Whether there is data in flight that a small segment waits for: on any subflow, or on its own, where it is a stream's and was placed
    /// for that. In Minshall's variant only what is small itself holds small ones up; of a stream's two may be under way on one
    /// subflow while another has none: a delayed acknowledgement of the last block's then holds up no other block.
    fn holds_small_up(&self, now: Instant, id: usize) -> bool {
        let minshall = self.config.linux_compat.minshall;
        if self.choice.scheduler.places_small() && self.send.writer.streams(now) {
            let own = &self.subflows[id];
            return if minshall {
                own.small_in_flight() > self.spare_small()
            } else {
                !own.sender().is_idle()
            };
        }
        let busy = || self.subflows.iter().any(|subflow| !subflow.sender().is_idle());
        (!minshall || self.send.buffer.small_in_flight()) && busy()
    }

    /// How many small segments beyond one a subflow may have under way in place of another one.
    pub(super) fn spare_small(&self) -> usize {
        usize::from(self.subflows.iter().any(|subflow| subflow.can_send() && subflow.small_in_flight() == 0))
    }

    /// Whether the application holds a small piece back, which Nagle's algorithm does not: a subflow of Linux's is given it, and may hold it
    /// back itself (net/mptcp/protocol.c, `mptcp_sendmsg_frag`).
    pub(super) fn is_corked(&self, size: u64, mss: u64) -> bool {
        let writer = &self.send.writer;
        size < mss
            && size >= self.send.buffer.unsent()
            && writer.holds_back()
            && !writer.is_closed()
            && !writer.is_pushing()
    }

    /// Nagle's algorithm off or on; what waits goes when it is switched off, corked or not, as in Linux.
    pub(crate) fn set_nodelay(&mut self, nodelay: bool) {
        self.config.nagle = !nodelay;
        let pushing = self.send.writer.is_pushing() || (nodelay && self.send.buffer.unsent() > 0);
        self.send.writer.set_pushing(pushing);
    }

    /// Corked, small segments wait for more, for a limited time.
    pub(crate) fn set_cork(&mut self, corked: bool) {
        self.send.writer.set_cork(corked);
        if !corked {
            self.timers.cork = Instant::FAR_FUTURE;
        }
    }

    /// Nagle, by subflow: what is small and last waits while something small is under way (`tcp_nagle_check`, `tcp_minshall_check`).
    pub(super) fn small_waits(&self, id: usize) -> bool {
        let subflow = &self.subflows[id];
        let mss = self.congestion.paths[id].mss;
        self.config.nagle
            && subflow.backlog().is_small(mss)
            && subflow.small_in_flight() > 0
            && !self.send.writer.is_closed()
    }

    /// Whether all that waits in queues is less than a segment, and waits for more of it.
    pub(super) fn only_small_ones_wait(&self) -> bool {
        (0..self.subflows.len()).all(|id| self.subflows[id].backlog().is_empty() || self.small_waits(id))
    }

    /// Whether data waits in the queue of a subflow other than `id`, for its window.
    pub(super) fn waits_elsewhere(&self, id: usize) -> bool {
        self.config.linux_stack.subflow_queues
            && (0..self.subflows.len()).any(|other| {
                other != id && !self.subflows[other].backlog().is_empty() && !self.small_waits(other)
            })
    }
}
