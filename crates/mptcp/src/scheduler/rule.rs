//! The [`Scheduler`] trait, which built-in schedulers and those of extensions implement.

use crate::scheduler::view::SendView;

/// Chooses the subflow for the next data.
pub trait Scheduler: std::fmt::Debug + Send {
    /// Name in scenario files and results.
    fn name(&self) -> &'static str;

    /// Returns the index in `view.candidates` of the subflow to send on, or `None` to wait for a subflow that
    /// is full now. The index of a full subflow counts as `None`. All candidates are equally usable: regular subflows if any works, otherwise backups,
    /// otherwise new subflows on probation ([`crate::JOIN_PROBATION`]), otherwise subflows in a timeout.
    ///
    /// Called only with two or more candidates, of which at least one has space. It is called after every
    /// event of the connection, and when the acknowledgement of a full subflow is due. With nothing in
    /// flight, `None` has no effect: the available candidate with the smallest RTT sends.
    fn choose(&mut self, view: &SendView<'_>) -> Option<usize>;

    /// Whether the scheduler considers the size of a partial segment. Such a segment then waits only for data
    /// in flight on its own subflow: Nagle's algorithm per TCP connection (RFC 9293 section 3.7.4), not for
    /// all subflows together.
    fn places_small_segments(&self) -> bool {
        false
    }

    /// With subflow queues ([`crate::LinuxStack::subflow_queues`]), the burst for the chosen subflow, bytes.
    fn burst(&self) -> u64 {
        0
    }

    /// Whether every subflow carries all data. Called once, when the scheduler is set.
    fn duplicates(&self) -> bool {
        false
    }

    /// Whether [`Self::copies`] adds copies. Read once, when the scheduler is set.
    fn makes_copies(&self) -> bool {
        false
    }

    /// Adds to `copies` the positions in `view.candidates` of further subflows that carry the segment which was just
    /// sent on `chosen`. A copy is sent before other new data, and dropped if its subflow has no space by then. `view`
    /// shows the state before the segment. Only with [`Self::makes_copies`]; not with subflow queues.
    fn copies(&mut self, view: &SendView<'_>, chosen: usize, copies: &mut Vec<usize>) {
        let _ = (view, chosen, copies);
    }
}
