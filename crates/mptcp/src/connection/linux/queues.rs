//! Queues by subflow: data is given to subflows ahead of their windows, as Linux does it (net/mptcp/protocol.c,
//! `__mptcp_push_pending`), and leaves when the windows have room.
//!
//! Owns the way from what is unsent to a subflow's queue, and from there to a segment. Which subflow is the scheduler's choice,
//! what goes again `again`'s.

use mptcp_clock::Instant;
use mptcp_wire::Segment;

use crate::connection::Connection;
use crate::connection::observe::limits::Limit;
use crate::connection::stream::send_buffer::Chunk;
use crate::linux_stack::{FRAGMENT, memory_of, send_memory, tuned_send_memory};
use crate::scheduler::{Candidate, linux};
use crate::subflow::backlog::Waiting;

impl Connection {
    /// New data by way of the queues.
    #[inline(never)]
    pub(crate) fn transmit_queued(&mut self, now: Instant, out: &mut Segment) -> Option<usize> {
        if self.config.mechanisms.autotuning {
            self.tune_send_memory();
        }
        let closed = self.negotiation.is_multipath() && self.fill_queues(now, false);
        let (mut held, mut shut) = (false, false);
        for id in 0..self.subflows.len() {
            let subflow = &self.subflows[id];
            if subflow.backlog().is_empty() || !subflow.can_send() {
                continue;
            }
            if subflow.scheduling().options_stripped && subflow.backlog().repeats() {
                // It waits for what the data-level timer makes of that: see `next_linux_reinjection`.
                continue;
            }
            if self.small_waits(id) {
                continue;
            }
            if self.fits_first(id) == 0 {
                shut = true;
                continue;
            }
            if self.may_send_now(now, id) {
                return self.send_queued(now, id, out);
            }
            held |= self.is_held(now, id);
        }
        let waits = self.subflows.iter().any(|subflow| !subflow.backlog().is_empty());
        let limit = match (waits, closed) {
            (true, _) if held => Limit::LocalQueue,
            (true, _) if shut => Limit::ReceiveWindow,
            (true, _) => Limit::CongestionWindow,
            (false, true) if self.peer_holds_early_data() => Limit::HeadOfLine,
            (false, true) => Limit::ReceiveWindow,
            (false, false) if self.send.unsent() > 0 => Limit::Scheduler,
            (false, false) => self.writer_limit(self.has_open_window()),
        };
        self.on_blocked(now, limit, closed && !waits || shut);
        if waits && self.only_small_ones_wait() {
            // What waits is less than a segment, and waits for more of it: no window is full.
            let limit = self.writer_limit(self.has_open_window());
            self.limits.note(now, limit);
        }
        None
    }

    /// Bytes of the first of a subflow's queue that may leave now. It was given there by the data level's window; after a fallback TCP's
    /// holds, which may end before (RFC 9293 section 3.8.6). A part goes where nothing is under way: a window that opens byte by byte
    /// is not answered with as many segments (section 3.8.6.2.1).
    pub(crate) fn fits_first(&self, id: usize) -> u64 {
        let subflow = &self.subflows[id];
        let first = subflow.backlog().first();
        if self.negotiation.is_multipath() {
            return first;
        }
        let room = self.send.edge().saturating_sub(subflow.stream_offset(subflow.sender().board.next));
        if first <= room || subflow.sender().is_idle() { first.min(room) } else { 0 }
    }

    /// The peer's window has opened: what waits is given to the subflows before the application, which may have room now, can write
    /// more (net/mptcp/options.c, `ack_update_msk`; `__mptcp_check_push`).
    #[inline(never)]
    pub(crate) fn push_pending(&mut self, now: Instant) {
        if self.negotiation.is_multipath() {
            self.fill_queues(now, false);
        }
    }

    /// The data level's timer has rung: the same is tried, whatever the window has room for (`mptcp_check_and_set_pending`).
    pub(crate) fn retry_pending(&mut self, now: Instant) {
        self.fill_queues(now, true);
    }

    /// Takes the first of a subflow's queue onto its way.
    pub(crate) fn send_queued(&mut self, now: Instant, id: usize, out: &mut Segment) -> Option<usize> {
        let mss = self.congestion.paths[id].mss;
        let size = mss.min(self.fits_first(id));
        let Waiting { data, payload, .. } = self.subflows[id].backlog_mut().pop(size)?;
        if (payload.len() as u64) < mss {
            let end = self.subflows[id].sender().board.next + payload.len() as u64;
            self.subflows[id].sender_mut().board.on_small_segment(end);
        }
        self.wake_writer(now);
        Some(self.send_reinjection(now, id, data, payload, out))
    }

