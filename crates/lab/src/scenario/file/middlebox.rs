//! The table `middleboxes` of a scenario file: the keys of all middleboxes. The file of each type, such as
//! `middlebox/nat.rs`, defines the keys of that type.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::names::Side;

table! {
    /// A middlebox at the second end of a path or link: the server end of a path, or the access point of a
    /// station. Effects on MPTCP: docs/reference/middlebox-outcomes.md.
    MiddleboxTable {
        /// The function of the middlebox. Required.
        kind: String,
        /// The path with the middlebox.
        path: String,
        /// The link with the middlebox.
        link: String,
        /// The station with the middlebox.
        station: String,
        /// The direction that the middlebox modifies. Must not be set for nat, whose inside is the first end.
        /// Default: both.
        direction: Side,
        /// Whether the middlebox is active at the start. Events can change this. Default: true.
        on: bool,
    } and own: IndexMap<String, toml::Value>;
}
