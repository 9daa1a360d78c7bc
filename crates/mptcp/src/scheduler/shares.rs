//! Assignment of the unsent data to subflows in the order of arrival times, for OTIAS and STTF.
//!
//! Both papers put each segment into the queue of the subflow on which it arrives first, even if that subflow's window
//! is full. With subflow queues ([`crate::LinuxStack::subflow_queues`]) the queue is real. Without them, data waits in
//! the connection, and this module computes which subflows would get a part of the unsent data. A subflow sends if the
//! data exceeds the amount that arrives earlier on the others.
//!
//! A difference remains without subflow queues: a subflow sends the oldest unsent data, where the papers send later
//! data on a slow subflow ahead of its turn.
//!
//! Owns this rule. Never estimates a time: schedulers do ([`ArrivalModel`]).

use crate::scheduler::{Candidate, SendView};

/// Arrival times by the model of a scheduler, in seconds.
pub(crate) trait ArrivalModel {
    /// Arrival time of a segment that follows `queued` bytes which wait for the subflow's window.
    fn arrival(&self, candidate: &Candidate, queued: u64) -> f64;

    /// Bytes that can wait for the subflow's window, or be sent at once, and arrive before `time`.
    fn bytes_before(&self, candidate: &Candidate, time: f64) -> f64;
}

/// Returns the position of the subflow that gets data now, or `None` if all unsent data arrives earlier on subflows that
/// are full.
pub(crate) fn choose(view: &SendView<'_>, model: &impl ArrivalModel) -> Option<usize> {
    let arrivals = |at: usize| model.arrival(&view.candidates[at], view.candidates[at].queued);
    let by_arrival = |a: &usize, b: &usize| arrivals(*a).total_cmp(&arrivals(*b));
    if view.has_subflow_queues {
        let best = (0..view.candidates.len()).min_by(by_arrival)?;
        return view.candidates[best].is_available.then_some(best);
    }
    let receives_data = |&at: &usize| {
        let time = arrivals(at);
        let others = view.candidates.iter().enumerate().filter(|&(other, _)| other != at);
        let earlier: f64 = others.map(|(_, candidate)| model.bytes_before(candidate, time)).sum();
        view.unsent as f64 > earlier
    };
    let available = (0..view.candidates.len()).filter(|&at| view.candidates[at].is_available);
    // If any available subflow gets data, the one with the earliest arrival does: the later the arrival, the
    // more data the other subflows can deliver before it.
    available.min_by(by_arrival).filter(receives_data)
}
