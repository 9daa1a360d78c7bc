//! Why a sender reduced its window.
//!
//! Owns the order of the causes. The simulator knows each drop with its reason; a reduction without a drop has its cause in acknowledgements,
//! in segments that overtook others, or in a delay that changed.

use mptcp_clock::{Duration, Instant};

use super::cause::Cause;
use super::notes::Drops;
use super::route::State;

/// A retransmission that is lost, or too late, leads to a timeout within this time. Doubled timeouts after it are reductions of their own.
const FOLLOWS: Duration = Duration::from_secs(2);
/// A change of the delay makes a timeout or a loss spurious within this time, and a few RTTs.
const CHANGED: Duration = Duration::from_secs(1);

/// A reduction of a window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reduced {
    pub(super) at: Instant,
    pub(super) cause: Cause,
}

impl Reduced {
    /// A reduction that was undone, where segments overtake others.
    pub(super) fn by_reordering(self) -> Self {
        Self { cause: Cause::Reordering, ..self }
    }

    /// Whether drops explain it.
    pub(super) fn has_drops(&self) -> bool {
        !matches!(self.cause, Cause::Reordering | Cause::DelayChange | Cause::Spurious)
    }
}

/// What was known when a sender reduced its window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Circumstances {
    pub(super) now: Instant,
    /// A retransmission timeout reduced it.
    pub(super) by_timeout: bool,
    /// Drops since the reduction before.
    pub(super) since: Drops,
    /// The latest reduction that drops explain.
    pub(super) before: Option<Reduced>,
    /// The latest change of the path's delay.
    pub(super) changed: Option<Instant>,
    /// Acknowledgements wait longer in queues than the path's own delay.
    pub(super) has_late_acknowledgements: bool,
    pub(super) state: State,
}

impl Circumstances {
    /// The cause of the reduction.
    pub(super) fn cause(&self) -> Cause {
        let order: [Option<Cause>; 7] = if self.by_timeout {
            // Acknowledgements that are lost lead to timeouts. Segments that overtake others lead to losses.
            [
                self.of_data(),
                self.of_acknowledgements(),
                self.of_middleboxes(),
                self.of_before(),
                self.of_order(),
                self.of_delay(),
                None,
            ]
        } else {
            [
                self.of_data(),
                self.of_middleboxes(),
                self.of_queued_acknowledgements(),
                self.of_order(),
                self.of_delay(),
                self.of_acknowledgements(),
                self.of_before(),
            ]
        };
        order.into_iter().flatten().next().unwrap_or(Cause::Spurious)
    }

    /// The reason for which most of the data was dropped.
    fn of_data(&self) -> Option<Cause> {
        let since = &self.since;
        if since.down > 0 {
            return Some(Cause::Down);
        }
        let counts = [
            (since.too_long, Cause::PathMtu),
            (since.random + since.filter, Cause::Loss),
            (since.policed, Cause::Policer),
            (since.queue, Cause::QueueOverflow),
        ];
        // Of equal numbers the last one counts: a queue that drops does so more than once.
        counts
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .max_by_key(|(count, _)| *count)
            .map(|(_, cause)| cause)
    }

    fn of_middleboxes(&self) -> Option<Cause> {
        (self.since.taken > 0).then_some(Cause::Middlebox)
    }

    fn of_queued_acknowledgements(&self) -> Option<Cause> {
        (self.since.acks_queue > 0 || self.has_late_acknowledgements).then_some(Cause::AckQueue)
    }

    fn of_acknowledgements(&self) -> Option<Cause> {
        let since = &self.since;
        match () {
            () if since.acks_down > 0 => Some(Cause::Down),
            () if since.acks_random > since.acks_queue => Some(Cause::AckLoss),
            () => self.of_queued_acknowledgements(),
        }
    }

    fn of_order(&self) -> Option<Cause> {
        self.state.reorders.then_some(Cause::Reordering)
    }

    fn of_delay(&self) -> Option<Cause> {
        let lately = CHANGED + self.state.delay.mul_f64(4.0);
        let has_changed = self.changed.is_some_and(|at| self.now.since(at) <= lately);
        (self.state.jitters || has_changed).then_some(Cause::DelayChange)
    }

    /// A drop of before the latest reduction, which the sender noticed only now.
    fn of_before(&self) -> Option<Cause> {
        let lately = FOLLOWS + self.state.delay.mul_f64(4.0);
        self.before.filter(|before| self.now.since(before.at) <= lately).map(|before| before.cause)
    }
}
