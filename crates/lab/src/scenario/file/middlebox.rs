//! The table of middleboxes, without the keys that a kind has for itself.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::names::Side;

table! {
    /// A box that meddles with TCP, at the second end of a path or link (the server's end of a path, the access
    /// point of a station). What each does to Multipath TCP: docs/reference/middlebox-outcomes.md.
    MiddleboxTable {
        /// What it does. Needed.
        kind: String,
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
    } and own: IndexMap<String, toml::Value>;
}
