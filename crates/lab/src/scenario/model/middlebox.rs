//! Middleboxes as they are run: plain values.

use mptcp_clock::Duration;

use super::Way;
use crate::scenario::names::{SegmentKind, Stripped};

/// A middlebox at the second end of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct Middlebox {
    /// Its name.
    pub name: String,
    /// The link on which it stands.
    pub link: String,
    /// The directions in which it meddles.
    pub way: Way,
    /// Whether it is there at the start.
    pub on: bool,
    /// What it does.
    pub deed: Deed,
}

/// What a middlebox does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deed {
    /// Translates addresses and ports.
    Nat {
        /// Silence after which a mapping is forgotten.
        timeout: Duration,
    },
    /// Adds an offset to sequence numbers.
    RewriteSequence,
    /// Removes options.
    StripOptions {
        /// Which.
        options: Stripped,
        /// From which segments.
        from: Vec<SegmentKind>,
    },
    /// Cuts segments.
    Split {
        /// Most payload bytes of a part; above zero.
        size: u64,
    },
    /// Joins segments.
    Coalesce {
        /// How long one waits for the next.
        wait: Duration,
    },
    /// Acknowledges before the receiver does.
    EarlyAck {
        /// Bytes held for a connection; above zero.
        buffer: u64,
    },
    /// Changes the payload.
    RewritePayload {
        /// Bytes of the stream from one change to the next; above zero.
        every: u64,
        /// Bytes that a change puts in.
        grow: u64,
    },
}

/// A middlebox comes or goes during the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Switch {
    /// When; before the end of the run.
    pub at: Duration,
    /// The middlebox.
    pub middlebox: String,
    /// Whether it is there from now on.
    pub on: bool,
}
