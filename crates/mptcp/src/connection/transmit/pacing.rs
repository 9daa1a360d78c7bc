//! Pacing and Nagle's algorithm: when a path may send its next segment, so that a full window is not sent as one burst.
//!
//! Owns the pacing rate. A congestion controller may set it. Otherwise, once unused window has accumulated, it is
//! slightly above the window per RTT, as in Linux's internal pacing. It also stays close to the measured bottleneck
//! bandwidth, because a window that the receive window limits grows far beyond the path's capacity.
//!
//! Segments that acknowledgements clock are not paced: pacing them would cost a path its share of a drop-tail queue.
//! With an empty queue there is no share to lose, and a small buffer has no space for a burst, so bursts are shorter.
//! Retransmissions are paced only for controllers that use rate samples. Never times how long corked data waits: the
//! timers do.

use mptcp_clock::{Duration, Instant};

use crate::connection::Connection;

/// Linux's `tcp_pacing_ss_ratio`: in slow start the window doubles in each RTT.
const SLOW_START_RATIO: f64 = 2.0;
/// Linux's `tcp_pacing_ca_ratio`.
const AVOIDANCE_RATIO: f64 = 1.2;
/// The pacing rate as a multiple of the measured bottleneck bandwidth. Above 1, so that a higher bandwidth can be
/// measured. At the end of the stream no more measurements are needed.
const PROBE: f64 = 1.25;
/// Limits for back-to-back segments.
#[derive(Clone, Copy)]
struct Row {
    /// Segments that may be sent back to back before pacing starts.
    most: u32,
    /// Segments that are blocked together, so that a timer need not run for each of them.
    wait: u32,
}

/// The initial window (RFC 6928).
const LONG_BURST: Row = Row { most: 10, wait: 4 };
/// The limit while the queue is empty, after slow start: four segments, the largest initial window of RFC 3390.
const SHORT_BURST: Row = Row { most: 4, wait: 2 };
/// A queue is assumed if the RTT exceeds the minimum RTT by more than one part in this number.
const QUEUE_DIVISOR: u64 = 8;

impl Connection {
    /// Whether pacing delays a retransmission; if so, sets a timer. A tail loss probe and the first retransmission
    /// after a timeout are not delayed, as in Linux. Both have waited, and the pacing deadline may be old.
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

    /// Updates the pacing of a path after new data of `bytes` was sent.
    #[inline(always)]
    pub(crate) fn pace(&mut self, now: Instant, id: usize, bytes: u64) {
        if self.subflows.len() > 1 {
            // With one path there is no other to compare it with.
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
            // The common case. The rest of a paced burst keeps its deadline.
            subflow.scheduling_mut().next_send = now;
            return;
        }
        self.set_pace(now, id, bytes, room);
    }

    /// Delays the final, small segment of a closed stream behind a queue until the bottleneck has space for it. TCP,
    /// whose segments carry more payload, may not need this segment. The delay does not make the segment arrive later.
    /// Nothing behind it would reveal its loss in a full queue.
    #[inline(never)]
    pub(crate) fn delay_last_segment(&mut self, now: Instant, id: usize) {
        let (remaining, path) = (self.send.unsent(), &self.congestion.paths[id]);
        if !(1..path.mss).contains(&remaining) || self.negotiation.is_plain() || path.pacing.is_some() {
            return;
        }
        let (Some(latest), Some(min_rtt)) = (path.latest_rtt, path.min_rtt) else { return };
        if latest <= min_rtt + min_rtt / QUEUE_DIVISOR {
            return;
        }
        // In slow start, half of the data in flight was in flight one RTT ago.
        let in_flight = self.subflows[id].sender().in_flight().max(path.mss);
        let segment = latest.mul_f64(3.0 * path.mss as f64 / in_flight as f64);
        self.subflows[id].scheduling_mut().held_until =
            now + segment.min(Duration::from_nanos(latest.as_nanos() - min_rtt.as_nanos()));
    }

    /// Sets the deadline of a path that has a pacing rate or unused window.
    #[inline(never)]
    fn set_pace(&mut self, now: Instant, id: usize, bytes: u64, room: u64) {
        let path = &self.congestion.paths[id];
        let quantum = path.quantum;
        if let Some(rate) = path.pacing {
            let scheduling = self.subflows[id].scheduling_mut();
            scheduling.next_send =
                scheduling.next_send.max(now) + Duration::from_secs_f64(bytes as f64 / rate.max(1.0));
            // A quantum may be sent back to back, and the path waits for a full one.
            let burst = Duration::from_secs_f64(quantum.saturating_sub(bytes / 2) as f64 / rate.max(1.0));
            if scheduling.next_send >= now + burst {
                scheduling.held_until = scheduling.next_send;
            }
        } else if let Some(rtt) = path.srtt.filter(|_| self.config.pacing) {
            let empty = path.min_rtt.is_some_and(|min_rtt| rtt < min_rtt + min_rtt / QUEUE_DIVISOR);
            let burst = if empty && !path.in_slow_start() { SHORT_BURST } else { LONG_BURST };
            let scheduling = self.subflows[id].scheduling_mut();
            if room <= path.mss * u64::from(burst.most) && scheduling.next_send <= now {
                scheduling.next_send = now;
                return;
            }
            let ratio = if path.in_slow_start() { SLOW_START_RATIO } else { AVOIDANCE_RATIO };
            let probe = if self.writer.is_closed() { 1.0 } else { PROBE };
            // With a minimum RTT of zero the bandwidth is unbounded.
            let takes_time = path.min_rtt.is_some_and(|min_rtt| !min_rtt.is_zero());
            let line = path.model.delivery.line().filter(|_| takes_time).map(|line| (probe * line).max(1.0));
            let time = |bytes: u64| {
                let in_window = rtt.mul_f64(bytes as f64 / (ratio * path.cwnd.max(1) as f64));
                line.map_or(in_window, |line| in_window.max(Duration::from_secs_f64(bytes as f64 / line)))
            };
            scheduling.next_send = scheduling.next_send.max(now) + time(bytes);
            let segment = time(path.mss);
            if scheduling.next_send > now + segment * u64::from(burst.most) {
                scheduling.held_until = now + segment * u64::from(burst.wait);
            }
        }
    }
}

impl Connection {
    /// Whether a small segment for subflow `id` waits: for data in flight (Nagle, RFC 9293 section 3.7.4), or because
    /// the application corked it. Data in flight is judged at the subflow level, because Linux may send the DATA_ACK
    /// only with the answer to further data.
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

    /// Whether data in flight blocks a small segment. It counts on all subflows, or only on `id` if the scheduler
    /// places the small segments of an application-limited stream. In Minshall's variant only small segments in flight
    /// count. A subflow may then have two while another has none, so that a delayed acknowledgement blocks only one of
    /// them.
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

    /// Small segments in flight that a subflow may have while another subflow has none: 0 or 1.
    pub(crate) fn small_segment_allowance(&self) -> usize {
        usize::from(self.subflows.iter().any(|subflow| subflow.can_send() && subflow.small_in_flight() == 0))
    }

    /// Whether the application holds a small segment back. Nagle's algorithm does not count: Linux passes the data to a
    /// subflow, which may delay it itself (net/mptcp/protocol.c, `mptcp_sendmsg_frag`).
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
    pub(crate) fn only_small_ones_wait(&self) -> bool {
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
