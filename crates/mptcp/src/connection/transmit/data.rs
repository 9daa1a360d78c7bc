//! Transmission of stream data: which data is sent next, and on which subflow.
//!
//! Owns the choice between new data, reinjections and redundant copies, the size of a new segment, and Nagle's
//! algorithm. Restarts a subflow after idle time as Linux does: the congestion window is halved for each idle RTO (RFC
//! 2861 section 3.1, RFC 5681 section 4.1). Never decides how a segment looks (`segment`).
//!
//! After each segment of new data, the shortcut `would_block` tells whether another one can follow, without a full
//! `poll_transmit`.

use mptcp_clock::{Duration, Instant};
use mptcp_wire::Segment;

use crate::connection::Connection;
use crate::connection::observe::limits::Limit;
use crate::connection::stream::send_buffer::{Chunk, SubflowMapping};
use crate::connection::transmit::candidates::max_burst;
use crate::connection::transmit::scheduler_state::RequestedCopy;
use crate::scheduler::{Candidate, SendView};

/// Time without progress after which data in flight is considered for reinjection before new data: the initial RTO (RFC
/// 6298 section 2.1).
const NO_PROGRESS: Duration = Duration::from_secs(1);
/// The minimum time before a waiting scheduler is asked again.
const MIN_SCHEDULER_WAIT: Duration = Duration::from_millis(1);

impl Connection {
    /// Sends new data or reinjects data. Returns the slot of the subflow.
    #[inline(always)]
    pub(crate) fn transmit_data(&mut self, now: Instant, out: &mut Segment) -> Option<usize> {
        let (is_valid, is_refreshed) = self.scheduler.take_validity(now);
        if self.send.written() == 0 && !self.writer.is_closed() {
            // A pure receiver needs no candidates.
            return None;
        }
        self.transmit_written(now, is_valid, is_refreshed, out)
    }

    /// Sends data after something was written. The flags describe the candidate list.
    #[inline(never)]
    fn transmit_written(
        &mut self,
        now: Instant,
        is_valid: bool,
        is_refreshed: bool,
        out: &mut Segment,
    ) -> Option<usize> {
        if self.send.unsent() == 0 && self.send.nothing_in_flight() {
            return self.on_nothing_written(now);
        }
        if self.is_single_path() {
            // With fresh candidates, `would_block` has already checked the limit after the previous segment.
            if !(is_valid && is_refreshed)
                && let Some(limit) = self.single_path_limit(now)
            {
                return self.on_blocked(now, limit, false);
            }
            if let Some(sent) = self.transmit_single_path(now, out) {
                return Some(sent);
            }
        }
        if !is_valid || self.scheduler.candidates().is_empty() {
            self.find_candidates(now);
        } else if !is_refreshed {
            self.refresh_stale_candidate(now);
        }
        self.transmit_on(now, out)
    }

    /// Runs `act` with the candidate list, which is moved out of the connection meanwhile.
    pub(crate) fn with_candidates<T>(&mut self, act: impl FnOnce(&mut Self, &[Candidate]) -> T) -> T {
        let candidates = self.scheduler.take_candidates();
        let result = act(self, &candidates);
        self.scheduler.restore_candidates(candidates);
        result
    }

    /// Whether the only subflow may send and only new data can follow, so that the scheduler has no choice.
    /// The caller can then send without candidates. Always `false` with an observer, which needs them.
    #[inline]
    pub(crate) fn is_single_path(&self) -> bool {
        let [subflow] = &self.subflows[..] else { return false };
        self.send.unsent() > 0
            && self.send.first_reinjection().is_none()
            && self.observer.is_none()
            && !self.scheduler.is_redundant()
            && subflow.can_send()
            && subflow.scheduling().probation.is_none()
            && !subflow.mtu().is_known()
    }

