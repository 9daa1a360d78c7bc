//! Estimators of a path: delivery rate, loss intervals, and the queues at its bottleneck.
//!
//! Schedulers and reinjection predict from these estimates when data arrives. Never uses segments, windows or
//! subflows: callers pass times and bytes.

use mptcp_clock::{Duration, Instant};

/// The estimates of one path.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PathModel {
    /// Delivery rate.
    pub(crate) delivery: DeliveryRate,
    /// Loss intervals.
    pub(crate) losses: Losses,
    /// Virtual queue of the path's own packets at the bottleneck.
    pub(crate) queue: OwnQueue,
    /// Detection of a standing queue, whichever flows cause it.
    pub(crate) standing: Standing,
    /// Time by which a DATA_ACK on another path precedes the acknowledgement on this path.
    pub(crate) lead: Duration,
}

impl PathModel {
    /// The delivery rate.
    #[must_use]
    pub fn delivery(&self) -> &DeliveryRate {
        &self.delivery
    }

    /// The loss intervals.
    #[must_use]
    pub fn losses(&self) -> &Losses {
        &self.losses
    }
}

/// Number of rounds whose maximum is the delivery rate.
const ROUNDS: usize = 8;
/// Minimum duration of a round, so that a few close acknowledgements give no rate.
const MIN_ROUND: Duration = Duration::from_millis(10);
/// A rate that grows by this factor per round has not yet reached the link rate.
const RAMP_FACTOR: f64 = 1.25;
/// Maximum gap of acknowledgements in a train, as a fraction (1/4) of the RTT.
const TRAIN_GAP_DIVISOR: u64 = 4;
/// Minimum bytes delivered through a queue for a drain rate: an initial window (RFC 6928).
const MIN_DRAIN_BYTES: u64 = 14_600;
/// Factor by which each slower train reduces the maximum train rate.
const TRAIN_DECAY: f64 = 0.98;

/// Delivery rate of a path.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DeliveryRate {
    since: Option<Instant>,
    bytes: u64,
    rates: [f64; ROUNDS],
    at: usize,
    best: f64,
    /// Whether the last round was faster than all earlier ones by `RAMP_FACTOR`.
    grows: bool,
    /// Whether, in this round, data was always in flight and every RTT showed a queue.
    busy: bool,
    /// Rate of the last round, if that round was busy.
    measured: Option<f64>,
    train: Train,
    drain: Drain,
}

/// Data delivered while a queue exists: at the link rate, or at the share left by other flows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Drain {
    last: Instant,
    bytes: u64,
    time: Duration,
}

/// An acknowledgement train: data sent at once arrives at the rate of the slowest link.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Train {
    /// Times of the start of the counted bytes, and of the last acknowledgement.
    since: Instant,
    last: Instant,
    /// RTT of the latest data before the counted bytes; zero if unknown.
    rtt: Duration,
    bytes: u64,
    acknowledgements: u32,
    /// Rate, bytes per second; 0 before the first train.
    rate: f64,
    /// Whether all trains so far had only one acknowledgement.
    single_ack: bool,
}

/// Data delivered by an acknowledgement.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Arrived {
    pub bytes: u64,
    /// RTT of the latest data; `None` if unknown.
    pub rtt: Option<Duration>,
    /// Minimum RTT of the path.
    pub min_rtt: Option<Duration>,
    pub srtt: Option<Duration>,
    /// Whether almost nothing is in flight any more.
    pub empty: bool,
}

impl Arrived {
    /// Whether sending the counted data took more than half of the time `took` in which the data arrived.
    /// `first` is the RTT of the latest data before the counted data.
    fn was_sent_slowly(&self, first: Duration, took: Duration) -> bool {
        let last = self.rtt.unwrap_or_default();
        !first.is_zero() && !last.is_zero() && took + first * 2 > last * 2
    }

    /// Whether the RTT shows a queue.
    fn is_queued(&self) -> bool {
        self.rtt.zip(self.min_rtt).is_some_and(|(rtt, min_rtt)| rtt > min_rtt + min_rtt / 8)
    }
}

impl Train {
    fn on_arrival(&mut self, now: Instant, arrived: &Arrived) {
        let starts_train = now.since(self.last) * TRAIN_GAP_DIVISOR > arrived.srtt.unwrap_or_default();
        self.last = now;
        if starts_train {
            // The first acknowledgement marks the start; the time of its own data is unknown.
            return self.restart(now, arrived);
        }
        self.bytes += arrived.bytes;
        self.acknowledgements += 1;
        if self.acknowledgements >= 2 && now > self.since {
            let took = now.since(self.since);
            let rate = self.bytes as f64 / took.as_secs_f64();
            // Data sent as slowly as it arrived gives no link rate, unless a queue existed.
            let slow = arrived.was_sent_slowly(self.rtt, took) && !arrived.is_queued();
            if !slow || self.rate > 0.0 {
                let known = if slow && rate <= self.rate { self.rate } else { self.rate * TRAIN_DECAY };
                self.rate = if self.single_ack { rate } else { rate.max(known) };
                self.single_ack = false;
            }
            self.restart(now, arrived);
        }
    }

