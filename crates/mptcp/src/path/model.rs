//! What is known of a path: delivery rate, loss intervals, and the queues at its bottleneck.
//!
//! Owns the estimators and their constants. Knows nothing of segments, windows or subflows: whoever feeds an estimator passes times and
//! bytes.

use mptcp_clock::{Duration, Instant};

/// The estimates of one path.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PathModel {
    /// How fast it delivers.
    pub(crate) delivery: DeliveryRate,
    /// How often it loses.
    pub(crate) losses: Losses,
    /// The queue of its own packets at the bottleneck.
    pub(crate) queue: OwnQueue,
    /// Whether a queue stands there, whoever filled it.
    pub(crate) standing: Standing,
    /// How much sooner than on the path its data is acknowledged by a DATA_ACK on another one.
    pub(crate) lead: Duration,
}

impl PathModel {
    /// How fast the path delivers.
    #[must_use]
    pub fn delivery(&self) -> &DeliveryRate {
        &self.delivery
    }

    /// Its congestion events.
    #[must_use]
    pub fn losses(&self) -> &Losses {
        &self.losses
    }
}

/// Round trips of which the best counts.
const ROUNDS: usize = 8;
/// A round is at least so long, so that a few acknowledgements in a row are no rate.
const SHORTEST_ROUND: Duration = Duration::from_millis(10);
/// A path whose rounds get faster by so many times is not as fast as its line yet.
const GROWN: f64 = 1.25;
/// Acknowledgements are of one burst if no more than this part of a round trip is between them.
const SPACED: u64 = 4;
/// Bytes behind a queue that tell its rate: an initial window (RFC 6928).
const QUEUE_DIVISOR: u64 = 14_600;
/// What is left of the best rate of a burst with each one that is slower.
const FORGETS: f64 = 0.98;

/// What a path delivered lately.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DeliveryRate {
    since: Option<Instant>,
    bytes: u64,
    rates: [f64; ROUNDS],
    at: usize,
    best: f64,
    /// The last round was faster than all before by `GROWN`.
    grows: bool,
    /// In this round so far something was always in flight, and no RTT was without a queue.
    busy: bool,
    /// Rate of the last round, if it was so then.
    measured: Option<f64>,
    train: Train,
    drain: Drain,
}

/// What has come behind a queue since there is one: at the line's rate, or at what others leave of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Drain {
    last: Instant,
    bytes: u64,
    time: Duration,
}

/// Acknowledgements close behind each other: what left at once comes as fast as the narrowest line lets it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Train {
    /// Since when bytes are counted, and when the last of them came.
    since: Instant,
    last: Instant,
    /// How long the latest of what came before them took; zero where that is not known.
    rtt: Duration,
    bytes: u64,
    acknowledgements: u32,
    /// Bytes a second; 0 before the first.
    rate: f64,
    /// No burst was longer than one acknowledgement so far.
    short: bool,
}

/// What an acknowledgement says has come.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Arrived {
    pub bytes: u64,
    /// How long the latest of it took; None where that is not known.
    pub rtt: Option<Duration>,
    /// The least that anything took.
    pub min_rtt: Option<Duration>,
    pub srtt: Option<Duration>,
    /// Next to nothing is in flight any more.
    pub empty: bool,
}

impl Arrived {
    /// Whether more than half of the time in which it came is that in which it left, where the latest before it took `first`.
    fn left_slowly(&self, first: Duration, took: Duration) -> bool {
        let last = self.rtt.unwrap_or_default();
        !first.is_zero() && !last.is_zero() && took + first * 2 > last * 2
    }

    /// It took longer than without a queue.
    fn is_queued(&self) -> bool {
        self.rtt.zip(self.min_rtt).is_some_and(|(rtt, least)| rtt > least + least / 8)
    }
}

