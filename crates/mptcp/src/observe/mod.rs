//! Observation of an endpoint: events that show why a connection acts as it does.
//!
//! Owns the observer trait and the event types. Never writes a file and never influences a connection.
//! Without an observer, each call costs one check of an empty field.

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

/// Receives the events of an endpoint. The endpoint shares the observer with its connections; an observer
/// cannot influence them.
pub trait Observer: std::fmt::Debug + Send + Sync {
    /// Handles an event. Called in the order of the events, for those that are [`Wanted`].
    fn observe(&self, record: &Record);
}

/// Filter of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Event types.
    pub kinds: Kinds,
    /// Start time, inclusive.
    pub from: Instant,
    /// End time, exclusive.
    pub until: Instant,
}

impl Wanted {
    /// Filter for these types at all times.
    #[must_use]
    pub const fn always(kinds: Kinds) -> Self {
        Self { kinds, from: Instant::ZERO, until: Instant::FAR_FUTURE }
    }

    /// Whether an event of this type and time passes the filter.
    #[must_use]
    #[inline]
    pub fn has(&self, at: Instant, kind: Kind) -> bool {
        self.kinds.has(kind) && at >= self.from && at < self.until
    }
}

/// An event with its time and place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Time of the event.
    pub at: Instant,
    /// The connection.
    pub connection: ConnectionId,
    /// The subflow; the first one for an event of the whole connection.
    pub place: Place,
    /// Whether the event concerns the whole connection.
    pub whole: bool,
    /// The event.
    pub event: Event,
    /// Another subflow that is involved; see [`Kind::says`].
    pub other: Option<Place>,
}
