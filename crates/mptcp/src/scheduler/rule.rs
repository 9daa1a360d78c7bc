//! What a scheduler is.

use mptcp_clock::Instant;

use super::view::{Candidate, SendView};

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

    /// Bytes at the beginning of what is unsent that the one just chosen leaves to others, which come to these sooner; what follows goes on it.
    /// Asked after [`Scheduler::choose`] while an application writes as it goes, and not where subflows have queues of their own.
    fn leaves(&self) -> u64 {
        0
    }

    /// The position of a candidate that should carry a copy of what the one at `on` carries alone, on which it left at `sent`; None where one is
    /// enough. Asked once for each segment, or until it has room, while an application writes as it goes and all that it wrote is
    /// under way.
    fn second(&mut self, view: &SendView<'_>, on: usize, sent: Instant) -> Option<usize> {
        let _ = (view, on, sent);
        None
    }

    /// Until when one that has just answered None would wait, though a candidate has room: it is asked again then, whatever happens.
    fn waits_until(&self) -> Option<Instant> {
        None
    }

    /// Whether one that is the only candidate gets the data whenever it has room: then [`Scheduler::choose`] is not asked, and no view
    /// is made for it. Asked each time, instead of it; who says yes notes here what `choose` would have noted.
    fn takes_the_only_one(&mut self) -> bool {
        false
    }

    /// The position that [`Scheduler::choose`] would give, where the candidates alone say so and nothing is to be noted; None where it
    /// has to be asked. Asked before it, and no view is made for it, where these are what a choice is mostly made of: data is unsent,
    /// the application waits to write more, and the peer's receive window has room for a segment of the first candidate.
    fn choose_at_sight(&self, now: Instant, candidates: &[Candidate]) -> Option<usize> {
        let _ = (now, candidates);
        None
    }

    /// Whether [`Scheduler::choose`] would say no more than that it waits, now that data is unsent and no candidate has room. Asked
    /// instead of it then, and it is asked where this says no.
    fn waits_for_room(&self, now: Instant) -> bool {
        let _ = now;
        false
    }

    /// Whether it places what is smaller than a segment with care: of a stream that then waits only while its own subflow has data in
    /// flight, which is Nagle's algorithm for each of the TCP connections (RFC 9293 section 3.7.4), and not for all of them.
    fn places_small(&self) -> bool {
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
