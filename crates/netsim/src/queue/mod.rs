//! Queue disciplines of wires: what waits, in which order it leaves, what is dropped and what is marked.
//!
//! Owns what a discipline is told and may do. A discipline never sees a payload and never knows when the line is free:
//! the direction whose queue it is asks for the next packet when the last one has left.

mod codel;
mod codel_law;
mod dualpi2;
mod fifo;
mod fq_codel;
mod pie;
mod prio;
mod red;
mod row;
mod tbf;
mod turns;

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
pub use tbf::{Excess, TokenBucket, TokenBucketQueue};
pub use turns::{By, Turns, TurnsQueue};

/// What a discipline sees of a frame. It keeps the packet, and gives it back when its turn has come.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// Bytes on the wire (see [`crate::Frame::bytes`]).
    pub bytes: u32,
    /// Whether it may be marked, and whether it is.
    pub ecn: Codepoint,
    /// The frame's label: its class says the subflow, as the driver numbers them.
    pub label: u32,
    /// The direction by which it came to this node; `None` from the node itself, and behind filters and taps.
    pub port: Option<DirectionId>,
    /// When it came.
    pub arrived: Instant,
    /// Where the direction keeps the frame.
    pub(crate) place: u32,
}

/// What a discipline gives when it is asked for the next packet.
#[derive(Clone, Copy, Debug)]
pub enum Next {
    /// This one leaves now.
    Packet(Packet),
    /// There are some, but none before this instant: it is asked again then.
    At(Instant),
    /// There is none.
    Nothing,
}

/// A rate below the line's that a queue discipline holds on average.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimit {
    /// The rate, bit/s.
    pub rate: Rate,
    /// What comes faster is dropped (a policer), and does not wait (a shaper).
    pub drops: bool,
}

/// A queue discipline: one for each direction that has one. Time never runs backwards between two calls.
pub trait QueueDiscipline: fmt::Debug + Send {
    /// A packet arrives. It is kept, or given to [`Wire::drop_full`] or [`Wire::drop_early`]; so may others be that wait.
    fn enqueue(&mut self, packet: Packet, wire: &mut Wire<'_>);

    /// The line is free: which packet leaves. Drops as [`Self::enqueue`] does.
    fn dequeue(&mut self, wire: &mut Wire<'_>) -> Next;

    /// All that waits is lost: the link went down.
    fn clear(&mut self);

    /// The rate below the line's that bounds what leaves, if there is one.
    fn rate_limit(&self) -> Option<RateLimit> {
        None
    }
}

/// The moment of a call, and what a discipline may do to packets.
#[derive(Debug)]
pub struct Wire<'a> {
    /// The present.
    pub now: Instant,
    /// The line rate; `None` is infinite.
    pub rate: Option<Rate>,
    /// All chance of the discipline comes from here.
    pub random: &'a mut Rng,
    pub(crate) fates: &'a mut Fates,
}

/// Packets that a discipline let go of otherwise than to the line.
#[derive(Debug, Default)]
pub(crate) struct Fates {
    pub(crate) dropped: Vec<(Packet, Cause)>,
    pub(crate) marked: u64,
}

impl Wire<'_> {
    /// A packet is dropped for want of room.
    pub fn drop_full(&mut self, packet: Packet) {
        self.fates.dropped.push((packet, Cause::QueueFull));
    }

    /// A packet is dropped as a sign of congestion.
    pub fn drop_early(&mut self, packet: Packet) {
        self.fates.dropped.push((packet, Cause::Discipline));
    }

    /// Marks a packet, if that is allowed; returns whether it carries the mark now (RFC 3168 section 5).
    pub fn mark(&mut self, packet: &mut Packet) -> bool {
        self.fates.marked += u64::from(packet.ecn.mark());
        packet.ecn == Codepoint::Ce
    }

    /// How long so many bytes take on the line.
    #[must_use]
    pub fn serialisation(&self, bytes: u32) -> Duration {
        self.rate.map_or(Duration::ZERO, |rate| rate.serialisation(bytes))
    }
}

/// How a [`QueueDiscipline`] is made, anew for each direction.
#[derive(Clone)]
pub struct QueueKind {
    identity: Arc<str>,
    make: Arc<dyn Fn() -> Box<dyn QueueDiscipline> + Send + Sync>,
}

impl QueueKind {
    /// A maker of disciplines. `identity` says which with which parameters: makers of one identity count as equal.
    pub fn new(
        identity: impl Into<Arc<str>>,
        make: impl Fn() -> Box<dyn QueueDiscipline> + Send + Sync + 'static,
    ) -> Self {
        Self { identity: identity.into(), make: Arc::new(make) }
    }

    /// Which discipline with which parameters.
    #[must_use]
    pub fn identity(&self) -> &str {
        &self.identity
    }

    /// The rate that bounds what leaves its queues, if there is one.
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
