//! Which data goes next, and on which subflow: new data by the scheduler, data that another subflow did
//! not get through, and why nothing goes when nothing does.
//!
//! Owns the choice; how a segment looks is `output`'s affair.
//!
//! Nothing goes now, and then a subflow sends after a silence: its window speaks of a path as it was (RFC 5681 section 4.1). Or it
//! has less to send than its window has room for: its rate says little of the path.
//!
//! Owns what is done when nothing goes, and the rule for the window, which is Linux's: as RFC 2861 section 3.1 has it, the window is halved for
//! each timeout of silence, the threshold remembers most of it.
//!
//! A look ahead when a segment has left: whether it was the last one for now.
//!
//! Owns the shortcut past a question whose answer is known, that for the next segment where no window has room. It answers only where
//! nothing but new data could go, and does what the question would have done.

use mptcp_clock::{Duration, Instant};
use mptcp_wire::Segment;

use crate::connection::Connection;
use crate::connection::observe::limits::Limit;
use crate::connection::stream::send_buffer::SubflowMapping;
use crate::scheduler::{Candidate, SendView};

/// Where nothing arrives in order for so long, data in flight is looked through before new data is sent: as long as a sender waits for a first
/// answer (RFC 6298 section 2.1).
const NO_PROGRESS: Duration = Duration::from_secs(1);
/// A scheduler that waits is not asked again sooner.
const SHORTEST_WAIT: Duration = Duration::from_millis(1);

impl Connection {
    /// New data, or data that another subflow did not get through.
    #[inline(always)]
    pub(crate) fn transmit_data(&mut self, now: Instant, out: &mut Segment) -> Option<usize> {
        let (seen, fresh) = self.scheduler.take_validity(now);
        if self.send.written() == 0 && !self.writer.is_closed() {
            // A pure receiver has nothing to weigh.
            return None;
        }
        self.transmit_written(now, seen, fresh, out)
    }

    /// The same where something was written. The candidates were `seen` before, and are `fresh`.
    #[inline(never)]
    fn transmit_written(
        &mut self,
        now: Instant,
        seen: bool,
        fresh: bool,
        out: &mut Segment,
    ) -> Option<usize> {
        if self.send.unsent() == 0 && self.send.nothing_in_flight() {
            return self.on_nothing_written(now);
        }
        if self.is_single_path() {
            // It was looked at when the segment before had left, if that is fresh.
            if !(seen && fresh)
                && let Some(limit) = self.single_path_limit(now)
            {
                return self.on_blocked(now, limit, false);
            }
            if let Some(sent) = self.transmit_single_path(now, out) {
                return Some(sent);
            }
        }
        if !seen || self.scheduler.candidates().is_empty() {
            self.find_candidates(now);
        } else if !fresh {
            self.refresh_stale_candidate(now);
        }
        self.transmit_on(now, out)
    }

    /// Does what needs the candidates and may change the connection.
    pub(crate) fn with_candidates<T>(&mut self, act: impl FnOnce(&mut Self, &[Candidate]) -> T) -> T {
        let candidates = self.scheduler.take_candidates();
        let result = act(self, &candidates);
        self.scheduler.restore_candidates(candidates);
        result
    }

    /// Whether there is one subflow, which may carry data, and nothing but new data could go: then nobody is to be chosen, and no
    /// candidates are made. Who observes is shown them all the same.
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

    /// New data on the only subflow, which has room; None, and nothing done, where there is more to be looked at: something has to
    /// begin anew, to wait for more, or for the peer's window.
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

    /// Nobody has looked at the candidates since the segment before.
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
        if self.timers.since_progress(now) >= NO_PROGRESS
            && let Some((id, start)) =
                self.with_candidates(|own, candidates| own.find_opportunistic(now, candidates))
        {
            return self.reinject_on(now, start, id, out);
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
        let before = self.send.next();
        let sent = self.send_new(now, id, size, out);
        self.scheduler.on_chosen_sent(now, id, self.send.next() - before);
        Some(sent)
    }

    /// Asks the scheduler, where there is anything to be chosen.
    #[inline(always)]
    pub(crate) fn choose(&mut self, now: Instant) -> Option<usize> {
        let candidates = self.scheduler.candidates();
        if let [only] = candidates {
            return only.is_available.then_some(0);
        }
        if candidates.iter().any(|candidate| candidate.is_available) { self.choose_among(now) } else { None }
    }

