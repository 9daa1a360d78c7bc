//! Middleboxes: what each kind does to the segments of a link, one file for each.
//!
//! Owns the trait that a box implements, and what boxes commonly need to know of a segment. Never knows where a box
//! stands among others, nor how a segment gets to it.

pub(crate) mod bleach_ecn;
pub mod changes;
pub(crate) mod coalesce;
pub(crate) mod early_ack;
pub(crate) mod mark_ecn;
pub(crate) mod nat;
pub(crate) mod rewrite_payload;
pub(crate) mod rewrite_sequence;
pub(crate) mod split;
pub(crate) mod strip_options;

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use mptcp_clock::{Instant, Rng};
use mptcp_wire::{Segment, Seq};

use crate::scenario::Way;
use crate::scenario::names::Side;

/// A segment and the direction of the link in which it travels.
pub type Travelling = (Side, Segment);

/// A box. It sees both directions of its link, one segment after the other.
pub trait Middlebox: fmt::Debug + Send {
    /// A segment came; what goes on, in any direction, is put into `out`.
    fn take(&mut self, now: Instant, side: Side, segment: Segment, out: &mut Vec<Travelling>);

    /// When it wants to be woken.
    fn due(&self) -> Option<Instant> {
        None
    }

    /// It is time.
    fn wake(&mut self, _now: Instant, _out: &mut Vec<Travelling>) {}
}

/// What a box is told when it comes.
#[derive(Debug)]
pub struct Site {
    /// The directions in which it is to meddle.
    pub way: Way,
    /// The chance of this box alone.
    pub random: Rng,
}

/// Makes a box, each time that it comes.
pub type Maker = Arc<dyn Fn(Site) -> Box<dyn Middlebox> + Send + Sync>;

/// The maker of boxes of one type.
pub(crate) fn maker<B: Middlebox + 'static>(make: impl Fn(Site) -> B + Send + Sync + 'static) -> Maker {
    Arc::new(move |site| Box::new(make(site)))
}

/// Both ends of a TCP connection, who sits at the first end of the link first.
pub type Ends = (SocketAddr, SocketAddr);

/// What a box knows of each connection.
pub type Flows<T> = BTreeMap<Ends, T>;

/// The connection of a segment.
#[must_use]
pub fn ends(side: Side, segment: &Segment) -> Ends {
    match side {
        Side::Forward => (segment.source, segment.destination),
        Side::Backward => (segment.destination, segment.source),
    }
}

/// The other direction.
#[must_use]
pub fn opposite(side: Side) -> Side {
    match side {
        Side::Forward => Side::Backward,
        Side::Backward => Side::Forward,
    }
}

/// How far a sequence number lies behind its SYN. Good for 4 GB.
#[must_use]
pub fn since(origin: Seq, sequence: Seq) -> u64 {
    u64::from(sequence.value().wrapping_sub(origin.value()))
}

/// Whether a box is to meddle in a direction.
#[must_use]
pub fn covers(way: Way, side: Side) -> bool {
    match way {
        Way::Both => true,
        Way::One(only) => only == side,
    }
}