    fn restart(&mut self, now: Instant, arrived: &Arrived) {
        (self.since, self.bytes, self.acknowledgements) = (now, 0, 0);
        self.rtt = arrived.rtt.unwrap_or_default();
    }
}

impl Drain {
    fn on_arrival(&mut self, now: Instant, arrived: &Arrived) {
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
    /// Whether a rate from a single acknowledgement is useful: no train of several has been seen.
    #[inline]
    pub(crate) fn wants_single_ack(&self) -> bool {
        self.train.single_ack || self.train.rate == 0.0
    }

    /// Records one acknowledgement for several segments of `bytes` in all, sent at once. The acknowledgement
    /// took `longer` in addition to the minimum RTT. The peer did not delay it (RFC 9293 section 3.8.6.3), so
    /// `longer` is the serialisation time.
    #[cold]
    pub(crate) fn on_single_ack(&mut self, bytes: u64, longer: Duration) {
        let took = longer.as_secs_f64();
        if took > 0.0 {
            self.train.rate = (bytes as f64 / took).max(self.train.rate * TRAIN_DECAY);
            self.train.single_ack = true;
        }
    }

    pub(crate) fn on_delivered(&mut self, now: Instant, arrived: &Arrived) {
        self.train.on_arrival(now, arrived);
        self.drain.on_arrival(now, arrived);
        let Arrived { bytes, srtt, .. } = *arrived;
        let Some(since) = self.since else {
            // The start time of the first data is unknown.
            self.since = Some(now);
            return;
        };
        self.busy &= !arrived.empty && (arrived.is_queued() || arrived.rtt.is_none());
        self.bytes += bytes;
        let round = srtt.unwrap_or_default().max(MIN_ROUND);
        let length = now.since(since);
        if length < round {
            return;
        }
        let rate = self.bytes as f64 / length.as_secs_f64();
        self.measured = (self.busy && length < round * 2).then_some(rate);
        self.busy = true;
        // A long gap means that nothing was sent.
        if length < round * 2 {
            self.grows = rate > RAMP_FACTOR * self.best;
            self.rates[self.at] = rate;
            self.at = (self.at + 1) % ROUNDS;
            self.best = self.rates.iter().copied().fold(0.0, f64::max);
        }
        (self.since, self.bytes) = (Some(now), 0);
    }

    /// Maximum delivery rate, bytes per second; `None` before the first complete round.
    #[must_use]
    pub fn rate(&self) -> Option<f64> {
        (self.best > 0.0).then_some(self.best)
    }

    /// Drain rate of the queue, bytes per second; `None` if fewer than `min_bytes` bytes were delivered since
    /// the queue began.
    #[must_use]
    pub fn drained(&self, min_bytes: u64) -> Option<f64> {
        let Drain { bytes, time, .. } = self.drain;
        (bytes >= min_bytes && !time.is_zero()).then(|| bytes as f64 / time.as_secs_f64())
    }

    /// Whether the rate still grows: it was then measured with a smaller window than the present one.
    #[must_use]
    pub fn grows(&self) -> bool {
        self.grows || self.best == 0.0
    }

    /// Bottleneck rate, bytes per second; `None` before the first measurement.
    ///
    /// The rate of complete rounds is a lower bound if less was sent than the bottleneck carries.
    /// Acknowledgement trains show more, because the bottleneck spaces them. Jitter compresses trains, so the
    /// drain rate after `MIN_DRAIN_BYTES` bytes is an upper bound. A round with a queue and with data always
    /// in flight measures the bottleneck itself: if its rate is less than half of the others, the path has
    /// become slower.
    #[must_use]
    pub fn bottleneck(&self) -> Option<f64> {
        let burst =
            self.drained(MIN_DRAIN_BYTES).map_or(self.train.rate, |drained| self.train.rate.min(drained));
        let bound = burst.max(self.best);
        let rate = self.measured.filter(|measured| 2.0 * measured < bound).unwrap_or(bound);
        (rate > 0.0).then_some(rate)
    }

    /// Link rate, bytes per second, from trains and complete rounds. `None` before the first train.
    #[must_use]
    pub fn link_rate(&self) -> Option<f64> {
        Some(self.burst_rate()?.max(self.best))
    }

    /// Arrival rate of data sent at once, bytes per second: the rate of the slowest link without other flows.
    /// `None` before the first acknowledgement train.
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

    /// Bytes delivered without a loss: the mean loss interval if known, otherwise the bytes since the last
    /// event, or all bytes before the first event.
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

/// A virtual FIFO queue at the bottleneck, filled only by the path's own packets.
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

/// Minimum RTTs of a path per round. They rise while a queue stands, which means that the queue never drains.
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
        assert_eq!(queue.wait(start + ms(40)), ms(10), "an idle bottleneck sends at once");
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
