//! The JSON Schema of the format, made from its definition.

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use super::file::ScenarioFile;

/// The JSON Schema (draft 2020-12) of a scenario, as TOML or JSON. The formats `rate`, `time`,
/// `percent`, `size` and `queue` are described where they stand.
#[must_use]
pub fn json_schema() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    let mut schema = settings.into_generator().into_root_schema_for::<ScenarioFile>().to_value();
    tidy(&mut schema);
    schema
}

/// Takes out what only serde needs (nulls, which TOML does not have), and closes every table.
fn tidy(schema: &mut Value) {
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
                // The comment of the field says more than that of its type.
                map.entry(key).or_insert(value);
            }
        }
    }
}
