//! What happens inside an endpoint, event by event, for whoever wants to know why.
//!
//! Owns the words: the trait of observers, the events, their kinds. Writes no file and decides nothing. A connection that nobody
//! observes spends a look at an empty place on it; kinds that nobody wants are not made.

mod event;
mod kind;
mod log;
mod path_limit;
mod place;
mod row;

use mptcp_clock::Instant;

use crate::ids::ConnectionId;
pub use crate::observe::event::{Detection, Event, Picked, Reinjected, WindowChange};
pub use crate::observe::kind::{Field, Kind, Kinds};
pub use crate::observe::log::{Columns, Log, NOTHING, Row};
pub(crate) use crate::observe::path_limit::PathClock;
pub use crate::observe::path_limit::{PathLimit, PathReasons};
pub use crate::observe::place::Place;
pub use crate::observe::row::{Numbers, Values};

/// Somebody who is told. Belongs to an endpoint, which shares it with its connections; what it does with an event is its own
/// affair, and nothing that it does comes back.
pub trait Observer: std::fmt::Debug + Send + Sync {
    /// Something happened. Called in the order in which it happens, for events that are [`Wanted`].
    fn observe(&self, record: &Record);
}

/// Which events an observer is told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The kinds.
    pub kinds: Kinds,
    /// From this time on.
    pub from: Instant,
    /// Up to this time, itself left out.
    pub until: Instant,
}

impl Wanted {
    /// These kinds at all times.
    #[must_use]
    pub const fn always(kinds: Kinds) -> Self {
        Self { kinds, from: Instant::ZERO, until: Instant::FAR_FUTURE }
    }

    /// Whether an event of a kind at a time is among them.
    #[must_use]
    #[inline]
    pub fn has(&self, at: Instant, kind: Kind) -> bool {
        self.kinds.has(kind) && at >= self.from && at < self.until
    }
}

/// An event, when and where it happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// When.
    pub at: Instant,
    /// On which connection.
    pub connection: ConnectionId,
    /// On which subflow; what concerns the whole connection has its first one here.
    pub place: Place,
    /// It concerns the whole connection.
    pub whole: bool,
    /// What.
    pub event: Event,
    /// Another subflow that has to do with it: see [`Kind::says`].
    pub other: Option<Place>,
}
