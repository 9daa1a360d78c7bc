//! The value of the keys `congestion`, `scheduler` and `path_manager`, which take a policy. The registry adds
//! the names of policies to the JSON Schema.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// The name of a policy, or a table with this name (`kind`) and parameters of the policy.
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