    /// Sends new data on the only subflow. `None`, without side effects, after idle time, or while Nagle's algorithm or
    /// the peer's window blocks the data.
    #[inline(always)]
    fn transmit_single_path(&mut self, now: Instant, out: &mut Segment) -> Option<usize> {
        let mss = self.congestion.paths.first()?.mss;
        let size = self.segment_size(0, mss);
        let idle = self.subflows.first()?.sender().is_idle();
        if idle
            || self.send.next() + size > self.send.edge()
            || self.waits_for_full_segment(now, 0, size, mss)
        {
            return None;
        }
        let sent = self.send_new(now, 0, size, out);
        self.scheduler.on_single_path_sent(now, sent);
        Some(sent)
    }

    /// Refreshes the candidates after the last segment was sent, if `would_block` did not.
    #[inline(never)]
    fn refresh_stale_candidate(&mut self, now: Instant) {
        self.refresh_candidates(now);
    }

    fn transmit_on(&mut self, now: Instant, out: &mut Segment) -> Option<usize> {
        if self.scheduler.candidates().is_empty() {
            return self.on_blocked(now, Limit::Idle, false);
        }
        if self.send.first_reinjection().is_some()
            && let Some(sent) = self.transmit_reinjection(now, out)
        {
            return Some(sent);
        }
        if self.timers.time_since_data_ack(now) >= NO_PROGRESS
            && let Some((id, start)) =
                self.with_candidates(|own, candidates| own.find_opportunistic(now, candidates))
        {
            return self.reinject_on(now, start, id, out);
        }
        if self.scheduler.has_copies()
            && let Some(sent) = self.transmit_copy(now, out)
        {
            return Some(sent);
        }
        if self.scheduler.is_redundant()
            && let Some(sent) = self.transmit_redundant(now, out)
        {
            return Some(sent);
        }
        if self.send.unsent() == 0 {
            return self.on_no_new_data(now, out);
        }
        let chosen = self.choose(now);
        let chosen = chosen.or_else(|| self.fallback_when_idle(self.scheduler.candidates()));
        let Some(chosen) = chosen else {
            let candidates = self.scheduler.candidates();
            let open = candidates.iter().any(|c| c.is_available);
            let limit = if open { Limit::Scheduler } else { self.blocked_limit(now, candidates) };
            if open {
                self.schedule_retry(now);
            }
            return self.on_blocked(now, limit, false);
        };
        let Candidate { subflow: id, mss, in_flight, .. } = self.scheduler.candidates()[chosen];
        if in_flight == 0 && self.subflows[id].sender().is_idle() {
            self.restart_from_idle(now, id);
        }
        if self.subflows[id].mtu().is_known()
            && let Some(payload) = self.mtu_probe_size(id)
        {
            self.send_new(now, id, payload, out);
            self.on_mtu_probe_sent(id, out.payload.len() as u64, mss);
            return Some(id);
        }
        let size = self.segment_size(id, mss);
        if self.send.next() + size > self.send.edge() {
            return self.on_closed_window(now, id, size, out);
        }
        if self.waits_for_full_segment(now, id, size, mss) {
            return self.on_no_new_data(now, out);
        }
        let old_next = self.send.next();
        if self.scheduler.makes_copies() {
            self.request_copies(now, chosen, size);
        }
        let sent = self.send_new(now, id, size, out);
        self.scheduler.on_chosen_sent(now, id, self.send.next() - old_next);
        Some(sent)
    }

    /// Returns the position of the candidate that the scheduler chooses. Skips the scheduler if at most one candidate
    /// is possible.
    #[inline(always)]
    pub(crate) fn choose(&mut self, now: Instant) -> Option<usize> {
        let candidates = self.scheduler.candidates();
        if let [candidate] = candidates {
            return candidate.is_available.then_some(0);
        }
        if candidates.iter().any(|candidate| candidate.is_available) { self.choose_among(now) } else { None }
    }

    #[inline(never)]
    fn choose_among(&mut self, now: Instant) -> Option<usize> {
        self.with_candidates(|own, candidates| {
            let chosen = own.scheduler.choose(&own.view(now, candidates))?;
            candidates.get(chosen)?.is_available.then_some(chosen)
        })
    }

