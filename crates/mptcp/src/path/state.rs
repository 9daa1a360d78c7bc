//! The state of one path.
//!
//! The estimates of a path at one moment, and the arrival time of data that is sent then.
//!
//! Times are seconds here, as floating-point numbers: they are added, compared and multiplied with rates.

use mptcp_clock::{Duration, Instant};

use crate::path::local_queue::LocalQueue;
use crate::path::{PRIOR_RATE, PathModel};

/// How long a peer may delay the acknowledgement of one segment: WCDelAckT of RFC 8985 section 7.2.
const DELAYED_ACK: Duration = Duration::from_millis(200);

/// The congestion state of one path. Windows count payload bytes.
#[derive(Clone, Debug, Default)]
pub struct Path {
    /// Congestion window, bytes.
    pub cwnd: u64,
    /// Slow start threshold, bytes.
    pub ssthresh: u64,
    /// Payload bytes of a full segment.
    pub mss: u64,
    /// Smoothed round-trip time, once measured.
    pub srtt: Option<Duration>,
    /// Variation of the round-trip time (RFC 6298's RTTVAR).
    pub rttvar: Duration,
    /// Latest sample of the round-trip time.
    pub latest_rtt: Option<Duration>,
    /// The last four, in turn; zero before them.
    pub last_rtts: [Duration; 4],
    /// How many samples there were.
    pub samples: u64,
    /// Smallest round-trip time seen.
    pub min_rtt: Option<Duration>,
    /// Bytes sent and not yet acknowledged.
    pub unacked: u64,
    /// Estimates of the path beyond its round trips.
    pub model: PathModel,
    /// The queue of this host's own interface.
    pub local: LocalQueue,
    /// The most bytes a second that the path may send; None for no limit but the window.
    pub pacing: Option<f64>,
    /// Bytes that may leave in a row at that rate, so that a driver need not wake for each segment; at least one segment does.
    pub quantum: u64,
    /// A controller that works by samples keeps less under way than the path could carry: samples of it say so.
    pub held_back: bool,
    /// Whether the path carries data now; a coupled algorithm leaves the others out.
    pub active: bool,
    /// Growth owed but not yet a whole byte.
    pub credit: f64,
    /// Slow start grows at a quarter of its speed (conservative slow start, RFC 9406 section 4.2).
    pub conservative: bool,
}

impl Path {
    /// A path with an initial window of `segments` segments.
    pub(crate) fn new(mss: u64, segments: u32) -> Self {
        Self { cwnd: mss * u64::from(segments), ssthresh: u64::MAX, mss, ..Self::default() }
    }

    /// A segment that was sent once took `rtt` (Karn): RFC 6298 sections 2.2 and 2.3.
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

    /// Bottleneck rate, bytes of payload a second: what bursts and whole round trips showed. In slow start without a queue it is at least what the
    /// window carries, because what was measured is of a smaller one.
    #[must_use]
    pub fn rate(&self) -> f64 {
        let (Some(measured), Some(round)) = (self.model.delivery.bottleneck(), self.srtt) else {
            return PRIOR_RATE;
        };
        if self.ramps() { measured.max(self.cwnd as f64 / round.as_secs_f64().max(1e-6)) } else { measured }
    }

    /// Whether the window doubles in each round trip, and the latest one shows no queue.
    fn ramps(&self) -> bool {
        let least = self.min_rtt.unwrap_or_default();
        self.in_slow_start() && self.latest_rtt.is_some_and(|latest| latest <= least + least / 8)
    }

    /// How long a packet that leaves now waits behind those of this path: the virtual queue, or less where that much is no longer in flight.
    #[inline]
    pub(crate) fn own_queue(&self, now: Instant, in_flight: u64, rate: f64) -> Duration {
        let wait = self.model.queue.wait(now);
        if wait.is_zero() { wait } else { wait.min(Duration::from_secs_f64(in_flight as f64 / rate)) }
    }

    /// How long an answer may take: as far beyond the smoothed RTT as samples vary (RFC 6298 section 2.3), or as segments may be reordered (RFC 8985
    /// section 6.2). A peer may delay the answer to one segment alone.
    pub(crate) fn ack_time_bound(&self, in_flight: u64) -> Duration {
        let delayed = if in_flight < 2 * self.mss { DELAYED_ACK } else { Duration::ZERO };
        self.srtt.unwrap_or_default() + (self.rttvar * 4).max(self.min_rtt.unwrap_or_default() / 4) + delayed
    }

    /// Whether a queue stands at the bottleneck, whoever filled it.
    pub(crate) fn is_queue_standing(&self) -> bool {
        self.model.standing.is_longer_than(Duration::ZERO)
    }

    /// Whether a queue of other flows stands there.
    pub(crate) fn is_cross_queue_standing(&self) -> bool {
        self.model.standing.is_longer_than(self.model.queue.longest())
    }

    /// Whether more is in flight than the last congestive loss left of the window: the next one is near.
    pub(crate) fn is_probing(&self, in_flight: u64) -> bool {
        in_flight + self.mss > self.ssthresh && !self.model.losses.last_is_random()
    }

