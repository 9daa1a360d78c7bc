//! Subflow queues as in Linux: data is assigned to subflows ahead of their congestion windows
//! (net/mptcp/protocol.c, `__mptcp_push_pending`).
//!
//! Only used with [`crate::LinuxStack::subflow_queues`], to simulate Linux: assigned data stays on its
//! subflow even if the path slows down. Otherwise, the scheduler chooses a subflow for each segment when it
//! is sent. Owns the path of data from the send buffer into a queue, and from there into a segment. Never
//! chooses a subflow, and never decides what to reinject (`reinject`).

use mptcp_clock::Instant;
use mptcp_wire::Segment;

use crate::connection::Connection;
use crate::connection::observe::limits::Limit;
use crate::connection::stream::send_buffer::Chunk;
use crate::linux_stack::{FRAGMENT, memory_of, send_memory, tuned_send_memory};
use crate::scheduler::{Candidate, linux};
use crate::subflow::backlog::QueuedData;

impl Connection {
    /// Assigns new data to the subflows, then sends the first segment of a subflow's queue. Returns the slot
    /// of that subflow, if any.
    #[inline(never)]
    pub(crate) fn transmit_queued(&mut self, now: Instant, out: &mut Segment) -> Option<usize> {
        if self.config.mechanisms.autotuning {
            self.tune_send_memory();
        }
        let closed = self.negotiation.is_multipath() && self.fill_queues(now, false);
        let (mut is_held, mut is_window_closed) = (false, false);
        for id in 0..self.subflows.len() {
            let subflow = &self.subflows[id];
            if subflow.backlog().is_empty() || !subflow.can_send() {
                continue;
            }
            if subflow.scheduling().options_stripped && subflow.backlog().is_reinjection() {
                // Reinjected data waits here for the data-level timer: see `next_linux_reinjection`.
                continue;
            }
            if self.small_waits(id) {
                continue;
            }
            if self.window_space_for_backlog(id) == 0 {
                is_window_closed = true;
                continue;
            }
            if self.may_send_now(now, id) {
                return self.send_queued(now, id, out);
            }
            is_held |= self.is_held(now, id);
        }
        let waits = self.subflows.iter().any(|subflow| !subflow.backlog().is_empty());
        let limit = match (waits, closed) {
            (true, _) if is_held => Limit::LocalQueue,
            (true, _) if is_window_closed => Limit::ReceiveWindow,
            (true, _) => Limit::CongestionWindow,
            (false, true) if self.peer_has_out_of_order_data() => Limit::HeadOfLine,
            (false, true) => Limit::ReceiveWindow,
            (false, false) if self.send.unsent() > 0 => Limit::Scheduler,
            (false, false) => self.writer_limit(self.has_open_window()),
        };
        self.on_blocked(now, limit, closed && !waits || is_window_closed);
        if waits && self.only_small_segments_wait() {
            // The queued small segments wait for more data, so the writer is the limit.
            let limit = self.writer_limit(self.has_open_window());
            self.limits.note(now, limit);
        }
        None
    }

    /// Bytes at the head of a subflow's queue that may be sent now. After fallback, TCP's window may end before the
    /// assigned data (RFC 9293 section 3.8.6). Part of a segment is sent only on an idle subflow, so that a window that
    /// opens byte by byte does not cause small segments (section 3.8.6.2.1).
    pub(crate) fn window_space_for_backlog(&self, id: usize) -> u64 {
        let subflow = &self.subflows[id];
        let first = subflow.backlog().first();
        if self.negotiation.is_multipath() {
            return first;
        }
        let space = self.send.edge().saturating_sub(subflow.stream_offset(subflow.sender().board.next));
        if first <= space || subflow.sender().is_idle() { first.min(space) } else { 0 }
    }

    /// Assigns waiting data to subflows after a window update, before the application can write more
    /// (net/mptcp/options.c, `ack_update_msk`; `__mptcp_check_push`).
    #[inline(never)]
    pub(crate) fn push_pending(&mut self, now: Instant) {
        if self.negotiation.is_multipath() {
            self.fill_queues(now, false);
        }
    }

