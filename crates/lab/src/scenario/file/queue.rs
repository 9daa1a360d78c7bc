//! The value of the key `queue` of links, paths and WiFi cells in a scenario file.
//!
//! Owns both forms of the value: the limit of a drop-tail queue, or a table that names a queue discipline.
//! The registry (`crate::registry`) knows the disciplines, and adds the table to the JSON Schema.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use super::super::units::QueueSize;

/// The limit of a drop-tail queue, or a table with the name of a discipline (`kind`) and its keys.
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
