//! Pacing: when a path may send its next segment, so that a full window is not sent as one burst.
//!
//! Owns the pacing rate. A congestion controller may set it. Otherwise, once unused window has accumulated,
//! the rate is slightly above the window per RTT, as in Linux's internal pacing. It also stays close to the
//! measured bottleneck bandwidth: if the receive window is the limit, the congestion window grows far beyond
//! the path's capacity.
//!
//! Segments that acknowledgements clock are not paced: pacing them would cost a path its share of a drop-tail
//! queue. With an empty queue, the path has no share to lose, but a small buffer may have no space for a
//! burst. Bursts are shorter then. Retransmissions are paced only for controllers that use rate samples.

use mptcp_clock::{Duration, Instant};

use crate::connection::Connection;

/// Linux's `tcp_pacing_ss_ratio`: in slow start the window doubles in each RTT.
const SLOW_START_RATIO: f64 = 2.0;
/// Linux's `tcp_pacing_ca_ratio`.
const AVOIDANCE_RATIO: f64 = 1.2;
/// The pacing rate as a multiple of the measured bottleneck bandwidth. Above 1, so that a higher bandwidth can be
/// measured. At the end of the stream no more measurements are needed.
const PROBE_GAIN: f64 = 1.25;
/// Limits for back-to-back segments.
#[derive(Clone, Copy)]
struct BurstLimit {
    /// Segments that may be sent back to back before pacing starts.
    most: u32,
    /// Segments that are blocked together, so that a timer need not run for each of them.
    wait: u32,
}

/// The usual limit: the initial window (RFC 6928).
const LONG_BURST: BurstLimit = BurstLimit { most: 10, wait: 4 };
/// The limit while the queue is empty, after slow start: four segments, the largest initial window of RFC 3390.
const SHORT_BURST: BurstLimit = BurstLimit { most: 4, wait: 2 };
/// A queue is assumed if the RTT exceeds the minimum RTT by more than one part in this number.
const QUEUE_DIVISOR: u64 = 8;

impl Connection {
    /// Whether pacing delays a retransmission; if so, sets a timer. A tail loss probe and the first
    /// retransmission after a timeout are not delayed, as in Linux. Both have waited for a timer, and the
    /// pacing deadline may be old.
    #[inline]
    pub(crate) fn retransmission_is_paced(&mut self, now: Instant, id: usize) -> bool {
        let until = self.subflows[id].scheduling().blocked_until;
        let sender = self.subflows[id].sender();
        let board = &sender.board;
        let urgent = sender.wants_probe() && board.lost == 0 || sender.in_loss() && board.retransmitted == 0;
        let is_delayed = sender.has_rate_samples() && until > now && !urgent;
        if is_delayed {
            self.timers.wake_at(until);
        }
        is_delayed
    }

    /// Updates the pacing of a path after new data of `bytes` was sent.
    #[inline(always)]
    pub(crate) fn pace(&mut self, now: Instant, id: usize, bytes: u64) {
        if self.subflows.len() > 1 {
            // Only a connection with several paths compares their use.
            self.congestion.paths[id].on_sent(now, bytes);
        }
        let (path, subflow) = (&self.congestion.paths[id], &mut self.subflows[id]);
        let is_short = path.min_rtt.is_some_and(|rtt| rtt < self.config.min_paced_rtt);
        if path.pacing.is_none() && (!self.config.pacing || path.srtt.is_none() || is_short) {
            return;
        }
        let space = path.cwnd.saturating_sub(subflow.sender().in_flight());
        if path.pacing.is_none()
            && space <= path.mss * u64::from(SHORT_BURST.most)
            && subflow.scheduling().next_paced_send <= now
        {
            // The common case. The rest of a paced burst keeps its deadline.
            subflow.scheduling_mut().next_paced_send = now;
            return;
        }
        self.set_pace(now, id, bytes, space);
    }

    /// Delays the final, small segment of a closed stream behind a queue until the bottleneck has space for it. TCP,
    /// whose segments carry more payload, may not need this segment. The delay does not make the segment arrive later.
    /// Without the delay, a full queue could drop the segment, and no later segment would reveal the loss.
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
        self.subflows[id].scheduling_mut().blocked_until =
            now + segment.min(Duration::from_nanos(latest.as_nanos() - min_rtt.as_nanos()));
    }

    /// Sets the pacing deadline of a path that has a pacing rate or unused window.
    #[inline(never)]
    fn set_pace(&mut self, now: Instant, id: usize, bytes: u64, space: u64) {
        let path = &self.congestion.paths[id];
        let quantum = path.quantum;
        if let Some(rate) = path.pacing {
            let scheduling = self.subflows[id].scheduling_mut();
            scheduling.next_paced_send =
                scheduling.next_paced_send.max(now) + Duration::from_secs_f64(bytes as f64 / rate.max(1.0));
            // A quantum may be sent back to back, and the path waits for a full one.
            let burst = Duration::from_secs_f64(quantum.saturating_sub(bytes / 2) as f64 / rate.max(1.0));
            if scheduling.next_paced_send >= now + burst {
                scheduling.blocked_until = scheduling.next_paced_send;
            }
        } else if let Some(rtt) = path.srtt.filter(|_| self.config.pacing) {
            let empty = path.min_rtt.is_some_and(|min_rtt| rtt < min_rtt + min_rtt / QUEUE_DIVISOR);
            let burst = if empty && !path.in_slow_start() { SHORT_BURST } else { LONG_BURST };
            let scheduling = self.subflows[id].scheduling_mut();
            if space <= path.mss * u64::from(burst.most) && scheduling.next_paced_send <= now {
                scheduling.next_paced_send = now;
                return;
            }
            let ratio = if path.in_slow_start() { SLOW_START_RATIO } else { AVOIDANCE_RATIO };
            let probe = if self.writer.is_closed() { 1.0 } else { PROBE_GAIN };
            // With a minimum RTT of zero the bandwidth is unbounded.
            let takes_time = path.min_rtt.is_some_and(|min_rtt| !min_rtt.is_zero());
            let line =
                path.model.delivery.link_rate().filter(|_| takes_time).map(|line| (probe * line).max(1.0));
            let time = |bytes: u64| {
                let in_window = rtt.mul_f64(bytes as f64 / (ratio * path.cwnd.max(1) as f64));
                line.map_or(in_window, |line| in_window.max(Duration::from_secs_f64(bytes as f64 / line)))
            };
            scheduling.next_paced_send = scheduling.next_paced_send.max(now) + time(bytes);
            let segment = time(path.mss);
            if scheduling.next_paced_send > now + segment * u64::from(burst.most) {
                scheduling.blocked_until = now + segment * u64::from(burst.wait);
            }
        }
    }
}

impl Connection {}
