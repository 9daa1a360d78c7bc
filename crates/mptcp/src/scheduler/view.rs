//! What a scheduler sees.

use mptcp_clock::{Duration, Instant};

use crate::ids::SubflowId;

/// What a new path is taken to carry before it has delivered more in a round trip: bytes a second, 1 Mb/s, a slow line. All wait for
/// a window that turns out to wait there.
const UNKNOWN_RATE: f64 = 125_000.0;

/// A path that loses more than once in so many segments loses often: of blocks of ten segments one in a hundred waits for a repair.
pub(crate) const OFTEN: u64 = 1000;

/// A subflow that could carry data.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Candidate {
    /// A small number that no two subflows of a connection have at the same time, for tables; a later one may get it.
    pub subflow: usize,
    /// What the subflow is known by: for what is kept from one choice to the next.
    pub id: SubflowId,
    /// Smoothed round-trip time; zero before the first sample.
    pub srtt: Duration,
    /// Variation of the round-trip time (RFC 6298's RTTVAR).
    pub rttvar: Duration,
    /// Smallest round-trip time seen; zero before the first sample.
    pub min_rtt: Duration,
    /// Latest sample of the round-trip time; where many segments are in flight the lesser of the last two, for one may be a delayed
    /// acknowledgement. Zero before the first.
    pub latest_rtt: Duration,
    /// How much sooner its data is acknowledged at the data level, by a DATA_ACK on another path, than on itself; smoothed. Zero where
    /// that is not known.
    pub lead: Duration,
    /// Congestion window, bytes.
    pub cwnd: u64,
    /// Slow start threshold, bytes; `u64::MAX` before the first loss.
    pub ssthresh: u64,
    /// Bytes in flight.
    pub in_flight: u64,
    /// What it holds, bytes: in flight or lost and not acknowledged; with what waits in a queue of its own, as memory.
    pub held: u64,
    /// Bytes of its packets that wait in this host's own interface; 0 where the driver reports no departures.
    pub local_queue: u64,
    /// Bytes that were acknowledged on it so far.
    pub delivered: u64,
    /// The best rate at which it delivered in its last round trips, bytes a second; None before the first.
    pub delivery_rate: Option<f64>,
    /// The rate at which what left at once arrived, bytes a second; None before the first burst.
    pub burst_rate: Option<f64>,
    /// Its rounds get faster: [`Self::delivery_rate`] is of a smaller window. True also while the application streams, and once it has closed.
    pub grows: bool,
    /// Bytes that arrive on it from one loss to the next; None where it lost nothing in the last minute, or once from a full window. Looked
    /// up only while the application streams ([`SendView::streams`]); None else.
    pub between_losses: Option<u64>,
    /// One of its last losses is one that no full window caused. Looked up only while the application streams; it means nothing else.
    pub by_chance: bool,
    /// The least of its last four samples of the round-trip time: a delayed acknowledgement is in one of them, a queue in all. Looked up
    /// only while the application streams; it means nothing else.
    pub calm_rtt: Duration,
    /// What is smaller than a segment waits for what it has in flight, if there is anything (Nagle's algorithm). Looked up only while the
    /// application streams; it means nothing else.
    pub small_waits: bool,
    /// When the oldest segment that it holds left last. Looked up only while the application streams; it means nothing else.
    pub asked: Instant,
    /// Payload bytes of a full segment.
    pub mss: u64,
    /// The pace that the congestion controller asks for, bytes a second.
    pub pacing: Option<f64>,
    /// Whether the congestion window has room for a segment, and nothing else holds the subflow back.
    pub has_room: bool,
    /// Whether this host itself holds it back: its pace, or a full queue of its interface.
    pub waits_here: bool,
    /// Whether the subflow may be used only when no other one works.
    pub backup: bool,
}

impl Candidate {
    /// A subflow with windows of `cwnd` bytes and segments of `mss`, with room; the rest is zero. For tests of schedulers.
    #[must_use]
    pub fn new(subflow: usize, srtt: Duration, cwnd: u64, mss: u64) -> Self {
        Self {
            subflow,
            id: SubflowId::new(subflow as u64, subflow % SubflowId::SLOTS),
            srtt,
            rttvar: Duration::ZERO,
            min_rtt: srtt,
            latest_rtt: srtt,
            lead: Duration::ZERO,
            cwnd,
            ssthresh: u64::MAX,
            in_flight: 0,
            held: 0,
            local_queue: 0,
            delivered: 0,
            delivery_rate: None,
            burst_rate: None,
            grows: true,
            between_losses: None,
            by_chance: false,
            calm_rtt: Duration::ZERO,
            small_waits: false,
            asked: Instant::ZERO,
            mss,
            pacing: None,
            has_room: true,
            waits_here: false,
            backup: false,
        }
    }