    pub(crate) fn view<'a>(&self, now: Instant, candidates: &'a [Candidate]) -> SendView<'a> {
        let outgoing = &self.send;
        SendView {
            now,
            candidates,
            offset: outgoing.next(),
            unsent: outgoing.unsent(),
            writer_blocked: self.writer.is_blocked(),
            in_flight: outgoing.next() - outgoing.una(),
            window_space: outgoing.window_space(),
            send_buffer: self.send_buffer(),
            has_subflow_queues: self.config.linux_stack.subflow_queues,
        }
    }

    /// Sets a timer that asks a waiting scheduler again when an acknowledgement is expected. If the
    /// acknowledgement is already overdue, the delay of the timer is the time by which it is overdue, but at
    /// least `MIN_SCHEDULER_WAIT`.
    #[inline(never)]
    fn schedule_retry(&mut self, now: Instant) {
        for candidate in self.scheduler.candidates().iter().filter(|candidate| candidate.in_flight > 0) {
            let Some(oldest) = self.subflows[candidate.subflow].sender().board.queue.front() else {
                continue;
            };
            let due =
                oldest.sent_at + self.congestion.paths[candidate.subflow].ack_time_bound(candidate.in_flight);
            let retry_delay = candidate.path.overdue.max(MIN_SCHEDULER_WAIT);
            self.timers.wake_at(if due > now { due } else { now + retry_delay });
        }
    }

    /// The available candidate with the smallest SRTT, if nothing is in flight: then no event would end the scheduler's
    /// wait.
    #[inline(never)]
    pub(crate) fn fallback_when_idle(&self, candidates: &[Candidate]) -> Option<usize> {
        if self.subflows.iter().any(|subflow| !subflow.sender().is_idle() || !subflow.backlog().is_empty()) {
            return None;
        }
        let available = candidates.iter().enumerate().filter(|(_, candidate)| candidate.is_available);
        available.min_by_key(|(_, candidate)| candidate.srtt).map(|(position, _)| position)
    }

    /// Handles the case without new data to send: all written data is in flight, or only a small segment
    /// waits. Opportunistic retransmission (M1) and penalisation (M2) apply as for a full receive window.
    /// There is no penalty if the application is not blocked.
    #[inline(never)]
    fn on_no_new_data(&mut self, now: Instant, out: &mut Segment) -> Option<usize> {
        if let Some(chosen) = self.choose(now) {
            let fast = self.scheduler.candidates()[chosen].subflow;
            if let Some(start) = self.on_window_blocked(now, fast, self.writer.is_blocked()) {
                return self.reinject_on(now, start, fast, out);
            }
        }
        if let Some((id, start)) =
            self.with_candidates(|own, candidates| own.find_opportunistic(now, candidates))
        {
            return self.reinject_on(now, start, id, out);
        }
        let open = self.scheduler.candidates().iter().any(|c| c.is_available);
        self.on_blocked(now, self.writer_limit(open), false)
    }

    /// Handles a receive window without space for a full segment.
    #[inline(never)]
    fn on_closed_window(&mut self, now: Instant, id: usize, size: u64, out: &mut Segment) -> Option<usize> {
        let open = self.send.window_space();
        // RFC 9293 section 3.8.6.2.1 (MUST-38): sends part of a segment if the space is half of the largest window.
        // After the override timeout the window probe does so.
        if open > 0 && open >= self.send.largest_window() / 2 {
            return Some(self.send_unscheduled(now, id, open.min(size), out));
        }
        if let Some(start) = self.on_window_blocked(now, id, true) {
            return self.reinject_on(now, start, id, out);
        }
        if let Some((id, start)) =
            self.with_candidates(|own, candidates| own.find_opportunistic(now, candidates))
        {
            return self.reinject_on(now, start, id, out);
        }
        let limit = if self.peer_has_out_of_order_data() { Limit::HeadOfLine } else { Limit::ReceiveWindow };
        self.on_blocked(now, limit, true)
    }

    /// Reinjects the oldest requested chunk on a subflow that has not carried it.
    #[inline(never)]
    fn transmit_reinjection(&mut self, now: Instant, out: &mut Segment) -> Option<usize> {
        let (start, id) = self.with_candidates(Self::next_reinjection)?;
        self.reinject_on(now, start, id, out)
    }

    /// Takes the oldest requested chunk off the queue. Returns its start and the slot of a subflow that has not carried
    /// it.
    pub(crate) fn next_reinjection(&mut self, candidates: &[Candidate]) -> Option<(u64, usize)> {
        while let Some(start) = self.send.first_reinjection() {
            let una = self.send.una();
            let Some(chunk) =
                self.send.chunk_at(start).filter(|chunk| chunk.is_queued() && chunk.end() > una)
            else {
                self.send.pop_reinjection();
                continue;
            };
            // A working subflow that has not yet delivered the chunk retransmits it itself. So do subflows in timeout
            // if every candidate has carried the chunk.
            let on_its_way = |c: &Candidate| {
                let sender = self.subflows[c.subflow].sender();
                !sender.in_loss() && chunk.end_on(c.id).is_some_and(|end| end > sender.board.una)
            };
            let mut carriers = candidates.iter().filter(|c| chunk.carried_by(c.subflow));
            let settled = carriers.any(on_its_way) || candidates.iter().all(|c| chunk.carried_by(c.subflow));
            if settled {
                chunk.set_queued(false);
                self.send.pop_reinjection();
                continue;
            }
            // A peer on a path that strips options has fallen back, and would append the data to its stream.
            let fresh = candidates.iter().filter(|c| c.is_available && !chunk.carried_by(c.subflow));
            let fresh = fresh.filter(|c| !self.subflows[c.subflow].scheduling().options_stripped);
            let id = fresh.min_by_key(|c| c.srtt)?.subflow;
            self.send.pop_reinjection();
            return Some((start, id));
        }
        None
    }

    /// Reinjects the chunk at `start` on another subflow: as much of it as fits into one segment.
    #[inline(never)]
    fn reinject_on(&mut self, now: Instant, start: u64, id: usize, out: &mut Segment) -> Option<usize> {
        self.send.split(start, self.largest_payload(id));
        let (subflow, next) = (self.subflow_id(id), self.subflows[id].sender().board.next);
        let chunk = self.send.chunk_at(start)?;
        chunk.map_to(SubflowMapping { subflow, end: next + chunk.payload().len() as u64 });
        let (data, payload) = (chunk.start(), chunk.payload().clone());
        self.data_ack_leads.forget();
        self.reinjection.on_reinjected(payload.len() as u64);
        self.subflows[id].record_mut().stats.bytes_reinjected += payload.len() as u64;
        Some(self.send_reinjection(now, id, data, payload, out))
    }

    /// Asks the scheduler which other candidates carry a copy of the next `size` bytes, which `chosen` sends now.
    #[cold]
    fn request_copies(&mut self, now: Instant, chosen: usize, size: u64) {
        let start = self.send.next();
        self.with_candidates(|own, candidates| {
            let view = own.view(now, candidates);
            own.scheduler.request_copies(&view, chosen, start..start + size);
        });
    }

    /// Sends the next copy that a scheduler requested. Copies whose subflow has no space any more are dropped.
    #[cold]
    fn transmit_copy(&mut self, now: Instant, out: &mut Segment) -> Option<usize> {
        while let Some(copy) = self.scheduler.next_copy() {
            let is_open = |candidate: &Candidate| candidate.id == copy.subflow && candidate.is_available;
            let Some(id) = self.scheduler.candidates().iter().find(|c| is_open(c)).map(|c| c.subflow) else {
                continue;
            };
            let una = self.send.una();
            let is_needed = |chunk: &mut Chunk| !chunk.carried_by(id) && chunk.end() > una;
            if !self.send.chunk_at(copy.data.start).is_some_and(is_needed) {
                continue;
            }
            let sent = self.repeat_on(copy.data.start, id, now, out)?;
            let end = copy.data.start + out.payload.len() as u64;
            if end < copy.data.end {
                self.scheduler.return_copy(RequestedCopy { data: end..copy.data.end, ..copy });
            }
            return Some(sent);
        }
        None
    }

    /// Sends the first chunk that an available subflow has not carried (redundant scheduler).
    #[inline(never)]
    fn transmit_redundant(&mut self, now: Instant, out: &mut Segment) -> Option<usize> {
        for at in 0..self.scheduler.candidates().len() {
            let Candidate { subflow: id, is_available: true, .. } = self.scheduler.candidates()[at] else {
                continue;
            };
            let Some(start) =
                self.send.first_not_on(id, &mut self.subflows[id].scheduling_mut().redundant_up_to)
            else {
                continue;
            };
            if let Some(sent) = self.repeat_on(start, id, now, out) {
                return Some(sent);
            }
        }
        None
    }

    /// Sends a redundant copy of the chunk at `start`: as much of it as fits into one segment. `None` if that chunk
    /// does not exist.
    fn repeat_on(&mut self, start: u64, id: usize, now: Instant, out: &mut Segment) -> Option<usize> {
        self.send.split(start, self.largest_payload(id));
        let (subflow, next) = (self.subflow_id(id), self.subflows[id].sender().board.next);
        let chunk = self.send.chunk_at(start)?;
        let queued = chunk.is_queued();
        chunk.map_to(SubflowMapping { subflow, end: next + chunk.payload().len() as u64 });
        chunk.set_queued(queued);
        let (data, payload) = (chunk.start(), chunk.payload().clone());
        self.subflows[id].record_mut().stats.bytes_reinjected += payload.len() as u64;
        Some(self.send_reinjection(now, id, data, payload, out))
    }
}

