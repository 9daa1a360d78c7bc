//! The JSON Schema of the format, made from its definition and the kinds of a registry.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::file::ScenarioFile;
use super::kinds::Kinds;

/// The JSON Schema of one type of the format.
pub(crate) fn of<T: JsonSchema>() -> Value {
    let mut schema = generator().into_root_schema_for::<T>().to_value();
    tidy(&mut schema);
    schema
}

/// The JSON Schema of a scenario without the kinds that a registry has.
pub(crate) fn of_files() -> Value {
    of::<ScenarioFile>()
}

fn generator() -> SchemaGenerator {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.into_generator()
}

/// Puts the middleboxes in: their names, the keys of the built-in ones, and a table for the keys of the others.
pub(crate) fn add_middleboxes<M>(schema: &mut Value, kinds: &Kinds<M>) {
    let place = schema.pointer_mut("/properties/middleboxes/additionalProperties/properties");
    let Some(properties) = place.and_then(Value::as_object_mut) else { return };
    if let Some(Value::Object(kind)) = properties.get_mut("kind") {
        *kind = choice("What it does. Needed.", kinds.all().map(|kind| (&*kind.name, &*kind.about)));
    }
    let mut generator = generator();
    for key in kinds.all().flat_map(|kind| kind.keys) {
        let mut own = (key.schema)(&mut generator).to_value();
        tidy(&mut own);
        if let Value::Object(own) = &mut own {
            own.insert("description".to_owned(), key.about.into());
        }
        properties.insert(key.name.to_owned(), own);
    }
    if kinds.registered().next().is_some() {
        let about = "The keys of a kind that does not come with mptcplab.";
        let open = json!({ "type": "object", "additionalProperties": true, "description": about });
        properties.insert("parameters".to_owned(), open);
    }
}

/// Puts a key in at each of `places` whose value is a table of a kind, where there is any kind.
pub(crate) fn add_kinds<M>(schema: &mut Value, places: &[&str], key: &str, about: &str, kinds: &Kinds<M>) {
    if kinds.all().next().is_none() {
        return;
    }
    let names = kinds.all().map(|kind| (&*kind.name, &*kind.about));
    let kind = choice("Which. Its keys stand beside it. Needed.", names);
    let table = json!({
        "type": "object", "properties": { "kind": kind }, "additionalProperties": true, "description": about
    });
    for place in places {
        if let Some(properties) = schema.pointer_mut(place).and_then(Value::as_object_mut) {
            properties.insert(key.to_owned(), table.clone());
        }
    }
}

/// One of several names.
fn choice<'a>(about: &str, names: impl Iterator<Item = (&'a str, &'a str)>) -> Map<String, Value> {
    let one = |(name, about)| json!({ "type": "string", "const": name, "description": about });
    let names: Vec<Value> = names.map(one).collect();
    Map::from_iter([("description".to_owned(), about.into()), ("oneOf".to_owned(), names.into())])
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