impl Train {
    fn add(&mut self, now: Instant, arrived: &Arrived) {
        let begins = now.since(self.last) * SPACED > arrived.srtt.unwrap_or_default();
        self.last = now;
        if begins {
            // The first one says when it began, and not how long what it acknowledges took.
            return self.begin(now, arrived);
        }
        self.bytes += arrived.bytes;
        self.acknowledgements += 1;
        if self.acknowledgements >= 2 && now > self.since {
            let took = now.since(self.since);
            let rate = self.bytes as f64 / took.as_secs_f64();
            // What left as slowly as it came says nothing of the line, unless it was behind a queue.
            let slow = arrived.left_slowly(self.rtt, took) && !arrived.is_queued();
            if !slow || self.rate > 0.0 {
                let known = if slow && rate <= self.rate { self.rate } else { self.rate * FORGETS };
                self.rate = if self.short { rate } else { rate.max(known) };
                self.short = false;
            }
            self.begin(now, arrived);
        }
    }

    fn begin(&mut self, now: Instant, arrived: &Arrived) {
        (self.since, self.bytes, self.acknowledgements) = (now, 0, 0);
        self.rtt = arrived.rtt.unwrap_or_default();
    }
}

impl Drain {
    fn add(&mut self, now: Instant, arrived: &Arrived) {
        if arrived.is_queued() && !arrived.empty {
            self.bytes += arrived.bytes;
            self.time += now.since(self.last);
        } else if arrived.rtt.is_some() || arrived.empty {
            (self.bytes, self.time) = (0, Duration::ZERO);
        }
        self.last = now;
    }
}

impl DeliveryRate {
    /// Whether one acknowledgement would say something: as long as none came close behind another.
    #[inline]
    pub(crate) fn asks_one(&self) -> bool {
        self.train.short || self.train.rate == 0.0
    }

    /// One acknowledgement says that `bytes`, several segments that left at once, took `longer` than the least round trip: its peer has not
    /// delayed it (RFC 9293 section 3.8.6.3), and so that is how long the line took for them.
    #[cold]
    pub(crate) fn on_one(&mut self, bytes: u64, longer: Duration) {
        let took = longer.as_secs_f64();
        if took > 0.0 {
            self.train.rate = (bytes as f64 / took).max(self.train.rate * FORGETS);
            self.train.short = true;
        }
    }

    /// More has arrived.
    pub(crate) fn on_delivered(&mut self, now: Instant, arrived: &Arrived) {
        self.train.add(now, arrived);
        self.drain.add(now, arrived);
        let Arrived { bytes, srtt, .. } = *arrived;
        let Some(since) = self.since else {
            // What this acknowledgement covers took a time that is not known.
            self.since = Some(now);
            return;
        };
        self.busy &= !arrived.empty && (arrived.is_queued() || arrived.rtt.is_none());
        self.bytes += bytes;
        let round = srtt.unwrap_or_default().max(SHORTEST_ROUND);
        let length = now.since(since);
        if length < round {
            return;
        }
        let rate = self.bytes as f64 / length.as_secs_f64();
        self.measured = (self.busy && length < round * 2).then_some(rate);
        self.busy = true;
        // Where nothing came for long, nothing was sent.
        if length < round * 2 {
            self.grows = rate > GROWN * self.best;
            self.rates[self.at] = rate;
            self.at = (self.at + 1) % ROUNDS;
            self.best = self.rates.iter().copied().fold(0.0, f64::max);
        }
        (self.since, self.bytes) = (Some(now), 0);
    }

    /// Bytes a second; None before the first whole round trip.
    #[must_use]
    pub fn rate(&self) -> Option<f64> {
        (self.best > 0.0).then_some(self.best)
    }

    /// The rate at which its queue gave, bytes a second; None where fewer than `least` bytes have come since there is one.
    #[must_use]
    pub fn drained(&self, least: u64) -> Option<f64> {
        let Drain { bytes, time, .. } = self.drain;
        (bytes >= least && !time.is_zero()).then(|| bytes as f64 / time.as_secs_f64())
    }

    /// Whether rounds get faster: what was delivered is of a smaller window then.
    #[must_use]
    pub fn grows(&self) -> bool {
        self.grows || self.best == 0.0
    }

    /// Bottleneck rate, bytes a second; None before it was measured. Whole round trips are a lower bound where less was sent than the bottleneck
    /// carries. Bursts show more: the bottleneck spaces their acknowledgements. But jitter compresses these, so no more counts than a queue
    /// of `QUEUE_DIVISOR` bytes has let through. A round trip in which a queue stood and something was always in flight measures the bottleneck
    /// itself: where it shows less than half of that, the path has become slower.
    #[must_use]
    pub fn bottleneck(&self) -> Option<f64> {
        let burst =
            self.drained(QUEUE_DIVISOR).map_or(self.train.rate, |drained| self.train.rate.min(drained));
        let bound = burst.max(self.best);
        let rate = self.measured.filter(|measured| 2.0 * measured < bound).unwrap_or(bound);
        (rate > 0.0).then_some(rate)
    }