    /// Whether its window doubles in each round trip, and no queue shows in the latest.
    #[must_use]
    pub fn ramps(&self) -> bool {
        self.cwnd < self.ssthresh && self.latest_rtt <= self.min_rtt + self.min_rtt / 8
    }

    /// Bytes a second, from what has arrived in a round trip: half of a window that has grown, twice that where it doubles; 1 Mb/s at
    /// least, which is a slow line.
    #[inline(never)]
    #[must_use]
    pub fn has_arrived_at(&self) -> f64 {
        let round = self.srtt.max(self.latest_rtt).as_secs_f64().max(1e-6);
        let arrived = self.delivered.min(self.cwnd / 2) as f64 / round;
        let ramps = if self.ramps() { 2.0 * arrived } else { arrived };
        ramps.max(UNKNOWN_RATE)
    }

    /// Bytes a second at which what is in flight comes, by what is known: what was delivered, or as fast as bursts came; where the window
    /// doubles and no queue shows, all of it in a round trip, for what was measured is of a smaller one.
    #[must_use]
    pub fn comes_at(&self) -> f64 {
        let Some(rate) = self.delivery_rate else { return self.has_arrived_at() };
        let rate = rate.max(self.burst_rate.unwrap_or_default());
        if self.ramps() { rate.max(self.rate()) } else { rate }
    }

    /// The latest round trip without the queue that was the path's own: what it delivers in a round trip was in flight, and the line took its
    /// time for it. As it is where no burst has told how fast the line is.
    #[must_use]
    pub fn without_own_queue(&self) -> Duration {
        let (Some(line), Some(delivered)) = (self.burst_rate, self.delivery_rate) else {
            return self.latest_rtt;
        };
        let own = self.latest_rtt.mul_f64((delivered / line).min(1.0));
        self.latest_rtt.max(self.min_rtt + own) - own
    }

    /// How many times more often it loses than one segment in a thousand; 1 where it does not, or where that is not known. Of blocks of ten
    /// segments one in a hundred waits for a repair at 1.
    #[must_use]
    pub fn too_many_losses(&self) -> f64 {
        let between = self.between_losses.unwrap_or(u64::MAX).max(1);
        ((OFTEN * self.mss) as f64 / between as f64).max(1.0)
    }

    /// What its window carries, bytes a second; infinite before the first sample.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.cwnd as f64 / self.srtt.as_secs_f64()
    }
}

/// The moment of a choice.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct SendView<'a> {
    /// Now.
    pub now: Instant,
    /// Who could send, with or without room: at least one.
    pub candidates: &'a [Candidate],
    /// Bytes that were written and given to no subflow yet.
    pub unsent: u64,
    /// The application waits for room: it has more than `unsent`.
    pub more_to_come: bool,
    /// The application writes as it goes, and has not waited for room for 0.2 s: what counts is when each of its bytes is there.
    pub streams: bool,
    /// The application has closed its side: nothing comes after `unsent`, and what counts is when that is there.
    pub closed: bool,
    /// Bytes given to subflows and not acknowledged at the data level.
    pub in_flight: u64,
    /// Bytes that were acknowledged at the data level so far.
    pub acknowledged: u64,
    /// The subflow to which the oldest of these bytes were given first; None when there are none.
    pub oldest_on: Option<usize>,
    /// Bytes that the peer's receive window has room for beyond all that was sent.
    pub window_room: u64,
    /// The send buffer, bytes: what is unsent and in flight fits into it.
    pub send_buffer: u64,
}

impl<'a> SendView<'a> {
    /// A moment with nothing in flight, nothing to send and no limits; set what matters. For tests of schedulers.
    #[must_use]
    pub fn new(now: Instant, candidates: &'a [Candidate]) -> Self {
        Self {
            now,
            candidates,
            unsent: 0,
            more_to_come: true,
            streams: false,
            closed: false,
            in_flight: 0,
            acknowledged: 0,
            oldest_on: None,
            window_room: u64::MAX,
            send_buffer: u64::MAX,
        }
    }

    /// The peer's whole receive window, bytes: what is in flight at the data level and the room beyond.
    #[must_use]
    pub fn window(&self) -> u64 {
        self.in_flight.saturating_add(self.window_room)
    }
}
