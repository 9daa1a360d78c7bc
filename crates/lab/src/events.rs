//! Which events of a run are kept, and what a table of them is.
//!
//! Owns the names of what the network tells beside what the protocol does, and the reading of filters that people write.

use mptcp::observe::{Columns, Kind, Kinds};
use mptcp_clock::Instant;
use netsim::{Cause, Happening};

/// What the network tells of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// A frame never arrived.
    Drop,
    /// A queue marked a frame.
    Mark,
}

impl FrameKind {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Drop, Self::Mark];

    /// The name that filters and tables use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Drop => "drop",
            Self::Mark => "mark",
        }
    }

    /// What it says, for people.
    #[must_use]
    pub const fn says(self) -> &'static str {
        match self {
            Self::Drop => "A frame never arrived; `host` is the node in whose queue or on whose line it was",
            Self::Mark => "A queue marked a frame; `host` is its node",
        }
    }
}

/// Which events are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filter {
    /// Kinds of the protocol.
    pub kinds: Kinds,
    /// Frames that are dropped.
    pub drops: bool,
    /// Frames that are marked.
    pub marks: bool,
    /// From this time on.
    pub from: Instant,
    /// Up to this time, itself left out.
    pub until: Instant,
}

impl Filter {
    /// No events: what holds paths back is measured all the same.
    pub const NONE: Self = Self {
        kinds: Kinds::NONE,
        drops: false,
        marks: false,
        from: Instant::ZERO,
        until: Instant::FAR_FUTURE,
    };

    /// Whether an event of the protocol is among them.
    #[must_use]
    pub fn has(&self, at: Instant, kind: Kind) -> bool {
        self.kinds.has(kind) && at >= self.from && at < self.until
    }

    /// The kinds of these names; `all` is every kind.
    ///
    /// # Errors
    /// The name that is none.
    pub fn named<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self, String> {
        let mut filter = Self::NONE;
        for name in names {
            match (Kind::named(name), name) {
                (Some(kind), _) => filter.kinds = filter.kinds.with(kind),
                (None, "drop") => filter.drops = true,
                (None, "mark") => filter.marks = true,
                (None, "all") => {
                    (filter.kinds, filter.drops, filter.marks) = (Kinds::ALL, true, true);
                }
                (None, other) => return Err(other.to_owned()),
            }
        }
        Ok(filter)
    }
}

/// Names, what they say, and the columns that their numbers stand in.
#[must_use]
pub fn kinds() -> Vec<(&'static str, &'static str, Vec<&'static str>)> {
    let fields = |kind: &Kind| kind.fields().iter().map(|field| field.name()).collect();
    let protocol = Kind::ALL.iter().map(|kind| (kind.name(), kind.says(), fields(kind)));
    protocol.chain(FrameKind::ALL.map(|kind| (kind.name(), kind.says(), vec!["bytes"]))).collect()
}

/// The events of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Events {
    /// Names that the column `host` counts into.
    pub hosts: Vec<String>,
    /// The rows, by time.
    pub columns: Columns,
}

/// A word for what happened to a frame.
pub(crate) fn word(what: Happening) -> &'static str {
    match what {
        Happening::Marked => "marked",
        Happening::Dropped(cause) => match cause {
            Cause::QueueFull => "queue_full",
            Cause::Chance => "chance",
            Cause::TooLong => "too_long",
            Cause::Down => "down",
            Cause::Filter => "filter",
            Cause::Retries => "retries",
            Cause::Discipline => "discipline",
            Cause::Corrupted => "corrupted",
            Cause::NoRoute => "no_route",
        },
    }
}
