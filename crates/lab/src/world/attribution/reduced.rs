//! Causes of reductions of the congestion window.
//!
//! Attribution divides the capacity of a path among the causes that used it or left it unused. If the window
//! limits a path, the unused capacity is assigned to the cause of the last reduction. Owns the priority of
//! causes. The simulator knows the cause of each drop. Without a drop, the cause is one of these:
//! acknowledgements were lost or late, segments were reordered, or the delay changed.

use mptcp_clock::{Duration, Instant};

use super::cause::Cause;
use super::notes::Drops;
use super::route::State;

/// Time, in addition to four RTTs, for which the cause of a reduction also explains the next one.
/// Retransmissions after the first reduction can be lost or late.
const FOLLOWS: Duration = Duration::from_secs(2);
/// Time, in addition to four RTTs, for which a change of the delay explains spurious losses.
const CHANGED: Duration = Duration::from_secs(1);

/// A window reduction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reduced {
    pub(super) at: Instant,
    pub(super) cause: Cause,
}

impl Reduced {
    /// Returns this reduction with reordering as its cause, after the sender has undone it.
    pub(super) fn by_reordering(self) -> Self {
        Self { cause: Cause::Reordering, ..self }
    }

    /// Whether the cause is one with drops.
    pub(super) fn has_drops(&self) -> bool {
        !matches!(self.cause, Cause::Reordering | Cause::DelayChange | Cause::Spurious)
    }
}

/// The state of a path at a window reduction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Circumstances {
    pub(super) now: Instant,
    /// Whether a retransmission timeout caused the reduction.
    pub(super) by_timeout: bool,
    /// Drops since the previous reduction.
    pub(super) since: Drops,
    /// The latest reduction that was caused by drops ([`Reduced::has_drops`]).
    pub(super) before: Option<Reduced>,
    /// The latest change of the path delay.
    pub(super) changed: Option<Instant>,
    /// Whether the queueing delay of acknowledgements exceeds the path delay.
    pub(super) has_late_acknowledgements: bool,
    pub(super) state: State,
}

impl Circumstances {
    /// The cause of the reduction.
    pub(super) fn cause(&self) -> Cause {
        let order: [Option<Cause>; 7] = if self.by_timeout {
            // Lost acknowledgements cause timeouts, so they come before reordering here.
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
            // Reordering causes spurious fast retransmissions, so it comes before lost acknowledgements here.
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

    /// The most frequent cause of data drops; an outage has priority.
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
        // For equal counts, `max_by_key` returns the last cause: a full queue usually drops several frames.
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

    /// The cause of the latest earlier reduction that was caused by drops, if that reduction is recent. A
    /// sender may notice some of these drops only after it has reduced the window once.
    fn of_before(&self) -> Option<Cause> {
        let lately = FOLLOWS + self.state.delay.mul_f64(4.0);
        self.before.filter(|before| self.now.since(before.at) <= lately).map(|before| before.cause)
    }
}
