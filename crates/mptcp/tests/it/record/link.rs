//! A simulated path: rate, tail-drop or marking queue, delay, and impairments.

use mptcp::IcmpError;
use mptcp_clock::{Duration, Instant, Rng};

/// Properties of a path; both directions are equal.
#[derive(Clone, Debug)]
pub struct Link {
    /// One-way delay.
    pub delay: Duration,
    /// Bytes per second; 0 for no limit.
    pub rate: u64,
    /// Queue limit, bytes.
    pub queue: u64,
    /// Queue length above which packets are marked, or dropped if they are not ECN-capable, bytes.
    pub mark_above: Option<u64>,
    /// Whether packets without ECN are forwarded instead of dropped.
    pub lenient: bool,
    /// Loss probability of each packet.
    pub loss: f64,
    /// Numbers of the packets with payload that are lost, from 0, in each direction.
    pub lost: Vec<u64>,
    /// Probability that a packet is delayed by `late_by`.
    pub reorder: f64,
    pub late_by: Duration,
    /// Maximum jitter; it does not reorder packets.
    pub jitter: Duration,
    pub duplicate: f64,
    /// MTU, and whether a router reports it.
    pub mtu: Option<(u32, bool)>,
    /// Whether all packets are lost.
    pub dead: bool,
    /// All packets are lost, and a router reports this error.
    pub refuses: Option<IcmpError>,
    /// Whether the path uses IPv6.
    pub v6: bool,
    /// Whether the client's interface is a backup.
    pub backup: bool,
    /// Whether the client's interface reports departures.
    pub departures: bool,
    /// Maximum segment size for segmentation offload, bytes; 0 to disable.
    pub gso: u16,
}

impl Link {
    /// Creates a path with a one-way delay in ms, a rate in kB/s and a queue in kB.
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

/// The result for one packet.
#[derive(Debug)]
pub struct Fate {
    /// Time at which it leaves the queue.
    pub leaves: Instant,
    /// Arrival times of the packet and its duplicates; empty if it is lost.
    pub arrives: Vec<Instant>,
    pub marked: bool,
}

/// One direction of a path.
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
    /// Serialisation time of a packet.
    pub fn time_of(link: &Link, length: u64) -> Duration {
        Duration::from_nanos((length * 1_000_000_000).checked_div(link.rate).unwrap_or(0))
    }

    /// Handles a packet of `length` bytes with `payload` bytes of data.
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