    #[inline(never)]
    fn choose_among(&mut self, now: Instant) -> Option<usize> {
        self.with_candidates(|own, candidates| own.scheduler.choose(&own.view(now, candidates)))
    }

    pub(crate) fn view<'a>(&self, now: Instant, candidates: &'a [Candidate]) -> SendView<'a> {
        let outgoing = &self.send;
        SendView {
            now,
            candidates,
            unsent: outgoing.unsent(),
            writer_blocked: self.writer.is_blocked(),
            in_flight: outgoing.next() - outgoing.una(),
            window_space: outgoing.window_space(),
            send_buffer: self.send_buffer(),
        }
    }

    /// A scheduler that waits is asked again when a subflow should have answered; where one is overdue, after as long again.
    #[inline(never)]
    fn schedule_retry(&mut self, now: Instant) {
        for candidate in self.scheduler.candidates().iter().filter(|candidate| candidate.in_flight > 0) {
            let Some(oldest) = self.subflows[candidate.subflow].sender().board.queue.front() else {
                continue;
            };
            let due =
                oldest.sent_at + self.congestion.paths[candidate.subflow].ack_time_bound(candidate.in_flight);
            let late = candidate.path.overdue.max(SHORTEST_WAIT);
            self.timers.wake_at(if due > now { due } else { now + late });
        }
    }

    /// A scheduler that waits while nothing is under way waits for nothing.
    #[inline(never)]
    pub(crate) fn fallback_when_idle(&self, candidates: &[Candidate]) -> Option<usize> {
        if self.subflows.iter().any(|subflow| !subflow.sender().is_idle() || !subflow.backlog().is_empty()) {
            return None;
        }
        let with_room = candidates.iter().enumerate().filter(|(_, candidate)| candidate.is_available);
        with_room.min_by_key(|(_, candidate)| candidate.srtt).map(|(position, _)| position)
    }

    /// Everything written is in flight. What M1 and M2 do for a full receive window they do here for
    /// a full send buffer; an application that has no more to say calls for no penalty.
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

    /// The window has no room for a full segment.
    #[inline(never)]
    fn on_closed_window(&mut self, now: Instant, id: usize, size: u64, out: &mut Segment) -> Option<usize> {
        let open = self.send.window_space();
        // RFC 9293 section 3.8.6.2.1 (MUST-38): a part is sent when it is half of the largest window, or when the override timeout has
        // passed, which is the window probe's.
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
        let limit = if self.peer_holds_early_data() { Limit::HeadOfLine } else { Limit::ReceiveWindow };
        self.on_blocked(now, limit, true)
    }

    /// Carries the oldest requested chunk on a subflow that has not carried it yet.
    #[inline(never)]
    fn transmit_reinjection(&mut self, now: Instant, out: &mut Segment) -> Option<usize> {
        let (start, id) = self.with_candidates(Self::next_reinjection)?;
        self.reinject_on(now, start, id, out)
    }

    /// The oldest requested chunk, and the subflow that has not carried it yet and is to; it is no longer requested then.
    pub(crate) fn next_reinjection(&mut self, candidates: &[Candidate]) -> Option<(u64, usize)> {
        while let Some(start) = self.send.first_reinjection() {
            let una = self.send.una();
            let Some(chunk) =
                self.send.chunk_at(start).filter(|chunk| chunk.is_queued() && chunk.end() > una)
            else {
                self.send.pop_reinjection();
                continue;
            };
            // A working subflow that has yet to get it through will do so by its own retransmissions;
            // so will those in a stall, when there is no other to take it.
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
            // Not where options are eaten: a peer that has fallen back would take it for what follows.
            let fresh = candidates.iter().filter(|c| c.is_available && !chunk.carried_by(c.subflow));
            let fresh = fresh.filter(|c| !self.subflows[c.subflow].scheduling().options_stripped);
            let id = fresh.min_by_key(|c| c.srtt)?.subflow;
            self.send.pop_reinjection();
            return Some((start, id));
        }
        None
    }

    /// Puts the chunk at `start` on a further subflow: as much of it as fits into one segment there.
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

    /// The redundant scheduler: the first chunk that some subflow with room has not carried.
    #[inline(never)]
    fn transmit_redundant(&mut self, now: Instant, out: &mut Segment) -> Option<usize> {
        for at in 0..self.scheduler.candidates().len() {
            let Candidate { subflow: id, is_available: true, .. } = self.scheduler.candidates()[at] else {
                continue;
            };
            let Some(start) = self.send.first_not_on(id, &mut self.subflows[id].scheduling_mut().duplicated)
            else {
                continue;
            };
            self.send.split(start, self.largest_payload(id));
            let (subflow, next) = (self.subflow_id(id), self.subflows[id].sender().board.next);
            let Some(chunk) = self.send.chunk_at(start) else { continue };
            let queued = chunk.is_queued();
            chunk.map_to(SubflowMapping { subflow, end: next + chunk.payload().len() as u64 });
            chunk.set_queued(queued);
            let (data, payload) = (chunk.start(), chunk.payload().clone());
            self.subflows[id].record_mut().stats.bytes_reinjected += payload.len() as u64;
            return Some(self.send_reinjection(now, id, data, payload, out));
        }
        None
    }
}