impl Connection {
    /// Adjusts the congestion window before new data is sent on an idle subflow.
    #[cold]
    pub(crate) fn restart_from_idle(&mut self, now: Instant, id: usize) {
        let sender = self.subflows[id].sender();
        let Some(idle) = sender.last_sent.map(|at| now.since(at)) else { return };
        if self.config.restart_after_idle == Some(true) && !sender.has_rate_samples() {
            self.restart_after_idle(now, id);
        }
        let sender = self.subflows[id].sender();
        // Draft-ietf-ccwg-bbr section 5.4.1: a controller that uses rate samples restarts only from an
        // application-limited state.
        if sender.is_limited() {
            self.congestion.on_restart(id, now, idle);
        }
    }

    /// Records why nothing more can be sent now, and arms the timers. Returns `None`.
    pub(crate) fn on_blocked(&mut self, now: Instant, limit: Limit, window_closed: bool) -> Option<usize> {
        self.limits.note(now, limit);
        self.congestion.on_rest();
        if self.congestion.needs_samples() {
            self.note_full_windows();
            self.note_idle_windows(now, limit);
        }
        self.arm(now, window_closed);
        None
    }

    /// Handles the state in which all written data is acknowledged.
    pub(crate) fn on_nothing_written(&mut self, now: Instant) -> Option<usize> {
        let is_over = self.lifecycle.closed().is_some() || self.congestion.paths.is_empty();
        let limit = if is_over { Limit::Idle } else { self.writer_limit(self.has_open_window()) };
        self.on_blocked(now, limit, false);
        if self.writer.is_closed() {
            // After the end of the stream, TIME-WAIT and the receive direction do not count as waiting for the
            // application.
            self.limits.note(now, Limit::Idle);
        }
        None
    }

