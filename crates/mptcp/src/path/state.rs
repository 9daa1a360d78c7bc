//! The state of one path: windows, RTT statistics and estimates.
//!
//! Controllers change the window, and schedulers predict from the estimates when data arrives. Owns the RTT
//! estimator (RFC 6298), the growth of the window, and the arrival formula. Never decides when the window
//! changes. Times in [`PathEstimate`] methods are floating-point seconds, because they are combined with
//! rates.

use mptcp_clock::{Duration, Instant, math};

use crate::path::local_queue::LocalQueue;
use crate::path::{PRIOR_RATE, PathModel};

/// Maximum delay of the acknowledgement of a single segment: WCDelAckT of RFC 8985 section 7.2.
const DELAYED_ACK: Duration = Duration::from_millis(200);

/// The state of one path. Windows count payload bytes.
#[derive(Clone, Debug, Default)]
pub struct Path {
    /// Congestion window, bytes.
    pub cwnd: u64,
    /// Slow start threshold, bytes; `u64::MAX` before the first reduction.
    pub ssthresh: u64,
    /// Payload of a full-sized segment, bytes.
    pub mss: u64,
    /// Smoothed RTT; `None` before the first sample.
    pub srtt: Option<Duration>,
    /// RTT variation (RTTVAR of RFC 6298).
    pub rttvar: Duration,
    /// Latest RTT sample.
    pub latest_rtt: Option<Duration>,
    /// The last four RTT samples, in a ring; zero before they are taken.
    pub last_rtts: [Duration; 4],
    /// Number of RTT samples.
    pub samples: u64,
    /// Minimum RTT.
    pub min_rtt: Option<Duration>,
    /// Unacknowledged bytes.
    pub unacked: u64,
    /// Rate, loss and queue estimates.
    pub model: PathModel,
    /// The queue of the local interface.
    pub local: LocalQueue,
    /// Pacing rate, bytes per second; `None` for no pacing.
    pub pacing: Option<f64>,
    /// Burst size with pacing, bytes; at least one segment is sent. Longer bursts save wakeups of the driver.
    pub quantum: u64,
    /// Whether a rate-based controller keeps less in flight than the path could carry. Rate samples then
    /// count as application-limited.
    pub held_back: bool,
    /// Whether the path carries data; coupled algorithms ignore inactive paths.
    pub active: bool,
    /// Growth of the window by a fraction of a byte, carried over.
    pub credit: f64,
    /// Conservative slow start, with a quarter of the growth (RFC 9406 section 4.2).
    pub conservative: bool,
}

impl Path {
    /// Creates a path with an initial window of `segments` segments.
    pub(crate) fn new(mss: u64, segments: u32) -> Self {
        Self { cwnd: mss * u64::from(segments), ssthresh: u64::MAX, mss, ..Self::default() }
    }

    /// Records an RTT sample of a segment that was sent once (RFC 6298 sections 2.2 and 2.3).
    pub(crate) fn sample(&mut self, rtt: Duration) {
        self.last_rtts[self.samples as usize % 4] = rtt;
        self.latest_rtt = Some(rtt);
        self.samples += 1;
        self.min_rtt = Some(self.min_rtt.map_or(rtt, |min| min.min(rtt)));
        match self.srtt {
            None => {
                self.srtt = Some(rtt);
                self.rttvar = rtt / 2;
            }
            Some(srtt) => {
                self.rttvar = (self.rttvar * 3 + srtt.abs_diff(rtt)) / 4;
                self.srtt = Some((srtt * 7 + rtt) / 8);
            }
        }
    }

    /// Bottleneck rate, payload bytes per second, from acknowledgement trains and complete rounds. In slow start
    /// without a queue, it is at least the window per RTT, because the measurements belong to a smaller window.
    #[must_use]
    pub fn rate(&self) -> f64 {
        let (Some(measured), Some(round)) = (self.model.delivery.bottleneck(), self.srtt) else {
            return PRIOR_RATE;
        };
        if self.is_ramping() {
            measured.max(self.cwnd as f64 / round.as_secs_f64().max(1e-6))
        } else {
            measured
        }
    }

    /// Whether the window doubles every RTT, and the latest RTT shows no queue.
    fn is_ramping(&self) -> bool {
        let min_rtt = self.min_rtt.unwrap_or_default();
        self.in_slow_start() && self.latest_rtt.is_some_and(|latest| latest <= min_rtt + min_rtt / 8)
    }

    /// Queueing delay of a packet sent now behind packets of this path: the virtual queue, limited by the data in flight.
    #[inline]
    pub(crate) fn own_queue(&self, now: Instant, in_flight: u64, rate: f64) -> Duration {
        let wait = self.model.queue.wait(now);
        if wait.is_zero() { wait } else { wait.min(Duration::from_secs_f64(in_flight as f64 / rate)) }
    }

