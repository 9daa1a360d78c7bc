//! Why a segment left on the subflow that it left on, and what holds each subflow back once none leaves.
//!
//! Owns these findings, for whoever observes: one reason for each subflow at each moment. What holds the connection as a whole
//! back was found before. Looks afterwards at what a choice was made of, so that choosing costs nothing more.

use mptcp_clock::Instant;
use mptcp_wire::Segment;

use crate::connection::Connection;
use crate::connection::observe::limits::Limit;
use crate::connection::observe::observer::SentCounters;
use crate::connection::stream::send_buffer::Chunk;
use crate::ids::SubflowId;
use crate::observe::{Event, PathLimit, Picked, Reinjected};

impl Connection {
    /// The connection was asked for a segment; a subflow gave one, or none did.
    #[cold]
    #[inline(never)]
    pub(crate) fn observe_asked(&mut self, now: Instant, gave: Option<SubflowId>, segment: &Segment) {
        self.observe(now);
        let slot = gave.and_then(|id| self.subflows.slot(id));
        let Some(slot) = slot else { return self.observe_rest(now, self.limits.current()) };
        let sent = SentCounters {
            new: self.send.next(),
            opportunistic: self.reinjection.opportunistic(),
            speculative: self.reinjection.speculative(),
            reinjected: self.subflows[slot].record().stats.bytes_reinjected,
        };
        if let Some(observer) = &mut self.observer {
            let more = observer.count_sent(slot, sent);
            if self.config.linux_stack.subflow_queues {
                self.observe_queued(now, slot, segment);
            } else if more.new > 0 {
                self.observe_new(now, slot);
            } else if more.reinjected > 0 {
                let why = match () {
                    () if self.scheduler.is_redundant() => Reinjected::Redundant,
                    () if more.opportunistic > 0 => Reinjected::Opportunistic,
                    () if more.speculative > 0 => Reinjected::Copy,
                    () => Reinjected::Stalled,
                };
                self.observe_reinjection(now, slot, more.reinjected, why);
            }
        }
        self.observe_options(now, slot, segment, true);
    }

    /// Data left that its subflow was given ahead of the window: new where it was given to that one first.
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

    /// New data went on a subflow, as the last of its stream so far.
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

    /// Data that others carry too went on a subflow as the last of its stream so far.
    fn observe_reinjection(&self, now: Instant, slot: usize, bytes: u64, why: Reinjected) {
        let Some(sent) = self.subflows[slot].sender().board.queue.back() else { return };
        let (offset, seq) = (sent.data, sent.start);
        let first = self.send.in_flight_from(offset).next().map(Chunk::first_subflow).map(SubflowId::slot);
        let event = Event::Reinjection { why, offset, bytes, seq };
        self.tell(now, slot, event, first.filter(|&first| first != slot));
    }

    /// Nothing more is sent now, because of `limit`.
    fn observe_rest(&mut self, now: Instant, limit: Limit) {
        let oldest = self.send.head().map(|chunk| chunk.first_subflow().slot());
        let full = matches!(limit, Limit::HeadOfLine | Limit::ReceiveWindow | Limit::SendBuffer);
        let blame = match limit {
            _ if full => oldest,
            Limit::Scheduler => (0..self.subflows.len()).find(|&id| self.is_available(id)),
            _ => None,
        };
        let mut waits = false;
        for id in 0..self.subflows.len() {
            let mut found = self.path_limit(now, id, limit);
            if matches!(found, PathLimit::ReceiveWindow | PathLimit::SendBuffer | PathLimit::HeadOfLine) {
                // It would send, if the oldest data were not on another path.
                let behind = blame.is_some_and(|oldest| self.is_blocked_by(oldest, id));
                found = if behind { PathLimit::HeadOfLine } else { own_data_limit(limit) };
                waits |= behind;
            }
            let path = &self.congestion.paths[id];
            let (cwnd, in_flight) = (path.cwnd, self.subflows[id].sender().in_flight());
            let Some(observer) = self.observer.as_deref_mut() else { return };
            if let Some(place) = observer.note_limit(now, id, found) {
                let other = blame.filter(|_| found == PathLimit::HeadOfLine);
                let other = other.and_then(|slot| observer.place(slot));
                observer.tell(now, place, Event::Limit { limit: found, cwnd, in_flight }, other);
            }
        }
        let (in_flight, unsent) = (self.send.next() - self.send.una(), self.send.unsent());
        let Some(observer) = self.observer.as_deref_mut() else { return };
        if observer.note_block(now, limit, blame, waits) {
            let other = blame.and_then(|slot| observer.place(slot));
            observer.tell_of_all(now, Event::Block { limit, in_flight, unsent }, other);
        }
    }

    /// Whether the oldest data is late on `oldest` by what the path of `id` does: that is faster, or the other one repairs losses.
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
            return if subflow.is_synchronised() && !subflow.handshake().unconfirmed {
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
        let by_chance = path.model.losses.last_is_random();
        if sender.in_loss() || sender.in_recovery() && by_chance {
            return PathLimit::Loss;
        }
        if !self.is_available(id) {
            return match () {
                () if path.is_queue_standing() => PathLimit::Capacity,
                () if is_penalised => PathLimit::Penalty,
                () if by_chance => PathLimit::Loss,
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
            // The scheduler has given it to another one, where it waits.
            _ if self.waits_elsewhere(id) => PathLimit::Scheduler,
            // What is left goes on the others, and there is no more.
            _ if !self.writer.is_blocked() => PathLimit::Application,
            Limit::CongestionWindow | Limit::LocalQueue | Limit::Scheduler => PathLimit::Scheduler,
        }
    }
}

/// What a path waits for whose own data is the oldest in a full window or buffer.
fn own_data_limit(limit: Limit) -> PathLimit {
    if limit == Limit::SendBuffer { PathLimit::SendBuffer } else { PathLimit::ReceiveWindow }
}