    /// Assigns waiting data after a data-level timeout, regardless of the window (`mptcp_check_and_set_pending`).
    pub(crate) fn reinject_on_timeout(&mut self, now: Instant) {
        self.fill_queues(now, true);
    }

    /// Sends the head of a subflow's queue.
    pub(crate) fn send_queued(&mut self, now: Instant, id: usize, out: &mut Segment) -> Option<usize> {
        let mss = self.congestion.paths[id].mss;
        let size = mss.min(self.window_space_for_backlog(id));
        let QueuedData { data, payload, .. } = self.subflows[id].backlog_mut().pop(size)?;
        if (payload.len() as u64) < mss {
            let end = self.subflows[id].sender().board.next + payload.len() as u64;
            self.subflows[id].sender_mut().board.on_small_segment(end);
        }
        self.wake_writer(now);
        Some(self.send_reinjection(now, id, data, payload, out))
    }

    /// Assigns data as long as the scheduler chooses a subflow. Returns whether the peer's window blocks
    /// data. The kernel puts a buffer into a subflow's queue before it checks the window, and removes the
    /// buffer again if the window is closed. `tries` requests the side effect of this attempt: a restart of
    /// an idle congestion window (`note_queued_data`).
    fn fill_queues(&mut self, now: Instant, mut tries: bool) -> bool {
        let mut candidates = self.scheduler.take_candidates();
        let mut closed = false;
        if self.send.first_reinjection().is_some() {
            self.find_active(now, &mut candidates);
            while !candidates.is_empty()
                && let Some((start, id)) = self.next_reinjection(&candidates)
                && let Some(waiting) = self.repeat(id, start)
            {
                self.subflows[id].backlog_mut().push(waiting);
                self.find_active(now, &mut candidates);
            }
        }
        while self.has_linux_reinjection() || self.send.unsent() > 0 {
            self.find_active(now, &mut candidates);
            if candidates.is_empty() {
                break;
            }
            let view = self.view(now, &candidates);
            let chosen = self.scheduler.choose(&view);
            let Some(chosen) = chosen.or_else(|| self.fallback_when_idle(&candidates)) else { break };
            let given = self.queue_on(now, candidates[chosen].subflow, self.scheduler.burst());
            if given == 0 {
                if tries {
                    self.note_queued_data(now, candidates[chosen].subflow);
                }
                closed = self.send.unsent() > 0 && self.send.window_space() == 0;
                break;
            }
            tries = true;
        }
        self.scheduler.restore_candidates(candidates);
        closed
    }

    /// Assigns `burst` bytes to a subflow, and the rest of the last fragment: the burst and the memory are
    /// checked only at fragment ends (`__subflow_push_pending`). Returns the bytes assigned.
    fn queue_on(&mut self, now: Instant, id: usize, burst: u64) -> u64 {
        let mss = self.congestion.paths[id].mss;
        let mut given = 0;
        while let Some(waiting) = self.next_linux_reinjection(id).or_else(|| self.next_new(id, mss)) {
            let end = waiting.data + waiting.payload.len() as u64;
            let fragment_ends = end / FRAGMENT > waiting.data / FRAGMENT;
            given += waiting.payload.len() as u64;
            if self.subflows[id].backlog_mut().add(waiting, mss) {
                self.note_queued_data(now, id);
            }
            if fragment_ends && (given >= burst || !self.has_memory(id)) {
                break;
            }
        }
        given
    }

    /// Restarts the congestion window of an idle subflow when a buffer enters its queue, even if the buffer is removed
    /// again (`__mptcp_alloc_tx_skb`, `tcp_skb_entail`, `tcp_slow_start_after_idle_check`). This repeats for each
    /// buffer until one is sent. The pacing rate stays that of the last acknowledgement (`tcp_update_pacing_rate`).
    #[cold]
    fn note_queued_data(&mut self, now: Instant, id: usize) {
        if self.subflows[id].sender().is_idle() {
            let pace = linux::pacing_rate(&self.candidate(now, id));
            self.restart_from_idle(now, id);
            let una = self.subflows[id].sender().board.una;
            self.subflows[id].backlog_mut().keep_pace(una, pace);
        }
    }

