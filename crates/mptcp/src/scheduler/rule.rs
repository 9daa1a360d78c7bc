//! What a scheduler is.

use crate::scheduler::view::SendView;

/// A rule for choosing.
pub trait Scheduler: std::fmt::Debug + Send {
    /// The name that the field uses.
    fn name(&self) -> &'static str;

    /// The position in `view.candidates` of the subflow to send on, or None to wait for one that has no room now. The
    /// candidates are all of one kind: regular subflows if any works, else backups, else those in timeout.
    ///
    /// Called where two or more could send and at least one has room, after everything that happens to the connection and when a subflow without
    /// room should have been heard of. With nothing in flight None has no effect: the data goes on the candidate with room that has the
    /// smallest RTT.
    fn choose(&mut self, view: &SendView<'_>) -> Option<usize>;

    /// Whether it weighs where a segment goes that is not full: such a segment of a stream then waits only while its own subflow has data in
    /// flight, which is Nagle's algorithm for each of the TCP connections (RFC 9293 section 3.7.4), and not for all of them.
    fn places_small_segments(&self) -> bool {
        false
    }

    /// Where subflows have queues of their own ([`crate::LinuxStack::subflow_queues`]): bytes that the one chosen last gets as a burst.
    fn burst(&self) -> u64 {
        0
    }

    /// Whether each subflow gets all data. Asked once, when a connection gets the scheduler.
    fn duplicates(&self) -> bool {
        false
    }
}