    /// Marks subflows with an unused congestion window as application-limited, for controllers that use rate
    /// samples.
    #[cold]
    fn note_idle_windows(&mut self, now: Instant, limit: Limit) {
        // `HeadOfLine` means that the peer holds out-of-order data. It counts here only if all written data
        // is in flight, not if the peer's window is full.
        let holds_early_data = limit == Limit::HeadOfLine && self.send.unsent() == 0;
        if !holds_early_data && !matches!(limit, Limit::Application | Limit::SendBuffer | Limit::Scheduler) {
            return;
        }
        for (subflow, path) in self.subflows.iter_mut().zip(&self.congestion.paths) {
            if subflow.scheduling().blocked_until <= now {
                subflow.sender_mut().note_idle_window(path);
            }
        }
    }

    fn restart_after_idle(&mut self, now: Instant, id: usize) {
        let sender = self.subflows[id].sender();
        let rto = sender.timeout.after(&self.congestion.paths[id]);
        let Some(idle) = sender.last_sent.map(|at| now.since(at)).filter(|idle| *idle > rto) else {
            return;
        };
        let path = &mut self.congestion.paths[id];
        path.ssthresh = path.ssthresh.max(path.cwnd / 4 * 3);
        let min_window = (path.mss * u64::from(self.config.initial_window)).min(path.cwnd);
        let mut remaining = idle - rto;
        while !remaining.is_zero() && path.cwnd > min_window {
            path.cwnd /= 2;
            remaining = remaining - remaining.min(rto);
        }
        path.cwnd = path.cwnd.max(min_window);
    }
}

