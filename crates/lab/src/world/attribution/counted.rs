//! Limits of senders during the measured time of their flows: after the warm-up, and until all data had
//! arrived.
//!
//! A sender reports for each subflow how long each limit, such as the congestion window, kept it from sending
//! ([`PathReasons`]). Results list these reports next to the attribution, which divides the capacity of a
//! path among causes from the state of the simulated links. Senders count over their whole lifetime, so this
//! module subtracts the times before the measured time. It also passes on which buffers are full, because a
//! full buffer is such a limit.

use std::ops::Range;
use std::sync::PoisonError;

use mptcp::observe::PathReasons;
use mptcp_clock::Instant;

use super::Attribution;
use super::notes::Full;

impl Attribution {
    /// Stores the reports of a flow's sender at the end of the warm-up.
    pub(in crate::world) fn count_reasons_anew(&mut self, flow: u16, reasons: Vec<PathReasons>) {
        self.reasons_before.insert(flow, reasons);
    }

    /// Whether full buffers block a flow.
    pub(in crate::world) fn is_waiting(&self, flow: u16) -> bool {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).is_waiting(flow)
    }

    /// Notes which buffers of a flow are full now.
    pub(in crate::world) fn note_full(&mut self, now: Instant, flow: u16, full: Full) {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).note_full(now, flow, full);
    }

    /// Whether the measured time of a flow continues.
    pub(in crate::world) fn counts(&self, flow: u16) -> bool {
        !self.ended.contains_key(&flow)
    }

    /// Reduces the `reasons` that a sender has counted over its lifetime, as of `until`, to the measured time
    /// of its flow. Returns the reduced reasons and the measured time, or `None` without measured time.
    pub(in crate::world) fn counted_reasons(
        &self,
        flow: u16,
        (reasons, until): (Vec<PathReasons>, Instant),
    ) -> Option<(Vec<PathReasons>, Range<Instant>)> {
        let from = *self.counts_from.get(&flow)?;
        let ended = self.ended.get(&flow).map(|(at, _)| until.min(*at));
        let reasons = self.reasons_after.get(&flow).cloned().unwrap_or(reasons);
        let until = ended.unwrap_or(until);
        let before = self.reasons_before.get(&flow).map_or(&[][..], Vec::as_slice);
        let since = |mut one: PathReasons| {
            // Slots are reused: a subflow is identified by its slot and its start.
            let is_same = |then: &&PathReasons| (then.place, then.began) == (one.place, one.began);
            if let Some(then) = before.iter().find(is_same) {
                for (total, then) in one.total.iter_mut().zip(then.total) {
                    *total -= then.min(*total);
                }
                one.blamed -= then.blamed.min(one.blamed);
            }
            one
        };
        (until > from).then(|| (reasons.into_iter().map(since).collect(), from..until))
    }
}
