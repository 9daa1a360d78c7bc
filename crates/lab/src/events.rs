//! The event table of a run, and the filter that selects its rows.
//!
//! Owns the names of network events, in addition to the protocol's (`mptcp::observe`), and the parsing of
//! filters.

use mptcp::observe::{Columns, Kind, Kinds};
use mptcp_clock::Instant;
use netsim::{Cause, FrameEventType};

/// The type of a network event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// A frame was dropped.
    Drop,
    /// A queue marked a frame.
    Mark,
}

impl FrameKind {
    /// All types.
    pub const ALL: [Self; 2] = [Self::Drop, Self::Mark];

    /// The name that filters and tables use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Drop => "drop",
            Self::Mark => "mark",
        }
    }

    /// A description for the reference page.
    #[must_use]
    pub const fn says(self) -> &'static str {
        match self {
            Self::Drop => "A frame was dropped; `host` is the node that held or sent it",
            Self::Mark => "A queue marked a frame; `host` is the node of the queue",
        }
    }
}

/// Renamed types of events: old name, new name. The old names work for one release.
pub const RENAMED_KINDS: &[(&str, &str)] = &[("block", "connection_blocked"), ("limit", "subflow_blocked")];

/// The selection of recorded events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filter {
    /// Protocol events, by type.
    pub kinds: Kinds,
    /// Whether dropped frames are recorded.
    pub drops: bool,
    /// Whether marked frames are recorded.
    pub marks: bool,
    /// Start of the recorded interval.
    pub from: Instant,
    /// End of the recorded interval, exclusive.
    pub until: Instant,
}

impl Filter {
    /// Records no events. A run with this filter still measures the limits of paths.
    pub const NONE: Self = Self {
        kinds: Kinds::NONE,
        drops: false,
        marks: false,
        from: Instant::ZERO,
        until: Instant::FAR_FUTURE,
    };

    /// Whether a protocol event is recorded.
    #[must_use]
    pub fn has(&self, at: Instant, kind: Kind) -> bool {
        self.kinds.has(kind) && at >= self.from && at < self.until
    }

    /// A filter for the named types; `all` selects every type.
    ///
    /// # Errors
    /// Returns the first unknown name.
    pub fn named<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self, String> {
        let mut filter = Self::NONE;
        for name in names {
            let name = RENAMED_KINDS.iter().find(|(old, _)| *old == name).map_or(name, |(_, new)| new);
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

/// All types of events: name, description, and columns.
#[must_use]
pub fn kinds() -> Vec<(&'static str, &'static str, Vec<&'static str>)> {
    let fields = |kind: &Kind| kind.fields().iter().map(|field| field.name()).collect();
    let protocol = Kind::ALL.iter().map(|kind| (kind.name(), kind.says(), fields(kind)));
    protocol.chain(FrameKind::ALL.map(|kind| (kind.name(), kind.says(), vec!["bytes"]))).collect()
}

/// The recorded events of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Events {
    /// Host names, which the column `host` indexes.
    pub hosts: Vec<String>,
    /// The rows, ordered by time.
    pub columns: Columns,
}

/// The word for a frame event in tables: `marked`, or the cause of a drop.
pub(crate) fn word(what: FrameEventType) -> &'static str {
    match what {
        FrameEventType::Marked => "marked",
        FrameEventType::Dropped(cause) => match cause {
            Cause::QueueFull => "queue_full",
            Cause::Chance => "random_loss",
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
