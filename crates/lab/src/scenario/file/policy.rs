//! The value of a key that takes a policy.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// A name, or a table of a name (`kind`) and values for the policy. A registry knows the names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PolicyValue {
    /// `"minrtt"`.
    Name(String),
    /// `{ kind = "minrtt" }`.
    Table(toml::Table),
}

impl JsonSchema for PolicyValue {
    fn schema_name() -> Cow<'static, str> {
        "Policy".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }
}