    /// Takes new data for a subflow, within the peer's window (`mptcp_check_allowed_size`). The data may
    /// complete the last, partial segment of the queue (`mptcp_skb_can_collapse_to`).
    fn next_new(&mut self, id: usize, mss: u64) -> Option<QueuedData> {
        let next = self.send.next();
        let tail = self.subflows[id].backlog().tail(next).filter(|&tail| tail < mss).unwrap_or(0);
        let open = self.send.window_space();
        let size = self.send.unsent().min(mss - tail).min(open).min(FRAGMENT - next % FRAGMENT);
        let is_too_small = size < mss - tail && self.send.has_many_small_chunks(mss);
        if size == 0 || is_too_small || self.is_corked(tail + size, mss) {
            return None;
        }
        let data = self.send.next();
        let payload = self.send.cut(size, mss);
        let mapping = self.mapping_in_backlog(id, payload.len() as u64);
        self.send.send(Chunk::new(data, payload.clone(), mapping));
        Some(QueuedData { data, payload, repeated: false })
    }

    /// Lists the subflows that may get data (`mptcp_subflow_get_send`): no stale ones, and backups only if there is no
    /// other. A subflow after a timeout is listed too.
    fn find_active(&self, now: Instant, found: &mut Vec<Candidate>) {
        found.clear();
        let is_backup =
            |id: usize| self.subflows[id].addresses().backup || self.subflows[id].addresses().peer_backup;
        let active = |id: &usize| self.subflows[*id].can_send() && !self.is_stale(*id);
        let regular = (0..self.subflows.len()).filter(active).any(|id| !is_backup(id));
        for id in (0..self.subflows.len()).filter(active).filter(|&id| !(regular && is_backup(id))) {
            let mut candidate = self.candidate(now, id);
            candidate.held = self.memory_held(id);
            candidate.queued = self.subflows[id].backlog().bytes();
            candidate.pacing =
                self.subflows[id].backlog().pace(self.subflows[id].sender().board.una).or(candidate.pacing);
            candidate.is_available = self.has_memory(id);
            found.push(candidate);
        }
    }

    /// The part of a subflow's send buffer in use, bytes.
    fn memory_held(&self, id: usize) -> u64 {
        let (subflow, mss) = (&self.subflows[id], self.congestion.paths[id].mss);
        let board = &subflow.sender().board;
        send_memory(subflow.backlog().bytes(), board.next - board.una, mss)
    }

    /// Whether a subflow's send buffer has space (`sk_stream_memory_free`).
    fn has_memory(&self, id: usize) -> bool {
        self.memory_held(id) < self.send_memory(id)
    }

    /// The size of a subflow's send buffer, bytes.
    fn send_memory(&self, id: usize) -> u64 {
        let max = self.config.send_buffer;
        match (self.config.linux_stack.buffer_memory, self.config.mechanisms.autotuning) {
            (false, _) => max,
            (true, false) => memory_of(max),
            (true, true) => self.subflows[id].backlog().memory().min(memory_of(max)),
        }
    }

    /// Grows send buffers while the application waits and a window is open: `tcp_should_expand_sndbuf`
    /// (net/ipv4/tcp_input.c). They never shrink.
    fn tune_send_memory(&mut self) {
        for (subflow, path) in
            self.subflows.iter_mut().zip(&self.congestion.paths).filter(|(s, _)| s.can_send())
        {
            let grows = subflow.backlog().memory() == 0
                || self.writer.is_blocked() && subflow.sender().in_flight() + path.mss <= path.cwnd;
            if grows {
                subflow.backlog_mut().grow(tuned_send_memory(path.cwnd, path.mss));
            }
        }
    }
}
