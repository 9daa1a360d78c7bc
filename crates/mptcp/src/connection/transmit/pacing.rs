//! When a path may send again, so that what a full window has held back does not leave in one burst.
//!
//! Owns the pace: what the congestion controller asks for, or, where room has gathered in the window, a little more than
//! the window carries in a round trip, as Linux's internal pacing, and little more than the line carries, as far as bursts have told:
//! a window that the peer's holds back grows beyond all that the line and its queue hold, and when that one opens all of it would leave
//! at once. What acknowledgements clock is left to them: to spread that
//! too would cost a path its share of a drop-tail queue. Where the round trip shows no queue there is no share to be lost, and
//! what hurts is a burst: a buffer of ten packets has no room for one. Holds back what is sent again on its own subflow only
//! where the controller sets windows and paces by what arrives.
//!
//! Small segments wait for more: Nagle's algorithm, and the application's switches for it.
//!
//! Owns the rule; how long corked data waits is the timers' affair.

use mptcp_clock::{Duration, Instant};

use crate::connection::Connection;

/// Linux's `tcp_pacing_ss_ratio`: in slow start the window doubles in a round trip.
const SLOW_START_RATIO: f64 = 2.0;
/// Linux's `tcp_pacing_ca_ratio`.
const AVOIDANCE_RATIO: f64 = 1.2;
/// How many times as fast as its line a path may send, so that a line that is faster than it seems shows: bursts arrive no faster than they
/// leave. At the end of the stream there is nothing left to learn for.
const PROBE: f64 = 1.25;
/// What may leave in a row.
#[derive(Clone, Copy)]
struct Row {
    /// Segments for which room may be, and that may leave, before the pace counts.
    most: u32,
    /// Segments for which a path that was too fast waits, so that it need not be woken for each.
    wait: u32,
}

/// As many as an initial window (RFC 6928).
const LONG_BURST: Row = Row { most: 10, wait: 4 };
/// On a path whose queue is empty, once its window is known: four segments, the most that RFC 3390 lets a window begin with.
const SHORT_BURST: Row = Row { most: 4, wait: 2 };
/// By which part of the least round trip the usual one is longer where there is a queue.
const QUEUE_DIVISOR: u64 = 8;

impl Connection {
    /// Whether what is lost has to wait for its subflow's pace, and until when is noted. A tail loss probe does not, nor what
    /// goes first after a timeout: both have waited, and the pace may be one of long ago (as in Linux).
    #[inline]
    pub(crate) fn retransmission_is_paced(&mut self, now: Instant, id: usize) -> bool {
        let until = self.subflows[id].scheduling().held_until;
        let sender = self.subflows[id].sender();
        let board = &sender.board;
        let urgent = sender.wants_probe() && board.lost == 0 || sender.in_loss() && board.retransmitted == 0;
        let held = sender.is_sampled() && until > now && !urgent;
        if held {
            self.timers.wake_at(until);
        }
        held
    }

    /// New data leaves on a path.
    #[inline(always)]
    pub(crate) fn pace(&mut self, now: Instant, id: usize, bytes: u64) {
        if self.subflows.len() > 1 {
            // A single path is compared with none.
            self.congestion.paths[id].on_sent(now, bytes);
        }
        let (path, subflow) = (&self.congestion.paths[id], &mut self.subflows[id]);
        if path.pacing.is_none() && (!self.config.pacing || path.srtt.is_none()) {
            return;
        }
        let room = path.cwnd.saturating_sub(subflow.sender().in_flight());
        if path.pacing.is_none()
            && room <= path.mss * u64::from(SHORT_BURST.most)
            && subflow.scheduling().next_send <= now
        {
            // As nearly always. What is left of a paced row goes on at its pace.
            subflow.scheduling_mut().next_send = now;
            return;
        }
        self.set_pace(now, id, bytes, room);
    }

    /// What is left of a closed stream is less than a segment, and TCP, whose segments carry more, may have none: behind a queue it
    /// waits until the line has room for one more. It arrives no later, and is not what a full queue drops, which nothing behind it
    /// would tell.
    #[inline(never)]
    pub(crate) fn delay_last_segment(&mut self, now: Instant, id: usize) {
        let (left, path) = (self.send.unsent(), &self.congestion.paths[id]);
        if !(1..path.mss).contains(&left) || self.negotiation.is_plain() || path.pacing.is_some() {
            return;
        }
        let (Some(latest), Some(least)) = (path.latest_rtt, path.min_rtt) else { return };
        if latest <= least + least / QUEUE_DIVISOR {
            return;
        }
        // Half of what is in flight was so a round trip ago, where the window doubles.
        let in_flight = self.subflows[id].sender().in_flight().max(path.mss);
        let segment = latest.mul_f64(3.0 * path.mss as f64 / in_flight as f64);
        self.subflows[id].scheduling_mut().held_until =
            now + segment.min(Duration::from_nanos(latest.as_nanos() - least.as_nanos()));
    }

