//! The state of one path.

use mptcp_clock::{Duration, Instant};

use crate::path::local_queue::LocalQueue;
use crate::path::{PRIOR_RATE, PathEstimate, PathModel};

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

#[cfg(test)]
mod tests;
