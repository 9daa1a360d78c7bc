//! Queue disciplines of wires: order, drops and marks of queued packets.
//!
//! Owns the interface that each discipline implements, also those of other crates. A discipline never sees a
//! payload. It need not know when the link is idle: the link direction asks for the next packet then.

mod codel;
mod codel_law;
mod dualpi2;
mod fifo;
mod fq_codel;
mod packet_fifo;
mod pie;
mod prio;
mod red;
mod round_robin;
mod tbf;

use std::fmt;
use std::sync::Arc;

use mptcp_clock::{Duration, Instant, Rng};

use crate::frame::{Cause, Codepoint, DirectionId};
use crate::rate::Rate;

pub use codel::{CoDel, CoDelQueue};
pub(crate) use codel_law::CoDelLaw;
pub use dualpi2::{DualPi2, DualPi2Queue};
pub use fifo::DropTailQueue;
pub use fq_codel::{FqCoDel, FqCoDelQueue};
pub use pie::{Pie, PieQueue};
pub use prio::{Prio, PrioQueue};
pub use red::{Red, RedQueue};
pub use round_robin::{By, RoundRobin, RoundRobinQueue};
pub use tbf::{Excess, TokenBucket, TokenBucketQueue};

/// A frame as a discipline sees it. The discipline keeps the packet until it selects or drops it.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// Length in bytes (see [`crate::Frame::bytes`]).
    pub bytes: u32,
    /// ECN codepoint.
    pub ecn: Codepoint,
    /// Label of the frame; its class is the subflow number of the driver.
    pub label: u32,
    /// The incoming direction; `None` for packets of this node, and behind filters and taps.
    pub port: Option<DirectionId>,
    /// Arrival time.
    pub arrived: Instant,
    /// Slot of the frame in the direction.
    pub(crate) place: u32,
}

/// The result of a request for the next packet.
#[derive(Clone, Copy, Debug)]
pub enum Next {
    /// The packet that departs now.
    Packet(Packet),
    /// No packet before this instant, at which the direction asks again.
    At(Instant),
    /// The queue is empty.
    Nothing,
}

/// A mean rate limit of a discipline, below the link rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimit {
    /// The rate, bit/s.
    pub rate: Rate,
    /// Whether excess packets are dropped (policer) or queued (shaper).
    pub drops: bool,
}

/// A queue discipline, one instance per direction. Times never decrease between calls.
pub trait QueueDiscipline: fmt::Debug + Send {
    /// Queues an arriving packet, or passes it to [`Wire::drop_full`] or [`Wire::drop_early`]. Queued packets
    /// may be dropped in the same way.
    fn enqueue(&mut self, packet: Packet, wire: &mut Wire<'_>);

    /// Selects the packet that departs, because the link is idle. May drop packets, as [`Self::enqueue`].
    fn dequeue(&mut self, wire: &mut Wire<'_>) -> Next;

    /// Removes all packets, because the link went down.
    fn clear(&mut self);

    /// The rate limit below the link rate; `None` if the discipline uses the full rate.
    fn rate_limit(&self) -> Option<RateLimit> {
        None
    }
}

/// The context of a call to a discipline, and the operations that drop or mark packets.
#[derive(Debug)]
pub struct Wire<'a> {
    /// Current time.
    pub now: Instant,
    /// Link rate; `None` is unlimited.
    pub rate: Option<Rate>,
    /// The only source of randomness for the discipline.
    pub random: &'a mut Rng,
    pub(crate) outcomes: &'a mut PacketOutcomes,
}

/// Packets that a discipline dropped or marked.
#[derive(Debug, Default)]
pub(crate) struct PacketOutcomes {
    pub(crate) dropped: Vec<(Packet, Cause)>,
    pub(crate) marked: u64,
}

impl Wire<'_> {
    /// Drops a packet because of a full queue.
    pub fn drop_full(&mut self, packet: Packet) {
        self.outcomes.dropped.push((packet, Cause::QueueFull));
    }

    /// Drops a packet as a congestion signal.
    pub fn drop_early(&mut self, packet: Packet) {
        self.outcomes.dropped.push((packet, Cause::Discipline));
    }

    /// Marks a packet if it is ECN-capable. Returns whether it then has a mark (RFC 3168 section 5).
    pub fn mark(&mut self, packet: &mut Packet) -> bool {
        self.outcomes.marked += u64::from(packet.ecn.mark());
        packet.ecn == Codepoint::Ce
    }

    /// Transmission time of `bytes`.
    #[must_use]
    pub fn serialisation(&self, bytes: u32) -> Duration {
        self.rate.map_or(Duration::ZERO, |rate| rate.serialisation(bytes))
    }
}

/// A type of queue discipline with its parameters. Creates a [`QueueDiscipline`] for each direction.
#[derive(Clone)]
pub struct QueueKind {
    identity: Arc<str>,
    make: Arc<dyn Fn() -> Box<dyn QueueDiscipline> + Send + Sync>,
}

impl QueueKind {
    /// Stores the function `make`. `identity` names the discipline and its parameters; values with the same
    /// identity are equal.
    pub fn new(
        identity: impl Into<Arc<str>>,
        make: impl Fn() -> Box<dyn QueueDiscipline> + Send + Sync + 'static,
    ) -> Self {
        Self { identity: identity.into(), make: Arc::new(make) }
    }

    /// The discipline and its parameters.
    #[must_use]
    pub fn identity(&self) -> &str {
        &self.identity
    }

    /// The rate limit of its queues, if any.
    #[must_use]
    pub fn rate_limit(&self) -> Option<RateLimit> {
        self.make().rate_limit()
    }

    pub(crate) fn make(&self) -> Box<dyn QueueDiscipline> {
        (self.make)()
    }
}

impl PartialEq for QueueKind {
    fn eq(&self, other: &Self) -> bool {
        self.identity == other.identity
    }
}

impl fmt::Debug for QueueKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "QueueKind({})", self.identity)
    }
}

#[cfg(test)]
mod tests;
