//! Suggestions for unknown override keys (`--set`): `path.wifi.loss`, `wifi.loss`, `rcvbuf`, `events[0].at`.
//!
//! Owns the suggestion for the first part of a key. `draft` and `check` validate the other parts.

use serde_json::Value as Schema;

use super::error::nearest_word;
use super::tree::Node;

/// Tables that users often omit, in order of preference.
const TABLES: [&str; 4] = ["flows", "paths", "links", "stations"];
/// Maximum length of a compared key, bytes.
const LONG: usize = 256;

/// The nearest valid key; `None` if the first part of `key` is valid, or resembles no key.
pub(super) fn nearest(tree: &Node, schema: &Schema, key: &str) -> Option<String> {
    if key.len() > LONG {
        return None;
    }
    let top = schema.get("properties")?.as_object()?;
    if let Some((array, rest)) = key.split_once('[') {
        // Error messages write array elements in this form, so users do too.
        let plain = format!("{array}.{}", rest.replacen(']', "", 1));
        return top.contains_key(array).then_some(plain);
    }
    let (first, rest) = key.split_once('.').map_or((key, None), |(first, rest)| (first, Some(rest)));
    if top.contains_key(first) || first.starts_with(['{', '*']) {
        return None;
    }
    let written = |table: &str| {
        tree.get(&[table])
            .and_then(Node::table)
            .map_or_else(Vec::new, |table| table.keys().map(String::as_str).collect())
    };
    let Some(rest) = rest else {
        // Prefers a key of a flow or path whose table the user omitted, then a similar key of the top level.
        let of = |table: &str| {
            let named = schema.pointer(&format!("/properties/{table}/additionalProperties/properties"));
            named.and_then(Schema::as_object).is_some_and(|keys| keys.contains_key(first))
        };
        let table = TABLES.into_iter().find(|table| !written(table).is_empty() && of(table));
        let own = || nearest_word(first, top.keys().map(String::as_str).collect::<Vec<_>>());
        return table.map(|table| format!("{table}.*.{first}")).or_else(|| own().map(str::to_owned));
    };
    // The user wrote the name of a path or flow, but omitted its table.
    if let Some(table) = TABLES.into_iter().find(|table| written(table).contains(&first)) {
        return Some(format!("{table}.{key}"));
    }
    let table = nearest_word(first, top.keys().map(String::as_str).collect::<Vec<_>>())?;
    Some(format!("{table}.{rest}"))
}