    /// What the line carries, bytes a second, as far as bursts and whole round trips have told. None before the first burst.
    #[must_use]
    pub fn line(&self) -> Option<f64> {
        Some(self.burst_rate()?.max(self.best))
    }

    /// The rate at which what left at once arrived, bytes a second: of its narrowest line, where nobody else uses it. None before a few
    /// acknowledgements came close behind each other.
    #[must_use]
    pub fn burst_rate(&self) -> Option<f64> {
        (self.train.rate > 0.0).then_some(self.train.rate)
    }
}

/// Weights of the loss intervals, the latest first (RFC 5348 section 5.4).
const WEIGHTS: [f64; EVENTS - 1] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];
/// Number of events, which enclose eight intervals.
const EVENTS: usize = 9;
/// Maximum age of an event. Assumed equal to the maximum RTO (RFC 6298 section 2.5).
const LIFETIME: Duration = Duration::from_secs(60);
/// Prior loss interval, segments. The first loss and the prior have equal weight.
const PRIOR_INTERVAL: u64 = 1000;

/// A congestion event.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Event {
    /// Bytes delivered on the path before the event.
    delivered: u64,
    at: Instant,
    /// Whether the loss was random: no queue was present.
    random: bool,
}

/// The last congestion events of a path.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Losses {
    delivered: u64,
    /// Events, the oldest first; `count` of them are valid.
    events: [Event; EVENTS],
    count: usize,
}

impl Losses {
    /// Counts delivered bytes.
    #[inline]
    pub(crate) fn on_delivered(&mut self, bytes: u64) {
        self.delivered += bytes;
    }

    /// Records a congestion event; `random` if no queue was present.
    pub(crate) fn on_loss(&mut self, now: Instant, random: bool) {
        if self.count == EVENTS {
            self.events.rotate_left(1);
            self.count -= 1;
        }
        self.events[self.count] = Event { delivered: self.delivered, at: now, random };
        self.count += 1;
    }

    /// Removes the last event, which was a spurious loss.
    pub(crate) fn on_undo(&mut self) {
        self.count = self.count.saturating_sub(1);
    }

    /// Mean loss interval, bytes, for segments of `mss` bytes. `None` without an event in the last minute. A
    /// single event with a queue marks the end of slow start and gives no interval.
    #[must_use]
    pub fn interval(&self, now: Instant, mss: u64) -> Option<f64> {
        let known = &self.events[..self.count];
        let last = known.last().filter(|last| now.since(last.at) < LIFETIME)?;
        let open = (self.delivered - last.delivered) as f64;
        if let [only] = known {
            let prior = (PRIOR_INTERVAL * mss) as f64;
            return only.random.then_some(f64::midpoint(self.delivered as f64, prior));
        }
        let closed = || known.windows(2).rev().map(|pair| (pair[1].delivered - pair[0].delivered) as f64);
        Some(mean(closed()).max(mean(std::iter::once(open).chain(closed()))))
    }

    /// Whether the last event was a random loss.
    pub(crate) fn last_is_random(&self) -> bool {
        self.events[..self.count].last().is_some_and(|last| last.random)
    }

    /// Bytes delivered without a loss: the mean loss interval, or the bytes since the last event, or all
    /// bytes.
    #[must_use]
    pub fn loss_free_bytes(&self, now: Instant, mss: u64) -> f64 {
        let last = self.events[..self.count].last().map_or(0, |event| event.delivered);
        self.interval(now, mss).unwrap_or((self.delivered - last) as f64)
    }
}

/// Weighted mean, the latest interval first.
fn mean(intervals: impl Iterator<Item = f64>) -> f64 {
    let (sum, weights) = intervals
        .zip(WEIGHTS)
        .fold((0.0, 0.0), |(sum, weights), (interval, weight)| (sum + weight * interval, weights + weight));
    sum / weights
}

