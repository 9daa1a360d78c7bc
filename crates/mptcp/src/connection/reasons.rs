//! What holds each subflow back, once nothing more is sent.
//!
//! Owns the finding, for whoever observes: one reason for each subflow at each moment. What holds the connection as a whole back
//! was found before.

use mptcp_clock::Instant;

use super::Connection;
use super::limits::Limit;
use super::observing::stands;
use crate::observe::{Event, PathLimit};

impl Connection {
    /// Nothing more is sent now, because of `limit`.
    #[cold]
    #[inline(never)]
    pub(super) fn observe_rest(&mut self, now: Instant, limit: Limit) {
        self.observe(now);
        let oldest = self.send.buffer.head().map(|chunk| chunk.first_subflow().slot());
        let waits = matches!(limit, Limit::HeadOfLine | Limit::ReceiveWindow | Limit::SendBuffer);
        let blame = match limit {
            _ if waits => oldest,
            Limit::Scheduler => (0..self.subflows.len()).find(|&id| self.has_room(id)),
            _ => None,
        };
        for id in 0..self.subflows.len() {
            let found = self.what_holds(now, id, limit);
            let path = &self.congestion.paths[id];
            let (cwnd, in_flight) = (path.cwnd, self.subflows[id].sender().in_flight());
            let Some(watch) = self.watch.as_deref_mut() else { return };
            if watch.seen[id].clock.note(now, found)
                && let Some(place) = watch.place(id)
            {
                let other = blame.filter(|_| found == PathLimit::HeadOfLine);
                let other = other.and_then(|slot| watch.place(slot));
                watch.tell(now, place, Event::Limit { limit: found, cwnd, in_flight }, other);
            }
        }
        let (in_flight, unsent) =
            (self.send.buffer.next() - self.send.buffer.una(), self.send.buffer.unsent());
        let Some(watch) = self.watch.as_deref_mut() else { return };
        if watch.note_block(now, limit, blame) {
            let other = blame.and_then(|slot| watch.place(slot));
            watch.tell_of_all(now, Event::Block { limit, in_flight, unsent }, other);
        }
    }

    fn has_room(&self, id: usize) -> bool {
        let (subflow, path) = (&self.subflows[id], &self.congestion.paths[id]);
        subflow.can_send() && subflow.sender().in_flight() + path.mss <= path.cwnd
    }

    fn what_holds(&self, now: Instant, id: usize, limit: Limit) -> PathLimit {
        let (subflow, path) = (&self.subflows[id], &self.congestion.paths[id]);
        if subflow.is_closed() {
            return PathLimit::Closed;
        }
        if limit == Limit::Idle {
            return PathLimit::Idle;
        }
        if !subflow.can_send() {
            return if subflow.is_synchronised() && !subflow.opening().unconfirmed {
                PathLimit::Idle
            } else {
                PathLimit::Joining
            };
        }
        let Some(seen) = self.watch.as_deref().and_then(|watch| watch.seen.get(id)) else {
            return PathLimit::Idle;
        };
        let sender = subflow.sender();
        if sender.in_loss() || sender.in_recovery() && seen.by_chance {
            return PathLimit::Loss;
        }
        if !self.has_room(id) {
            return match () {
                () if stands(path.latest_rtt.unwrap_or_default(), path) => PathLimit::Capacity,
                () if seen.penalised.is_some() => PathLimit::Penalty,
                () if seen.by_chance => PathLimit::Loss,
                () => PathLimit::Window,
            };
        }
        if self.is_queue_full(id) {
            return PathLimit::LocalQueue;
        }
        if self.is_held(now, id) {
            return PathLimit::Pacing;
        }
        match limit {
            Limit::Idle => PathLimit::Idle,
            Limit::Application => PathLimit::Application,
            Limit::SendBuffer => PathLimit::SendBuffer,
            Limit::ReceiveWindow => PathLimit::ReceiveWindow,
            Limit::HeadOfLine => PathLimit::HeadOfLine,
            Limit::CongestionWindow | Limit::LocalQueue | Limit::Scheduler => PathLimit::Scheduler,
        }
    }
}