    /// The same where a pace is asked for, or room has gathered.
    #[inline(never)]
    fn set_pace(&mut self, now: Instant, id: usize, bytes: u64, room: u64) {
        let path = &self.congestion.paths[id];
        let quantum = path.quantum;
        if let Some(rate) = path.pacing {
            let scheduling = self.subflows[id].scheduling_mut();
            scheduling.next_send =
                scheduling.next_send.max(now) + Duration::from_secs_f64(bytes as f64 / rate.max(1.0));
            // A quantum may leave in a row, and is waited for as a whole.
            let row = Duration::from_secs_f64(quantum.saturating_sub(bytes / 2) as f64 / rate.max(1.0));
            if scheduling.next_send >= now + row {
                scheduling.held_until = scheduling.next_send;
            }
        } else if let Some(rtt) = path.srtt.filter(|_| self.config.pacing) {
            let empty = path.min_rtt.is_some_and(|least| rtt < least + least / QUEUE_DIVISOR);
            let row = if empty && !path.in_slow_start() { SHORT_BURST } else { LONG_BURST };
            let scheduling = self.subflows[id].scheduling_mut();
            if room <= path.mss * u64::from(row.most) && scheduling.next_send <= now {
                scheduling.next_send = now;
                return;
            }
            let ratio = if path.in_slow_start() { SLOW_START_RATIO } else { AVOIDANCE_RATIO };
            let probe = if self.writer.is_closed() { 1.0 } else { PROBE };
            // Where a round trip takes no time there is no line that would.
            let takes_time = path.min_rtt.is_some_and(|least| !least.is_zero());
            let line = path.model.delivery.line().filter(|_| takes_time).map(|line| (probe * line).max(1.0));
            let time = |bytes: u64| {
                let in_window = rtt.mul_f64(bytes as f64 / (ratio * path.cwnd.max(1) as f64));
                line.map_or(in_window, |line| in_window.max(Duration::from_secs_f64(bytes as f64 / line)))
            };
            scheduling.next_send = scheduling.next_send.max(now) + time(bytes);
            let segment = time(path.mss);
            if scheduling.next_send > now + segment * u64::from(row.most) {
                scheduling.held_until = now + segment * u64::from(row.wait);
            }
        }
    }
}

impl Connection {
    /// Nagle (RFC 9293 section 3.7.4): a small segment waits while data is in flight; corked, also when none is.
    /// What subflows have had acknowledged is not: Linux's DATA_ACK for it may come only with the answer to more. `id` is where it
    /// would go.
    #[inline(always)]
    pub(crate) fn waits_for_full_segment(&self, now: Instant, id: usize, size: u64, mss: u64) -> bool {
        // A segment that a record ends, and others follow, waits for nothing.
        if size >= mss || size < self.send.unsent() {
            return false;
        }
        let is_acknowledged = || self.send.next() == self.send.una();
        let nagle = self.config.nagle && !is_acknowledged() && self.nagle_blocks(now, id);
        let waits = self.writer.is_corked_or_more() || nagle;
        waits && !self.writer.is_closed() && !self.writer.is_pushing()
    }

    /// Whether there is data in flight that a small segment waits for: on any subflow, or on its own, where it is a stream's and was placed
    /// for that. In Minshall's variant only what is small itself holds small ones up; of a stream's two may be under way on one
    /// subflow while another has none: a delayed acknowledgement of the last block's then holds up no other block.
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

    /// How many small segments beyond one a subflow may have under way in place of another one.
    pub(crate) fn small_segment_allowance(&self) -> usize {
        usize::from(self.subflows.iter().any(|subflow| subflow.can_send() && subflow.small_in_flight() == 0))
    }

    /// Whether the application holds a small piece back, which Nagle's algorithm does not: a subflow of Linux's is given it, and may hold it
    /// back itself (net/mptcp/protocol.c, `mptcp_sendmsg_frag`).
    pub(crate) fn is_corked(&self, size: u64, mss: u64) -> bool {
        let writer = &self.writer;
        size < mss
            && size >= self.send.unsent()
            && writer.is_corked_or_more()
            && !writer.is_closed()
            && !writer.is_pushing()
    }

    /// Nagle's algorithm off or on; what waits goes when it is switched off, corked or not, as in Linux.
    pub(crate) fn set_nodelay(&mut self, nodelay: bool) {
        self.config.nagle = !nodelay;
        let pushing = self.writer.is_pushing() || (nodelay && self.send.unsent() > 0);
        self.writer.set_pushing(pushing);
    }

    /// Corked, small segments wait for more, for a limited time.
    pub(crate) fn set_cork(&mut self, corked: bool) {
        self.writer.set_cork(corked);
        if !corked {
            self.timers.disarm_cork();
        }
    }

    /// Nagle, by subflow: what is small and last waits while something small is under way (`tcp_nagle_check`, `tcp_minshall_check`).
    pub(crate) fn small_waits(&self, id: usize) -> bool {
        let subflow = &self.subflows[id];
        let mss = self.congestion.paths[id].mss;
        self.config.nagle
            && subflow.backlog().is_small(mss)
            && subflow.small_in_flight() > 0
            && !self.writer.is_closed()
    }

    /// Whether all that waits in queues is less than a segment, and waits for more of it.
    pub(crate) fn only_small_ones_wait(&self) -> bool {
        (0..self.subflows.len()).all(|id| self.subflows[id].backlog().is_empty() || self.small_waits(id))
    }

    /// Whether data waits in the queue of a subflow other than `id`, for its window.
    pub(crate) fn waits_elsewhere(&self, id: usize) -> bool {
        self.config.linux_stack.subflow_queues
            && (0..self.subflows.len()).any(|other| {
                other != id && !self.subflows[other].backlog().is_empty() && !self.small_waits(other)
            })
    }
}
