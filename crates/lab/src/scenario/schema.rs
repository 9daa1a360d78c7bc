//! The JSON Schema of the scenario format, generated from its definition (`file`). `check` and editors
//! validate scenarios with it. `kind_schema` adds the names of the registry.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value};

use super::file::ScenarioFile;

/// The JSON Schema of one type of the format.
pub(crate) fn of<T: JsonSchema>() -> Value {
    let mut schema = generator().into_root_schema_for::<T>().to_value();
    tidy(&mut schema);
    schema
}

/// The JSON Schema of scenarios, still without the names of the registry.
pub(crate) fn of_files() -> Value {
    of::<ScenarioFile>()
}

pub(super) fn generator() -> SchemaGenerator {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.into_generator()
}

/// Removes nulls, which TOML does not have, and closes every table.
pub(super) fn tidy(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            take_out_null(map);
            map.values_mut().for_each(tidy);
            if map.contains_key("properties") {
                map.entry("additionalProperties").or_insert(Value::Bool(false));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(tidy),
        _ => {}
    }
}

fn take_out_null(map: &mut Map<String, Value>) {
    if map.get("default").is_some_and(Value::is_null) {
        map.shift_remove("default");
    }
    if let Some(Value::Array(types)) = map.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            map.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(names)) = map.get_mut("enum") {
        names.retain(|name| !name.is_null());
    }
    if let Some(Value::Array(choices)) = map.get_mut("anyOf") {
        choices.retain(|choice| choice.get("type").is_none_or(|name| name != "null"));
        if let [Value::Object(only)] = choices.as_slice() {
            let only = only.clone();
            map.shift_remove("anyOf");
            for (key, value) in only {
                // The description of a field takes precedence over the description of its type.
                map.entry(key).or_insert(value);
            }
        }
    }
}
