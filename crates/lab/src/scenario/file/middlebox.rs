//! The table of middleboxes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::names::{BoxKind, SegmentKind, Side, Stripped};
use super::super::units::{Size, Span};

table! {
    /// A box that meddles with TCP, at the second end of a path or link (the server's end of a path, the access
    /// point of a station). What each does to Multipath TCP: docs/middleboxes.md.
    MiddleboxTable {
        /// What it does. Needed.
        kind: BoxKind,
        /// The path on which it stands.
        path: String,
        /// The link on which it stands.
        link: String,
        /// The wireless interface on which it stands.
        station: String,
        /// The direction in which it meddles; not for nat, whose inside is the first end. Default: both.
        direction: Side,
        /// Whether it is there at the start; events switch it. Default: true.
        on: bool,
        /// nat: a mapping that nothing uses for so long is forgotten. Default: 124min, the least that RFC 5382
        /// allows.
        timeout: Span,
        /// strip-options: which options. Default: mptcp.
        options: Stripped,
        /// strip-options: from which segments, of syn, syn-ack, data, ack. Default: all.
        from: Vec<SegmentKind>,
        /// split: the most payload of a part. Default: 536B.
        size: Size,
        /// coalesce: how long a segment waits for the next. Default: 1ms.
        wait: Span,
        /// early-ack: how much it holds for a connection, acknowledged by itself alone. Default: 64KB.
        buffer: Size,
        /// rewrite-payload: one change in so much of a stream. Default: 64KB.
        every: Size,
        /// rewrite-payload: how many bytes a change puts in, 0 to 64; 0B changes a byte. Default: 0B.
        grow: Size,
    }
}