impl Connection {
    /// Nothing is in flight on a subflow that is about to send new data.
    #[cold]
    pub(crate) fn restart_from_idle(&mut self, now: Instant, id: usize) {
        let sender = self.subflows[id].sender();
        let Some(idle) = sender.last_sent.map(|at| now.since(at)) else { return };
        if self.config.restart_after_idle == Some(true) && !sender.is_sampled() {
            self.restart_after_idle(now, id);
        }
        let sender = self.subflows[id].sender();
        // Draft-ietf-ccwg-bbr section 5.4.1: who works by samples begins anew only where there was less to send than could have been.
        if sender.is_limited() {
            self.congestion.on_restart(id, now, idle);
        }
    }

    /// Nothing more to send now.
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

    /// All that was written was sent and acknowledged.
    pub(crate) fn on_nothing_written(&mut self, now: Instant) -> Option<usize> {
        let over = self.lifecycle.closed().is_some() || self.congestion.paths.is_empty();
        let limit = if over { Limit::Idle } else { self.writer_limit(self.has_open_window()) };
        self.on_blocked(now, limit, false);
        if self.writer.is_closed() {
            // What a finished stream leaves to TIME-WAIT and to the other direction is no wait for the application.
            self.limits.note(now, Limit::Idle);
        }
        None
    }

    /// Nothing more is to be sent now: tells the subflows whose controller works by the rate at which data arrives, and that
    /// could have sent more.
    #[cold]
    fn note_idle_windows(&mut self, now: Instant, limit: Limit) {
        // The peer may hold early data while all that was written is under way, or while its window is full.
        let permit = limit == Limit::HeadOfLine && self.send.unsent() == 0;
        if !permit && !matches!(limit, Limit::Application | Limit::SendBuffer | Limit::Scheduler) {
            return;
        }
        for (subflow, path) in self.subflows.iter_mut().zip(&self.congestion.paths) {
            if subflow.scheduling().held_until <= now {
                subflow.sender_mut().note_idle_window(path);
            }
        }
    }

    fn restart_after_idle(&mut self, now: Instant, id: usize) {
        let sender = self.subflows[id].sender();
        let rto = sender.timeout.after(&self.congestion.paths[id]);
        let Some(stale_state) =
            sender.last_sent.map(|at| now.since(at)).filter(|stale_state| *stale_state > rto)
        else {
            return;
        };
        let path = &mut self.congestion.paths[id];
        path.ssthresh = path.ssthresh.max(path.cwnd / 4 * 3);
        let least = (path.mss * u64::from(self.config.initial_window)).min(path.cwnd);
        let mut left = stale_state - rto;
        while !left.is_zero() && path.cwnd > least {
            path.cwnd /= 2;
            left = left - left.min(rto);
        }
        path.cwnd = path.cwnd.max(least);
    }
}

impl Connection {
    /// Whether nothing follows the new data that was given just now, so that nobody need ask; all that the question would have changed
    /// has changed then. Who observes is asked, and tells why nothing goes.
    #[inline]
    pub(crate) fn would_block(&mut self, now: Instant) -> bool {
        let simple = self.scheduler.is_valid(now)
            && self.observer.is_none()
            && self.send.unsent() > 0
            && self.send.first_reinjection().is_none()
            && !self.scheduler.is_redundant()
            && !self.writer.is_closed()
            && self.lifecycle.closed().is_none()
            && self.pending_options.is_empty()
            && !self.timers.is_probe_wanted();
        simple && self.is_out_of_room(now)
    }

    /// Looks at the candidates again; where none has room, it rests.
    #[inline]
    fn is_out_of_room(&mut self, now: Instant) -> bool {
        self.scheduler.set_refreshed();
        if self.scheduler.candidates().is_empty() {
            // There is one subflow, of which none was made.
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
}
