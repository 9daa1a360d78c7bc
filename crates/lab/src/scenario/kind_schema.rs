//! Adds the names of a registry to the JSON Schema, so that validation and editors know registered names.

use mptcp::policy;
use serde_json::{Map, Value, json};

use super::kinds::Kinds;
use super::schema::{generator, tidy};

/// Form of the name of a policy that is loaded instead of registered.
const LOADED: &str = r"^.+:[A-Za-z_][A-Za-z0-9_.]*$";

/// Adds the names of middleboxes, the keys of built-in middleboxes, and a table for the keys of middleboxes
/// from other crates.
pub(crate) fn add_middleboxes<M>(schema: &mut Value, kinds: &Kinds<M>) {
    let place = schema.pointer_mut("/properties/middleboxes/additionalProperties/properties");
    let Some(properties) = place.and_then(Value::as_object_mut) else { return };
    if let Some(Value::Object(kind)) = properties.get_mut("kind") {
        *kind = choice(
            "The function of the middlebox. Required.",
            kinds.all().map(|kind| (&*kind.name, &*kind.about)),
        );
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
        let about = "Keys of a kind from another crate.";
        let open = json!({ "type": "object", "additionalProperties": true, "description": about });
        properties.insert("parameters".to_owned(), open);
    }
}

/// Adds `key`, whose value is a table with `kind`, at each of `places`. Does nothing if `kinds` is empty.
pub(crate) fn add_kinds<M>(schema: &mut Value, places: &[&str], key: &str, about: &str, kinds: &Kinds<M>) {
    if kinds.all().next().is_none() {
        return;
    }
    let names = kinds.all().map(|kind| (&*kind.name, &*kind.about));
    let kind = choice("The name; its keys are in the same table. Required.", names);
    let table = json!({
        "type": "object", "properties": { "kind": kind }, "additionalProperties": true, "description": about
    });
    for place in places {
        if let Some(properties) = schema.pointer_mut(place).and_then(Value::as_object_mut) {
            properties.insert(key.to_owned(), table.clone());
        }
    }
}

/// Also allows a table with `kind` as the value of `key` at each of `places`.
pub(crate) fn add_form<M>(schema: &mut Value, places: &[&str], key: &str, about: &str, kinds: &Kinds<M>) {
    let names = kinds.all().map(|kind| (&*kind.name, &*kind.about));
    let kind = choice("The name; its keys are in the same table. Required.", names);
    let table = json!({
        "type": "object", "properties": { "kind": kind }, "required": ["kind"], "additionalProperties": true,
        "description": about
    });
    for place in places {
        let property = schema.pointer_mut(&format!("{place}/{key}")).and_then(Value::as_object_mut);
        let Some(property) = property else { continue };
        // The existing schema becomes one form; its description stays with the key.
        let mut plain = property.clone();
        let about = plain.shift_remove("description");
        property.clear();
        property.extend(about.map(|about| ("description".to_owned(), about)));
        property.insert("oneOf".to_owned(), json!([plain, table]));
    }
}

/// Allows two forms as the value of `key` at each of `places`: the name of a policy, and a table with this
/// name as `kind` and parameters.
pub(crate) fn add_policies<T: ?Sized>(
    schema: &mut Value,
    places: &[&str],
    key: &str,
    policies: &policy::Registry<T>,
    is_loadable: bool,
) {
    let names = || policies.entries().iter().map(|entry| (entry.name(), entry.about()));
    let forms = |about| {
        let mut names = choice(about, names());
        if let (true, Some(Value::Array(forms))) = (is_loadable, names.get_mut("oneOf")) {
            forms.push(json!({
                "type": "string", "pattern": LOADED,
                "description": "A Python class: `module:Class` or `file.py:Class` (docs/python-policies.md)"
            }));
        }
        names
    };
    let kind = forms("The name; its parameters are in the same table. Required.");
    let table = json!({
        "type": "object", "properties": { "kind": kind }, "additionalProperties": true,
        "description": "A policy with parameters."
    });
    for place in places {
        let property = schema.pointer_mut(&format!("{place}/{key}")).and_then(Value::as_object_mut);
        let Some(property) = property else { continue };
        let mut forms = forms("");
        if let Some(Value::Array(forms)) = forms.get_mut("oneOf") {
            forms.push(table.clone());
        }
        forms.shift_remove("description");
        property.shift_remove("type");
        property.append(&mut forms);
    }
}

/// A schema for one of several names.
fn choice<'a>(about: &str, names: impl Iterator<Item = (&'a str, &'a str)>) -> Map<String, Value> {
    let one = |(name, about)| json!({ "type": "string", "const": name, "description": about });
    let names: Vec<Value> = names.map(one).collect();
    Map::from_iter([("description".to_owned(), about.into()), ("oneOf".to_owned(), names.into())])
}