    /// Maximum time until an acknowledgement: the smoothed RTT plus the RTT variation (RFC 6298 section 2.3) or the
    /// reordering window (RFC 8985 section 6.2). The acknowledgement of a single segment may be delayed.
    pub(crate) fn ack_time_bound(&self, in_flight: u64) -> Duration {
        let delayed = if in_flight < 2 * self.mss { DELAYED_ACK } else { Duration::ZERO };
        self.srtt.unwrap_or_default() + (self.rttvar * 4).max(self.min_rtt.unwrap_or_default() / 4) + delayed
    }

    /// Whether there is a standing queue at the bottleneck, whichever flows cause it.
    pub(crate) fn is_queue_standing(&self) -> bool {
        self.model.standing.is_longer_than(Duration::ZERO)
    }

    /// Whether there is a standing queue of other flows at the bottleneck.
    pub(crate) fn is_cross_queue_standing(&self) -> bool {
        self.model.standing.is_longer_than(self.model.queue.longest())
    }

    /// Whether more is in flight than the window after the last congestion loss: the next loss is near.
    pub(crate) fn is_probing(&self, in_flight: u64) -> bool {
        in_flight + self.mss > self.ssthresh && !self.model.losses.last_is_random()
    }

    /// Loss probability of a segment, 0 to 1.
    pub(crate) fn loss(&self, now: Instant) -> f64 {
        self.model
            .losses
            .interval(now, self.mss)
            .map_or(0.0, |interval| (self.mss as f64 / interval.max(1.0)).min(1.0))
    }

    /// Records `bytes` of new data sent.
    #[inline]
    pub(crate) fn on_sent(&mut self, now: Instant, bytes: u64) {
        let time = Duration::from_secs_f64(bytes as f64 / self.rate());
        self.model.queue.on_sent(now, time, self.srtt.unwrap_or_default());
    }

    /// Estimates at `now` with `in_flight` bytes in flight, the oldest sent at `oldest`.
    pub(crate) fn estimate(&self, now: Instant, in_flight: u64, oldest: Option<Instant>) -> PathEstimate {
        let base_rtt = self.min_rtt.unwrap_or_default();
        let rate = self.rate();
        // The RTT of a single segment includes the peer's delayed acknowledgement (RFC 9293 section 3.8.6.3).
        let alone = in_flight < 2 * self.mss;
        let own_queue = self.own_queue(now, in_flight, rate);
        let cross_queue = if alone {
            Duration::ZERO
        } else {
            self.recent_min_rtt() - (base_rtt + self.model.queue.longest())
        };
        let expected = self.ack_time_bound(in_flight);
        let overdue = oldest.map_or(Duration::ZERO, |oldest| now.since(oldest) - expected);
        let found = self.model.delivery.burst_rate().is_some() || !self.in_slow_start();
        let max_rate = if found { rate } else { f64::INFINITY };
        let lead = self.model.lead;
        PathEstimate {
            rttvar: self.rttvar,
            base_rtt,
            rate,
            max_rate,
            own_queue,
            cross_queue,
            overdue,
            lead,
            loss: 0.0,
            is_probing: self.is_probing(in_flight),
        }
    }

    /// Minimum of the last four RTT samples; zero before the first.
    pub(crate) fn recent_min_rtt(&self) -> Duration {
        self.last_rtts.into_iter().filter(|rtt| !rtt.is_zero()).min().unwrap_or_default()
    }

    /// Whether the window grows exponentially.
    #[must_use]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Slow start (RFC 5681 section 3.1, with the byte counting of RFC 3465): increases the window by `bytes` up to
    /// ssthresh. Returns the bytes left for congestion avoidance.
    pub fn slow_start(&mut self, bytes: u64) -> u64 {
        // RFC 9406 section 4.2: CSS_GROWTH_DIVISOR.
        let bytes = if self.conservative { bytes / 4 } else { bytes };
        let grown = (self.cwnd + bytes).min(self.ssthresh.max(self.cwnd));
        let used = grown - self.cwnd;
        self.cwnd = grown;
        bytes - used
    }

    /// Changes the window by `bytes`, and carries the fraction over. A reduction stops at two segments.
    pub fn grow(&mut self, bytes: f64) {
        self.credit += bytes;
        if self.credit >= 1.0 {
            let whole = self.credit as u64;
            self.cwnd += whole;
            self.credit -= whole as f64;
        } else if self.credit <= -1.0 {
            let whole = self.credit.ceil();
            self.cwnd = self.cwnd.saturating_sub((-whole) as u64).max(self.cwnd.min(2 * self.mss));
            self.credit -= whole;
        }
    }
}

/// Segments that are delayed by one loss: a block of 8 KiB and a few segments around it.
const BLOCK_SEGMENTS: f64 = 10.0;

