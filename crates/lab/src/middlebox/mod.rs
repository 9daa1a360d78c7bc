//! Middleboxes: devices on a link that change, drop or create segments; one file per type.
//!
//! Owns the trait of a middlebox, which extensions also implement, and helper functions for segments. `world`
//! places middleboxes on links, and passes segments to them.

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

/// A segment, and its direction on the link.
pub type Travelling = (Side, Segment);

/// A middlebox. It sees both directions of its link, one segment at a time.
pub trait Middlebox: fmt::Debug + Send {
    /// Handles a segment. Forwarded and generated segments, in any direction, are appended to `out`.
    fn take(&mut self, now: Instant, side: Side, segment: Segment, out: &mut Vec<Travelling>);

    /// Time of the next call of `wake`; `None` if no timer runs.
    fn due(&self) -> Option<Instant> {
        None
    }

    /// Called at the time of `due`. Segments to send are appended to `out`.
    fn wake(&mut self, _now: Instant, _out: &mut Vec<Travelling>) {}
}

/// The context of a new middlebox.
#[derive(Debug)]
pub struct Site {
    /// The directions that it modifies.
    pub way: Way,
    /// Its own random stream.
    pub random: Rng,
}

/// A factory of a middlebox, called whenever the scenario activates the middlebox.
pub type Maker = Arc<dyn Fn(Site) -> Box<dyn Middlebox> + Send + Sync>;

/// A factory of middleboxes of one type.
pub(crate) fn maker<B: Middlebox + 'static>(make: impl Fn(Site) -> B + Send + Sync + 'static) -> Maker {
    Arc::new(move |site| Box::new(make(site)))
}

/// The two addresses of a TCP connection. The one on the side of the link's first end comes first.
pub type Ends = (SocketAddr, SocketAddr);

/// State per connection.
pub type Flows<T> = BTreeMap<Ends, T>;

/// The connection of a segment.
#[must_use]
pub fn ends(side: Side, segment: &Segment) -> Ends {
    match side {
        Side::Forward => (segment.source, segment.destination),
        Side::Backward => (segment.destination, segment.source),
    }
}

/// The opposite direction.
#[must_use]
pub fn opposite(side: Side) -> Side {
    match side {
        Side::Forward => Side::Backward,
        Side::Backward => Side::Forward,
    }
}

/// Offset of a sequence number from `origin`, the number of the SYN, in bytes below 4 GB.
#[must_use]
pub fn since(origin: Seq, sequence: Seq) -> u64 {
    u64::from(sequence.value().wrapping_sub(origin.value()))
}

/// Whether a middlebox modifies a direction.
#[must_use]
pub fn covers(way: Way, side: Side) -> bool {
    match way {
        Way::Both => true,
        Way::One(only) => only == side,
    }
}
