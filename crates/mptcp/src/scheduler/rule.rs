//! What a scheduler is.

use super::view::SendView;

/// A rule for choosing.
pub trait Scheduler: std::fmt::Debug + Send {
    /// The name that the field uses.
    fn name(&self) -> &'static str;

    /// The position in `view.candidates` of the subflow to send on, or None to wait for one that has no room now. The
    /// candidates are all of one kind: regular subflows if any works, else backups, else those in timeout.
    ///
    /// Asked again after everything that happens to the connection. Who waits while nothing at all is under way is not
    /// asked further: then the data goes on the candidate with room that has the smallest round-trip time.
    fn choose(&mut self, view: &SendView<'_>) -> Option<usize>;

    /// Whether one that is the only candidate gets the data whenever it has room: then [`Scheduler::choose`] is not asked, and no view
    /// is made for it. Asked each time, instead of it; who says yes notes here what `choose` would have noted.
    fn takes_the_only_one(&mut self) -> bool {
        false
    }

    /// The candidate at `position` has room, and the peer's receive window has not: what it holds waits for data on other
    /// subflows. Told each time it is found, several times in a round trip.
    fn on_window_full(&mut self, view: &SendView<'_>, position: usize) {
        let _ = (view, position);
    }

    /// Where subflows have queues of their own ([`crate::LinuxStack::subflow_queues`]): bytes that the one chosen last gets in a row.
    fn burst(&self) -> u64 {
        0
    }

    /// Whether each subflow gets all data. Asked once, when a connection gets the scheduler.
    fn duplicates(&self) -> bool {
        false
    }
}
