//! Events about scheduling: the reason for the choice of a subflow, and the limit of each subflow when none
//! can send.
//!
//! Owns these findings: each subflow has one limit at a time. Never runs without an observer, and never
//! influences the scheduler: the reasons are derived from its last candidates after the choice.

use mptcp_clock::Instant;
use mptcp_wire::Segment;

use crate::connection::Connection;
use crate::connection::observe::limits::Limit;
use crate::connection::observe::observer::SentCounters;
use crate::connection::stream::send_buffer::Chunk;
use crate::ids::SubflowId;
use crate::observe::{Event, PathLimit, Picked, Reinjected};

impl Connection {
    /// Reports the result of `poll_transmit`: a segment of a subflow, or the limits if there is none.
    #[cold]
    #[inline(never)]
    pub(crate) fn observe_poll(&mut self, now: Instant, sent_by: Option<SubflowId>, segment: &Segment) {
        self.observe(now);
        let slot = sent_by.and_then(|id| self.subflows.slot(id));
        let Some(slot) = slot else { return self.observe_blocked(now, self.limits.current()) };
        let sent = SentCounters {
            new: self.send.next(),
            opportunistic: self.reinjection.opportunistic(),
            speculative: self.reinjection.speculative(),
            reinjected: self.subflows[slot].record().stats.bytes_reinjected,
        };
        if let Some(observer) = &mut self.observer {
            let increase = observer.count_sent(slot, sent);
            if self.config.linux_stack.subflow_queues {
                self.observe_queued(now, slot, segment);
            } else if increase.new > 0 {
                self.observe_new(now, slot);
            } else if increase.reinjected > 0 {
                let why = match () {
                    () if self.scheduler.is_redundant() || self.scheduler.makes_copies() => {
                        Reinjected::Redundant
                    }
                    () if increase.opportunistic > 0 => Reinjected::Opportunistic,
                    () if increase.speculative > 0 => Reinjected::Copy,
                    () => Reinjected::Stalled,
                };
                self.observe_reinjection(now, slot, increase.reinjected, why);
            }
        }
        self.observe_options(now, slot, segment, true);
    }

    /// Reports a segment from a subflow's queue: as new data if no other subflow got the data before,
    /// otherwise as a reinjection.
    fn observe_queued(&self, now: Instant, slot: usize, segment: &Segment) {
        let subflow = &self.subflows[slot];
        let last = subflow.sender().board.queue.back().filter(|sent| !sent.ever_retransmitted);
        let Some(sent) = last.filter(|sent| {
            !segment.payload.is_empty() && segment.sequence == subflow.sequence_at(sent.start)
        }) else {
            return;
        };
        let (offset, seq, bytes) = (sent.data, sent.start, sent.payload.len() as u64);
        let first = self.send.in_flight_from(offset).next().map(Chunk::first_subflow);
        let event = if first.is_none_or(|first| first == self.subflow_id(slot)) {
            let alone = self.subflows.iter().filter(|subflow| subflow.can_send()).count() == 1;
            let why = if alone { Picked::Only } else { Picked::OutOfTurn };
            Event::Schedule { why, offset, bytes, seq }
        } else {
            Event::Reinjection { why: Reinjected::Stalled, offset, bytes, seq }
        };
        self.tell(now, slot, event, first.map(|first| first.slot()).filter(|&first| first != slot));
    }

    /// Reports new data: the last segment that the subflow in `slot` has sent.
    pub(crate) fn observe_new(&self, now: Instant, slot: usize) {
        let Some(sent) = self.subflows[slot].sender().board.queue.back() else { return };
        let (offset, seq, bytes) = (sent.data, sent.start, sent.payload.len() as u64);
        let candidates = self.scheduler.candidates();
        let picked = candidates.iter().find(|c| c.subflow == slot && self.scheduler.last_sent() == slot);
        let srtt = picked.map_or_else(Default::default, |picked| picked.srtt);
        let faster = || candidates.iter().filter(|c| c.subflow != slot && c.srtt < srtt);
        let passed_over = faster().filter(|c| c.is_available).min_by_key(|c| c.srtt).map(|c| c.subflow);
        let why = match passed_over {
            _ if picked.is_none() => Picked::OutOfTurn,
            _ if candidates.len() == 1 => Picked::Only,
            Some(_) => Picked::PassedOver,
            None if faster().next().is_some() => Picked::FasterFull,
            None => Picked::Fastest,
        };
        self.tell(now, slot, Event::Schedule { why, offset, bytes, seq }, passed_over);
    }

    /// Reports a reinjection: the last segment that the subflow in `slot` has sent.
    fn observe_reinjection(&self, now: Instant, slot: usize, bytes: u64, why: Reinjected) {
        let Some(sent) = self.subflows[slot].sender().board.queue.back() else { return };
        let (offset, seq) = (sent.data, sent.start);
        let first = self.send.in_flight_from(offset).next().map(Chunk::first_subflow).map(SubflowId::slot);
        let event = Event::Reinjection { why, offset, bytes, seq };
        self.tell(now, slot, event, first.filter(|&first| first != slot));
    }