impl Connection {
    /// Whether no new data can follow the segment sent just now. If so, records the reason as `poll_transmit`
    /// would. Always `false` with an observer, which needs a full `poll_transmit`.
    #[inline]
    pub(crate) fn would_block(&mut self, now: Instant) -> bool {
        let simple = self.scheduler.is_valid(now)
            && self.observer.is_none()
            && self.send.unsent() > 0
            && self.send.first_reinjection().is_none()
            && !self.scheduler.is_redundant()
            && !self.scheduler.has_copies()
            && !self.writer.is_closed()
            && self.lifecycle.closed().is_none()
            && self.pending_options.is_empty()
            && !self.timers.is_probe_wanted();
        simple && self.is_out_of_room(now)
    }

    /// Refreshes the candidates. If none is available, records the reason and returns `true`.
    #[inline]
    fn is_out_of_room(&mut self, now: Instant) -> bool {
        self.scheduler.set_refreshed();
        if self.scheduler.candidates().is_empty() {
            // With a single subflow there may be no candidate list.
            let Some(limit) = self.single_path_limit(now) else { return false };
            self.scheduler.invalidate();
            self.on_blocked(now, limit, false);
            return true;
        }
        if self.refresh_candidates(now) {
            return false;
        }
        self.scheduler.invalidate();
        let limit = self.blocked_limit(now, self.scheduler.candidates());
        self.on_blocked(now, limit, false);
        true
    }

    /// Bytes of new data in the next segment: up to `mss`, or as many full frames as segmentation offload and the
    /// windows permit.
    #[inline(always)]
    pub(crate) fn segment_size(&self, id: usize, mss: u64) -> u64 {
        let (unsent, next) = (self.send.unsent(), self.send.next());
        // No segment crosses the end of a record (a write with MSG_EOR).
        let unsent =
            self.send.write_ends().next_record_end(next).map_or(unsent, |end| unsent.min(end - next));
        let largest = self.subflows[id].negotiated().gso_max;
        if unsent <= mss || largest <= mss {
            return unsent.min(mss);
        }
        // The first data may carry the keys, which belong to one frame.
        let is_confirmed = self.negotiation.confirmed() || self.negotiation.is_plain();
        if !is_confirmed || self.negotiation.infinite_from().is_some() {
            return mss;
        }
        let path = &self.congestion.paths[id];
        let largest = max_burst(path, largest);
        let space = path.cwnd.saturating_sub(self.subflows[id].sender().in_flight());
        let open = self.send.window_space();
        let max = largest.min(space).min(open);
        if unsent <= max && !self.config.nagle { unsent } else { (max.min(unsent) / mss).max(1) * mss }
    }