/// The virtual FIFO queue of one path.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct OwnQueue {
    /// Time at which the bottleneck has sent all packets.
    free: Instant,
    /// Maximum sojourn time, including serialisation, in the present RTT and in the one before.
    longest: [Duration; 2],
    round_ends: Instant,
}

impl OwnQueue {
    /// Records data sent now whose serialisation takes `time`; `round` is the smoothed RTT.
    #[inline]
    pub(crate) fn on_sent(&mut self, now: Instant, time: Duration, round: Duration) {
        self.free = self.free.max(now) + time;
        if now >= self.round_ends {
            self.longest = [Duration::ZERO, self.longest[0]];
            self.round_ends = now + round;
        }
        self.longest[0] = self.longest[0].max(self.free.since(now));
    }

    /// Waiting time of a packet sent now, if all earlier packets are still in flight.
    #[inline]
    pub(crate) fn wait(&self, now: Instant) -> Duration {
        self.free.since(now)
    }

    /// Maximum sojourn time in the last two RTTs, including serialisation.
    #[inline]
    pub(crate) fn longest(&self) -> Duration {
        self.longest[0].max(self.longest[1])
    }
}

/// Delay variation of a host; a smaller delay does not indicate a queue.
const NOISE: Duration = Duration::from_millis(1);

/// Minimum RTTs of a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Standing {
    /// Minimum RTT of data segments. The RTT of the handshake excludes the serialisation of a full segment.
    shortest: Duration,
    latest: Duration,
    /// Minimum of the last round, and of the present round so far.
    last: Duration,
    current: Duration,
    ends: Instant,
}

impl Default for Standing {
    fn default() -> Self {
        Self {
            shortest: Duration::MAX,
            latest: Duration::ZERO,
            last: Duration::ZERO,
            current: Duration::MAX,
            ends: Instant::ZERO,
        }
    }
}

impl Standing {
    /// Records an RTT sample of data; `round` is the smoothed RTT.
    #[inline]
    pub(crate) fn on_sample(&mut self, now: Instant, sample: Duration, round: Duration) {
        (self.shortest, self.latest) = (self.shortest.min(sample), sample);
        self.current = self.current.min(sample);
        if now >= self.ends {
            (self.last, self.current, self.ends) = (self.current, Duration::MAX, now + round);
        }
    }

    /// Whether a standing queue exceeds `own`, the serialisation time of the sender's own packets. All RTTs
    /// of the last round must exceed the minimum RTT plus `own` by 1/16 of the minimum RTT and by 1 ms.
    pub(crate) fn is_longer_than(&self, own: Duration) -> bool {
        self.last - own > self.shortest.min(Duration::MAX - NOISE) + (self.shortest / 16).max(NOISE)
    }