    /// Reports that `limit` blocks the connection, and the limit of each subflow.
    fn observe_blocked(&mut self, now: Instant, limit: Limit) {
        let oldest = self.send.head().map(|chunk| chunk.first_subflow().slot());
        let full = matches!(limit, Limit::HeadOfLine | Limit::ReceiveWindow | Limit::SendBuffer);
        let blame = match limit {
            _ if full => oldest,
            Limit::Scheduler => (0..self.subflows.len()).find(|&id| self.is_available(id)),
            _ => None,
        };
        let mut waits = false;
        for id in 0..self.subflows.len() {
            let mut path_limit = self.path_limit(now, id, limit);
            if matches!(path_limit, PathLimit::ReceiveWindow | PathLimit::SendBuffer | PathLimit::HeadOfLine)
            {
                // The subflow would send if the oldest data were not on another path.
                let is_blocked_by_oldest = blame.is_some_and(|oldest| self.is_blocked_by(oldest, id));
                path_limit = if is_blocked_by_oldest { PathLimit::HeadOfLine } else { own_data_limit(limit) };
                waits |= is_blocked_by_oldest;
            }
            let path = &self.congestion.paths[id];
            let (cwnd, in_flight) = (path.cwnd, self.subflows[id].sender().in_flight());
            let Some(observer) = self.observer.as_deref_mut() else { return };
            if let Some(place) = observer.note_limit(now, id, path_limit) {
                let other = blame.filter(|_| path_limit == PathLimit::HeadOfLine);
                let other = other.and_then(|slot| observer.place(slot));
                observer.tell(now, place, Event::Limit { limit: path_limit, cwnd, in_flight }, other);
            }
        }
        let (in_flight, unsent) = (self.send.next() - self.send.una(), self.send.unsent());
        let Some(observer) = self.observer.as_deref_mut() else { return };
        if observer.note_block(now, limit, blame, waits) {
            let other = blame.and_then(|slot| observer.place(slot));
            observer.tell_of_all(now, Event::Block { limit, in_flight, unsent }, other);
        }
    }

    /// Whether the data on subflow `oldest` blocks the subflow `id`: the SRTT of `id` is not longer, or
    /// `oldest` is in loss recovery.
    fn is_blocked_by(&self, oldest: usize, id: usize) -> bool {
        let srtt = |id: usize| self.congestion.paths[id].srtt.unwrap_or_default();
        let sender = self.subflows[oldest].sender();
        oldest != id && (srtt(id) <= srtt(oldest) || sender.in_loss() || sender.in_recovery())
    }

    fn is_available(&self, id: usize) -> bool {
        let (subflow, path) = (&self.subflows[id], &self.congestion.paths[id]);
        subflow.can_send() && subflow.sender().in_flight() + path.mss <= path.cwnd
    }

    fn path_limit(&self, now: Instant, id: usize, limit: Limit) -> PathLimit {
        let subflow = &self.subflows[id];
        if subflow.is_closed() {
            return PathLimit::Closed;
        }
        if limit == Limit::Idle {
            return PathLimit::Idle;
        }
        if !subflow.can_send() {
            return if subflow.is_synchronised() && !subflow.handshake().awaits_join_confirmation {
                PathLimit::Idle
            } else {
                PathLimit::Joining
            };
        }
        let Some(is_penalised) = self.observer.as_deref().and_then(|observer| observer.is_penalised(id))
        else {
            return PathLimit::Idle;
        };
        let (sender, path) = (subflow.sender(), &self.congestion.paths[id]);
        let random_loss = path.model.losses.last_is_random();
        if sender.in_loss() || sender.in_recovery() && random_loss {
            return PathLimit::Loss;
        }
        if !self.is_available(id) {
            return match () {
                () if path.is_queue_standing() => PathLimit::Capacity,
                () if is_penalised => PathLimit::Penalty,
                () if random_loss => PathLimit::Loss,
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
            // The scheduler has assigned the data to another subflow, where it waits.
            _ if self.waits_elsewhere(id) => PathLimit::Scheduler,
            // Other subflows carry the rest of the written data.
            _ if !self.writer.is_blocked() => PathLimit::Application,
            Limit::CongestionWindow | Limit::LocalQueue | Limit::Scheduler => PathLimit::Scheduler,
        }
    }
}

/// The limit of the path that has the oldest data in a full window or buffer.
fn own_data_limit(limit: Limit) -> PathLimit {
    if limit == Limit::SendBuffer { PathLimit::SendBuffer } else { PathLimit::ReceiveWindow }
}