    /// Whether a small segment for subflow `id` waits: for an acknowledgement of data in flight (Nagle, RFC
    /// 9293 section 3.7.4), or because the application corked it. Data in flight is judged at the subflow
    /// level, because Linux may send the DATA_ACK only with the answer to further data.
    #[inline(always)]
    pub(crate) fn waits_for_full_segment(&self, now: Instant, id: usize, size: u64, mss: u64) -> bool {
        // The last segment of a record does not wait if others follow it.
        if size >= mss || size < self.send.unsent() {
            return false;
        }
        let is_acknowledged = || self.send.next() == self.send.una();
        let nagle = self.config.nagle && !is_acknowledged() && self.nagle_blocks(now, id);
        let waits = self.writer.is_corked_or_more() || nagle;
        waits && !self.writer.is_closed() && !self.writer.is_pushing()
    }

    /// Whether data in flight blocks a small segment: data on any subflow, or only on `id` if the scheduler places the
    /// small segments of an application-limited stream. In Minshall's variant, only small segments in flight block
    /// another one. A subflow may then have two small segments in flight while another subflow has none, so
    /// that a delayed acknowledgement blocks only one of these subflows.
    fn nagle_blocks(&self, now: Instant, id: usize) -> bool {
        let minshall = self.config.linux_compat.minshall;
        if self.scheduler.places_small_segments() && self.writer.is_app_limited(now) {
            let own = &self.subflows[id];
            return if minshall {
                own.small_in_flight() > self.small_segment_allowance()
            } else {
                !own.sender().is_idle()
            };
        }
        let busy = || self.subflows.iter().any(|subflow| !subflow.sender().is_idle());
        (!minshall || self.send.small_in_flight()) && busy()
    }

    /// The maximum number of small segments in flight with which a subflow may still send a further one: 1
    /// while some subflow has none in flight, otherwise 0.
    pub(crate) fn small_segment_allowance(&self) -> usize {
        usize::from(self.subflows.iter().any(|subflow| subflow.can_send() && subflow.small_in_flight() == 0))
    }

    /// Whether the application holds a small segment back. Nagle's algorithm is not considered here: Linux passes the
    /// data to a subflow, which may delay it itself (net/mptcp/protocol.c, `mptcp_sendmsg_frag`).
    pub(crate) fn is_corked(&self, size: u64, mss: u64) -> bool {
        let writer = &self.writer;
        size < mss
            && size >= self.send.unsent()
            && writer.is_corked_or_more()
            && !writer.is_closed()
            && !writer.is_pushing()
    }

    /// Switches Nagle's algorithm off or on. As in Linux, waiting data is sent when it is switched off, even if corked.
    pub(crate) fn set_nodelay(&mut self, nodelay: bool) {
        self.config.nagle = !nodelay;
        let pushing = self.writer.is_pushing() || (nodelay && self.send.unsent() > 0);
        self.writer.set_pushing(pushing);
    }

    /// Corks or uncorks the stream. A timer limits how long corked data waits.
    pub(crate) fn set_cork(&mut self, corked: bool) {
        self.writer.set_cork(corked);
        if !corked {
            self.timers.disarm_cork();
        }
    }

    /// Whether Nagle's algorithm delays a small last segment in a subflow's queue (`tcp_nagle_check`,
    /// `tcp_minshall_check`).
    pub(crate) fn small_waits(&self, id: usize) -> bool {
        let subflow = &self.subflows[id];
        let mss = self.congestion.paths[id].mss;
        self.config.nagle
            && subflow.backlog().is_small(mss)
            && subflow.small_in_flight() > 0
            && !self.writer.is_closed()
    }

    /// Whether every queue is empty or holds only a small segment that waits.
    pub(crate) fn only_small_segments_wait(&self) -> bool {
        (0..self.subflows.len()).all(|id| self.subflows[id].backlog().is_empty() || self.small_waits(id))
    }

    /// Whether the queue of a subflow other than `id` has data that waits for its window.
    pub(crate) fn waits_elsewhere(&self, id: usize) -> bool {
        self.config.linux_stack.subflow_queues
            && (0..self.subflows.len()).any(|other| {
                other != id && !self.subflows[other].backlog().is_empty() && !self.small_waits(other)
            })
    }
}