    /// Whether a loss now may be caused by a full queue: a standing queue exists, or the latest RTT exceeds
    /// the minimum by a third. In slow start 1/16 is enough, because the window has doubled since that
    /// sample.
    pub(crate) fn may_be_full(&self, slow_start: bool) -> bool {
        let enough = if slow_start { (self.shortest / 16).max(NOISE) } else { self.shortest / 3 };
        self.is_longer_than(Duration::ZERO) || self.latest > self.shortest.min(Duration::MAX / 2) + enough
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod queue_tests {
    use super::*;

    fn ms(time: u64) -> Duration {
        Duration::from_millis(time)
    }

    #[test]
    fn packet_waits_only_for_earlier_packets() {
        let (mut queue, start) = (OwnQueue::default(), Instant::ZERO + ms(100));
        (0..3).for_each(|_| queue.on_sent(start, ms(10), ms(50)));
        assert_eq!((queue.wait(start), queue.wait(start + ms(20))), (ms(30), ms(10)));
        assert_eq!(queue.wait(start + ms(40)), Duration::ZERO);
        queue.on_sent(start + ms(40), ms(10), ms(50));
        assert_eq!(queue.wait(start + ms(40)), ms(10), "an idle bottleneck begins at once");
    }

    #[test]
    fn longest_wait_covers_two_rtts() {
        let mut queue = OwnQueue::default();
        let at = |time| Instant::ZERO + ms(time);
        (0..3).for_each(|_| queue.on_sent(at(100), ms(10), ms(50)));
        queue.on_sent(at(160), ms(10), ms(50));
        assert_eq!(queue.longest(), ms(30));
        queue.on_sent(at(220), ms(10), ms(50));
        assert_eq!(queue.longest(), ms(10));
    }
}

#[cfg(test)]
mod standing_tests {
    use super::*;

    fn ms(time: u64) -> Duration {
        Duration::from_millis(time)
    }

    /// State after samples of these RTTs, one every 10 ms, in rounds of 40 ms.
    fn after(rtts: &[u64]) -> Standing {
        let mut standing = Standing::default();
        for (at, &rtt) in rtts.iter().enumerate() {
            standing.on_sample(Instant::ZERO + ms(10 * at as u64), ms(rtt), ms(40));
        }
        standing
    }

    #[test]
    fn queue_is_standing_if_all_rtts_of_a_round_are_longer() {
        assert!(!after(&[]).is_longer_than(Duration::ZERO));
        assert!(!after(&[40; 12]).is_longer_than(Duration::ZERO));
        let standing = after(&[40, 50, 50, 50, 50, 50, 50, 50, 50]);
        assert!(standing.is_longer_than(Duration::ZERO) && standing.is_longer_than(ms(7)));
        assert!(!standing.is_longer_than(ms(8)), "its own packets take as long");
        assert!(!after(&[40, 50, 50, 50, 50, 50, 40, 50, 50]).is_longer_than(Duration::ZERO), "a burst");
    }

    #[test]
    fn loss_may_be_an_overflow_if_the_latest_rtt_shows_a_queue() {
        assert!(!after(&[40, 53]).may_be_full(false) && after(&[40, 54]).may_be_full(false));
        assert!(!after(&[40, 42]).may_be_full(true) && after(&[40, 43]).may_be_full(true), "slow start");
    }
}

#[cfg(test)]
mod losses_tests {
    use super::*;

    const MSS: u64 = 1_000;

    fn at(seconds: u64) -> Instant {
        Instant::ZERO + Duration::from_secs(seconds)
    }

    /// Losses after each kilobyte, at these times in seconds.
    fn lossy(times: &[u64]) -> Losses {
        let mut losses = Losses::default();
        for &time in times {
            losses.on_delivered(1_000);
            losses.on_loss(at(time), false);
        }
        losses
    }

    #[test]
    fn two_congestion_losses_give_an_interval() {
        assert_eq!(lossy(&[]).interval(at(1), MSS), None);
        assert_eq!(lossy(&[1]).interval(at(1), MSS), None);
        assert_eq!(lossy(&[1, 2]).interval(at(2), MSS), Some(1_000.0));
    }

    #[test]
    fn single_random_loss_is_averaged_with_the_prior() {
        let mut losses = Losses::default();
        losses.on_delivered(1_000);
        losses.on_loss(at(1), true);
        assert_eq!(losses.interval(at(1), MSS), Some(500_500.0));
    }

    #[test]
    fn open_interval_counts_if_longer_and_old_intervals_have_lower_weight() {
        let mut losses = lossy(&[1, 2, 3, 4, 5]);
        assert_eq!(losses.interval(at(5), MSS), Some(1_000.0));
        losses.on_delivered(500);
        assert_eq!(losses.interval(at(5), MSS), Some(1_000.0));
        losses.on_delivered(4_300);
        // The mean of this interval and four of 1000 bytes with weights 1, 1, 1 and 0.8.
        assert_eq!(losses.interval(at(5), MSS), Some((4_800.0 + 3_800.0) / 4.8));
        losses.on_loss(at(6), false);
        (7..15).for_each(|time| {
            losses.on_delivered(1_000);
            losses.on_loss(at(time), false);
        });
        let interval = losses.interval(at(14), MSS).expect("eight intervals");
        assert!((interval - 1_000.0).abs() < 1e-9, "{interval}");
    }

    #[test]
    fn losses_expire_after_a_minute_or_by_an_undo() {
        let mut losses = lossy(&[1, 30]);
        assert_eq!(losses.interval(at(89), MSS), Some(1_000.0));
        assert_eq!(losses.interval(at(90), MSS), None);
        losses.on_delivered(300);
        assert_eq!(losses.loss_free_bytes(at(90), MSS), 300.0);
        losses.on_undo();
        assert_eq!(losses.interval(at(31), MSS), None);
    }
}