/// Estimates of a path at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct PathEstimate {
    /// Base RTT: the minimum sample; zero before the first.
    pub base_rtt: Duration,
    /// RTT variation (RTTVAR of RFC 6298).
    pub rttvar: Duration,
    /// Bottleneck rate, payload bytes per second; [`PRIOR_RATE`](crate::path::PRIOR_RATE) before the first measurement.
    pub rate: f64,
    /// Upper bound of the bottleneck rate, payload bytes per second; infinite until slow start has found it.
    pub max_rate: f64,
    /// Queueing delay behind packets of this path.
    pub own_queue: Duration,
    /// Queueing delay behind packets of other flows.
    pub cross_queue: Duration,
    /// Time by which the oldest data in flight is overdue; zero if acknowledgements arrive in time.
    pub overdue: Duration,
    /// Time by which a DATA_ACK on another path precedes the acknowledgement on this path.
    pub lead: Duration,
    /// Loss probability of a segment, 0 to 1.
    pub loss: f64,
    /// Whether more is in flight than the window after the last congestion loss: the next loss is near.
    pub is_probing: bool,
}

impl PathEstimate {
    /// Seconds within which `length` bytes, sent after `ahead` other bytes, arrive with probability
    /// `quantile` (0 to 1). A quantile of at most 0.5 means the mean without losses.
    #[must_use]
    pub fn arrival(&self, ahead: u64, length: u64, quantile: f64) -> f64 {
        let propagation = self.base_rtt.as_secs_f64() / 2.0;
        let queue = (self.own_queue + self.cross_queue + self.overdue).as_secs_f64();
        propagation + queue + (ahead + length) as f64 / self.rate + self.repair(quantile)
    }

    /// Mean seconds until a DATA_ACK arrives for `length` bytes that are sent after `ahead` other bytes.
    #[must_use]
    pub fn acknowledgement(&self, ahead: u64, length: u64) -> f64 {
        let reverse_delay = (self.base_rtt / 2).as_secs_f64();
        (self.arrival(ahead, length, 0.0) + reverse_delay - self.lead.as_secs_f64()).max(0.0)
    }

    /// Seconds that a block of data waits for a lost segment, at the quantile `quantile` of all blocks.
    ///
    /// A repair takes two RTTs on average: one to detect the loss, one for the retransmission. Its duration is assumed
    /// to be exponentially distributed. If a fraction `h` of the blocks has a loss, the quantile `q` is
    /// `mean * ln(h / (1 - q))`. The result is at least one mean if the next loss is near.
    #[must_use]
    pub fn repair(&self, quantile: f64) -> f64 {
        if quantile <= 0.5 {
            return 0.0;
        }
        let times = math::ln(self.loss * BLOCK_SEGMENTS / (1.0 - quantile)).max(0.0);
        (times * self.mean_repair()).max(self.near_repair())
    }

    /// Mean repair time in seconds if the next loss is near; otherwise zero.
    #[must_use]
    pub fn near_repair(&self) -> f64 {
        if self.is_probing { self.mean_repair() } else { 0.0 }
    }

    fn mean_repair(&self) -> f64 {
        2.0 * (self.base_rtt + self.own_queue + self.cross_queue).as_secs_f64()
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod estimate_tests {
    use super::*;

    /// A path with 40 ms RTT and 1 MB/s.
    fn path() -> PathEstimate {
        PathEstimate {
            base_rtt: Duration::from_millis(40),
            rate: 1e6,
            max_rate: 1e6,
            ..PathEstimate::default()
        }
    }

    fn is(found: f64, expected_ms: f64) -> bool {
        (1e3 * found - expected_ms).abs() < 1e-6
    }

    #[test]
    fn data_arrives_after_all_earlier_data() {
        let mut path = path();
        assert!(is(path.arrival(0, 1_000, 0.0), 21.0));
        assert!(is(path.arrival(9_000, 1_000, 0.0), 30.0));
        path.own_queue = Duration::from_millis(5);
        path.cross_queue = Duration::from_millis(3);
        path.overdue = Duration::from_millis(2);
        assert!(is(path.arrival(0, 1_000, 0.0), 31.0));
    }

    #[test]
    fn data_ack_arrives_half_a_base_rtt_later_minus_the_lead() {
        let mut path = path();
        assert!(is(path.acknowledgement(0, 1_000), 41.0));
        path.lead = Duration::from_millis(11);
        assert!(is(path.acknowledgement(0, 1_000), 30.0));
        path.lead = Duration::from_secs(1);
        assert!(is(path.acknowledgement(0, 1_000), 0.0));
    }

    #[test]
    fn losses_affect_the_tail_if_more_blocks_have_one_than_the_tail_contains() {
        let mut path = path();
        path.loss = 0.001;
        assert!(is(path.repair(0.99), 0.0), "one block in a hundred");
        path.loss = 0.001 * std::f64::consts::E;
        assert!(is(path.repair(0.99), 80.0), "two RTTs");
        assert!(is(path.repair(0.5), 0.0), "the mean is without losses");
    }

    #[test]
    fn probing_path_expects_its_next_loss() {
        let mut path = path();
        (path.is_probing, path.own_queue) = (true, Duration::from_millis(10));
        assert!(is(path.near_repair(), 100.0) && is(path.repair(0.99), 100.0));
        assert!(is(path.repair(0.0), 0.0));
    }
}