    /// Gives data to the subflows for as long as the scheduler finds one for it; returns whether the peer's window holds some back. The
    /// kernel finds that out with a buffer in a subflow's queue, where it `tries` at all.
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

    /// Gives `burst` bytes to a subflow, and the rest of the fragment: whether that is enough, and whether there is memory for more, is
    /// asked at the end of each (`__subflow_push_pending`). Returns how many it took.
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

    /// A buffer begins in a subflow's queue, if only to be taken out again: with nothing under way there its window begins anew
    /// (`__mptcp_alloc_tx_skb`, `tcp_skb_entail`, `tcp_slow_start_after_idle_check`), once more for each buffer until one is sent. Its pace
    /// is what the last acknowledgement left (`tcp_update_pacing_rate`).
    #[cold]
    fn note_queued_data(&mut self, now: Instant, id: usize) {
        if self.subflows[id].sender().is_idle() {
            let pace = linux::pacing_rate(&self.candidate(now, id));
            self.restart_from_idle(now, id);
            let una = self.subflows[id].sender().board.una;
            self.subflows[id].backlog_mut().keep_pace(una, pace);
        }
    }

    /// The next piece of new data for a subflow, as large as the peer's window has room for (`mptcp_check_allowed_size`), in one segment
    /// with what waits before it (`mptcp_skb_can_collapse_to`).
    fn next_new(&mut self, id: usize, mss: u64) -> Option<Waiting> {
        let next = self.send.next();
        let held = self.subflows[id].backlog().tail(next).filter(|&held| held < mss).unwrap_or(0);
        let open = self.send.window_space();
        let size = self.send.unsent().min(mss - held).min(open).min(FRAGMENT - next % FRAGMENT);
        let small = size < mss - held && self.send.has_many_small_chunks(mss);
        if size == 0 || small || self.is_corked(held + size, mss) {
            return None;
        }
        let data = self.send.next();
        let payload = self.send.cut(size, mss);
        let put = self.place_in_queue(id, payload.len() as u64);
        self.send.send(Chunk::new(data, payload.clone(), put));
        Some(Waiting { data, payload, repeated: false })
    }

    /// The subflows that may be given data: backups only when nothing else works (`mptcp_subflow_get_send`), those that are stale not
    /// at all. Whether they time out plays no part.
    fn find_active(&self, now: Instant, found: &mut Vec<Candidate>) {
        found.clear();
        let is_backup =
            |id: usize| self.subflows[id].addresses().backup || self.subflows[id].addresses().peer_backup;
        let active = |id: &usize| self.subflows[*id].can_send() && !self.is_stale(*id);
        let regular = (0..self.subflows.len()).filter(active).any(|id| !is_backup(id));
        for id in (0..self.subflows.len()).filter(active).filter(|&id| !(regular && is_backup(id))) {
            let mut candidate = self.candidate(now, id);
            candidate.held = self.memory_held(id);
            candidate.pacing =
                self.subflows[id].backlog().pace(self.subflows[id].sender().board.una).or(candidate.pacing);
            candidate.is_available = self.has_memory(id);
            found.push(candidate);
        }
    }

    /// What a subflow's data takes of its send buffer.
    fn memory_held(&self, id: usize) -> u64 {
        let (subflow, mss) = (&self.subflows[id], self.congestion.paths[id].mss);
        let board = &subflow.sender().board;
        send_memory(subflow.backlog().bytes(), board.next - board.una, mss)
    }

    /// Whether a subflow's send buffer has room (`sk_stream_memory_free`).
    fn has_memory(&self, id: usize) -> bool {
        self.memory_held(id) < self.send_memory(id)
    }

    /// The send buffer of a subflow.
    fn send_memory(&self, id: usize) -> u64 {
        let most = self.config.send_buffer;
        match (self.config.linux_stack.buffer_memory, self.config.mechanisms.autotuning) {
            (false, _) => most,
            (true, false) => memory_of(most),
            (true, true) => self.subflows[id].backlog().memory().min(memory_of(most)),
        }
    }

    /// Send buffers grow where an application waits for room while a window has some: `tcp_should_expand_sndbuf`
    /// (net/ipv4/tcp_input.c). Never smaller again.
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