    /// Probability that a segment is lost, 0 to 1.
    pub(crate) fn loss(&self, now: Instant) -> f64 {
        self.model
            .losses
            .interval(now, self.mss)
            .map_or(0.0, |interval| (self.mss as f64 / interval.max(1.0)).min(1.0))
    }

    /// New data leaves, bytes.
    #[inline]
    pub(crate) fn on_sent(&mut self, now: Instant, bytes: u64) {
        let time = Duration::from_secs_f64(bytes as f64 / self.rate());
        self.model.queue.on_sent(now, time, self.srtt.unwrap_or_default());
    }

    /// The estimates at `now`, with `in_flight` bytes in flight, the oldest of which were sent at `oldest`.
    pub(crate) fn estimate(&self, now: Instant, in_flight: u64, oldest: Option<Instant>) -> PathEstimate {
        let base_rtt = self.min_rtt.unwrap_or_default();
        let rate = self.rate();
        // The answer to one segment alone says how long the peer delays acknowledgements (RFC 9293 section 3.8.6.3).
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
        let most = if found { rate } else { f64::INFINITY };
        let lead = self.model.lead;
        PathEstimate {
            rttvar: self.rttvar,
            base_rtt,
            rate,
            most,
            own_queue,
            cross_queue,
            overdue,
            lead,
            loss: 0.0,
            is_probing: self.is_probing(in_flight),
        }
    }

    /// The least of the last four samples of the round-trip time; zero before the first.
    pub(crate) fn recent_min_rtt(&self) -> Duration {
        self.last_rtts.into_iter().filter(|rtt| !rtt.is_zero()).min().unwrap_or_default()
    }

    /// Whether the window grows exponentially.
    #[must_use]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Slow start (RFC 5681 section 3.1, counting bytes as RFC 3465): grows by what was
    /// acknowledged up to the threshold; returns the bytes left for congestion avoidance.
    pub fn slow_start(&mut self, bytes: u64) -> u64 {
        // RFC 9406 section 4.2: CSS_GROWTH_DIVISOR.
        let bytes = if self.conservative { bytes / 4 } else { bytes };
        let grown = (self.cwnd + bytes).min(self.ssthresh.max(self.cwnd));
        let used = grown - self.cwnd;
        self.cwnd = grown;
        bytes - used
    }

    /// Adds `bytes` of growth, keeping the fraction; a negative growth stops at two segments.
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

/// Segments of a block of 8 KiB and of a few around it: a loss among so many keeps one block waiting.
const BLOCK_SEGMENTS: f64 = 10.0;

/// A path at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct PathEstimate {
    /// Base RTT: the smallest sample; zero before the first.
    pub base_rtt: Duration,
    /// Variation of the RTT (RFC 6298's RTTVAR).
    pub rttvar: Duration,
    /// Bottleneck rate, bytes of payload a second. [`PRIOR_RATE`](crate::path::PRIOR_RATE) where nothing was measured.
    pub rate: f64,
    /// Upper bound of the bottleneck rate, bytes of payload a second; infinite while slow start has not found it.
    pub most: f64,
    /// How long a packet waits at the bottleneck behind packets of this path.
    pub own_queue: Duration,
    /// How long it waits behind packets of other flows.
    pub cross_queue: Duration,
    /// How long the oldest data in flight is overdue: zero as long as acknowledgements come when they should.
    pub overdue: Duration,
    /// How much sooner than on this path its data is acknowledged by a DATA_ACK on another path.
    pub lead: Duration,
    /// Probability that a segment is lost, 0 to 1.
    pub loss: f64,
    /// More is in flight than the last loss with a queue left of the window: the next one is near.
    pub is_probing: bool,
}

impl PathEstimate {
    /// Seconds until `length` bytes have arrived that leave behind `ahead` bytes, with the probability `quantile` (0 to 1). Below 0.5 means the mean
    /// without losses.
    #[must_use]
    pub fn arrival(&self, ahead: u64, length: u64, quantile: f64) -> f64 {
        let way = self.base_rtt.as_secs_f64() / 2.0;
        let queue = (self.own_queue + self.cross_queue + self.overdue).as_secs_f64();
        way + queue + (ahead + length) as f64 / self.rate + self.repair(quantile)
    }

    /// Seconds until a DATA_ACK for that is back.
    #[must_use]
    pub fn acknowledgement(&self, ahead: u64, length: u64) -> f64 {
        let way_back = (self.base_rtt / 2).as_secs_f64();
        (self.arrival(ahead, length, 0.0) + way_back - self.lead.as_secs_f64()).max(0.0)
    }

    /// Seconds that a block waits for a lost segment at that quantile. A repair takes two round trips in the mean, one to find the loss and one
    /// for the retransmission, and is taken as exponentially distributed: where a share `h` of the blocks meets a loss, the quantile `q` is
    /// `mean * ln(h / (1 - q))`. It is one mean at least where the next loss is near.
    #[must_use]
    pub fn repair(&self, quantile: f64) -> f64 {
        if quantile <= 0.5 {
            return 0.0;
        }
        let times = (self.loss * BLOCK_SEGMENTS / (1.0 - quantile)).ln().max(0.0);
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
        PathEstimate { base_rtt: Duration::from_millis(40), rate: 1e6, most: 1e6, ..PathEstimate::default() }
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
        assert!(is(path.repair(0.99), 80.0), "two round trips");
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
