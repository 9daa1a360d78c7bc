//! A simulated path: rate, tail-drop or marking queue, delay, and impairments.

use mptcp::IcmpError;
use mptcp_clock::{Duration, Instant, Rng};

/// How a path is; both directions are alike.
#[derive(Clone, Debug)]
pub struct Link {
    /// One way.
    pub delay: Duration,
    /// Bytes a second; 0 is no limit.
    pub rate: u64,
    /// Bytes that may wait.
    pub queue: u64,
    /// Packets that find more than this many bytes waiting are marked, if they may be, and lost if not.
    pub mark_above: Option<u64>,
    /// Whether those that may not be marked are let through.
    pub lenient: bool,
    /// Of each packet.
    pub loss: f64,
    /// Packets that have payload and are lost by their numbers, from 0, in each direction.
    pub lost: Vec<u64>,
    /// Packets that are held up, and for how long.
    pub reorder: f64,
    pub late_by: Duration,
    /// The most that is added to the delay; it changes no order.
    pub jitter: Duration,
    pub duplicate: f64,
    /// The longest packet; whether a router says so.
    pub mtu: Option<(u32, bool)>,
    /// Nothing comes through.
    pub dead: bool,
    /// Nothing does, and a router says why.
    pub refuses: Option<IcmpError>,
    /// Between addresses of version 6.
    pub v6: bool,
    /// The client's interface is a backup.
    pub backup: bool,
    /// The client's interface tells what leaves its queue.
    pub departures: bool,
    /// The longest segment that both devices cut, bytes; 0 is none.
    pub gso: u16,
}

impl Link {
    /// So many milliseconds one way, so many kilobytes a second, and a queue of so many kilobytes.
    pub fn new(delay: u64, rate: u64, queue: u64) -> Self {
        Self {
            delay: Duration::from_millis(delay),
            rate: rate * 1000,
            queue: queue * 1000,
            mark_above: None,
            lenient: false,
            loss: 0.0,
            lost: Vec::new(),
            reorder: 0.0,
            late_by: Duration::ZERO,
            jitter: Duration::ZERO,
            duplicate: 0.0,
            mtu: None,
            dead: false,
            refuses: None,
            v6: false,
            backup: false,
            departures: false,
            gso: 0,
        }
    }

    pub fn loss(self, loss: f64) -> Self {
        Self { loss, ..self }
    }

    pub fn lost(self, numbers: &[u64]) -> Self {
        Self { lost: numbers.to_vec(), ..self }
    }

    pub fn reorder(self, reorder: f64, late_by: u64) -> Self {
        Self { reorder, late_by: Duration::from_millis(late_by), ..self }
    }

    pub fn jitter(self, ms: u64) -> Self {
        Self { jitter: Duration::from_millis(ms), ..self }
    }

    pub fn duplicate(self, duplicate: f64) -> Self {
        Self { duplicate, ..self }
    }

    pub fn marks(self, kilobytes: u64) -> Self {
        Self { mark_above: Some(kilobytes * 1000), ..self }
    }

    pub fn mtu(self, mtu: u32, told: bool) -> Self {
        Self { mtu: Some((mtu, told)), ..self }
    }
}

/// What becomes of a packet.
#[derive(Debug)]
pub struct Fate {
    /// When it leaves the queue.
    pub leaves: Instant,
    /// When it and its copies arrive; none where it is lost.
    pub arrives: Vec<Instant>,
    pub marked: bool,
}

/// One way of a path.
#[derive(Debug, Default)]
pub struct Way {
    free: Instant,
    last: Instant,
    data: u64,
    pub segments: u64,
    pub bytes: u64,
    pub lost: u64,
    pub marked: u64,
}

impl Way {
    /// How long a packet takes on the line.
    pub fn time_of(link: &Link, length: u64) -> Duration {
        Duration::from_nanos((length * 1_000_000_000).checked_div(link.rate).unwrap_or(0))
    }

    /// A packet of `length` bytes, `payload` of them data, comes to the queue.
    pub fn take(
        &mut self,
        link: &Link,
        draws: &mut Rng,
        now: Instant,
        length: u64,
        payload: u64,
        markable: bool,
    ) -> Fate {
        self.segments += 1;
        self.bytes += payload;
        let number = self.data;
        self.data += u64::from(payload > 0);
        let waiting = self.free.since(now).as_nanos() as u128 * u128::from(link.rate) / 1_000_000_000;
        let above = link.mark_above.is_some_and(|most| waiting > u128::from(most));
        let marked = above && markable;
        let full = waiting + u128::from(length) > u128::from(link.queue.max(length));
        let named = payload > 0 && link.lost.contains(&number);
        let refused = above && !markable && !link.lenient;
        let lost = link.dead || full || named || refused || draws.chance(link.loss);
        if lost {
            self.lost += 1;
            return Fate { leaves: now, arrives: Vec::new(), marked: false };
        }
        self.marked += u64::from(marked);
        let leaves = self.free.max(now) + Self::time_of(link, length);
        self.free = leaves;
        let mut arrives = leaves + link.delay;
        if !link.jitter.is_zero() {
            arrives = (arrives + Duration::from_nanos(draws.below(link.jitter.as_nanos()))).max(self.last);
        }
        self.last = arrives;
        if draws.chance(link.reorder) {
            arrives += link.late_by;
        }
        let copies = 1 + usize::from(draws.chance(link.duplicate));
        Fate { leaves, arrives: vec![arrives; copies], marked }
    }
}
