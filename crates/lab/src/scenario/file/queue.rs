//! The value of the key `queue` of links, paths and WiFi cells in a scenario file.
//!
//! Owns its two forms: the limit of a drop-tail queue, or a table that names a queue discipline. The registry
//! (`crate::registry`) knows the disciplines and their keys, so the JSON schema of the table is made there.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use super::super::units::QueueSize;

/// The limit of a drop-tail queue, or a table of a discipline (`kind`) and its keys. A registry knows the kinds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum QueueValue {
    /// `"53p"`.
    DropTail(QueueSize),
    /// `{ kind = "codel" }`.
    Discipline(toml::Table),
}

impl JsonSchema for QueueValue {
    fn schema_name() -> Cow<'static, str> {
        QueueSize::schema_name()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        QueueSize::json_schema(generator)
    }
}
