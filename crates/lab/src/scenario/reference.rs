//! The reference page of the scenario format (docs/scenario.md), generated from the JSON Schema.

use std::fmt::Write as _;

use serde_json::{Map, Value};

const OPENING: &str = "# Scenario files

A scenario is a TOML file that describes a network and its flows. Values with a dimension carry their unit, as in `\"10ms\"`.
This page is generated from `crates/lab/src/scenario/file.rs` by `UPDATE=1 cargo test -p mptcp-lab --test it reference::`.

| value | example | units |
|---|---|---|
| rate | `\"8Mbit\"` | decimal bit/s as in tc: bit, kbit, Mbit, Gbit, Tbit (any case), b/s, kb/s, Mb/s, Gb/s; or `\"unlimited\"` |
| time | `\"10ms\"` | ns, us, ms, s, min, h |
| percent | `\"3%\"` | %, from 0% to 100% |
| size | `\"200KB\"` | B; kB = 1000 B; KB = KiB = 1024 B, as in sysctl; MB = 10^6 B; MiB = 2^20 B; GB = 10^9 B; GiB = 2^30 B |
| queue | `\"53p\"`, `\"80kB\"`, `\"80ms\"` | packets (p), a size, or a time at the link rate; or `\"unlimited\"` |
| distance | `\"3m\"` | m, cm |

";

/// Title and description of the keys that paths, links, topologies and their directions share.
const LINK_KEYS: &str = "Keys of paths and links";
const LINK_KEYS_ABOUT: &str = "`[paths.NAME]`, `[links.NAME]` and `[topology]` take these keys for both directions. Their tables \
    `forward` and `backward` take them for one direction. `[topology.hosts]` takes them for the links of hosts.";
/// The tables that take the keys of links next to their own keys.
const TABLES_OF_LINKS: [&str; 3] = ["`[paths.NAME]`", "`[links.NAME]`", "`[topology]`"];
/// Position in the schema of a table that has only the keys of links.
const DIRECTION: &str = "/properties/paths/additionalProperties/properties/forward";

/// The reference page of a schema, in Markdown.
pub(crate) fn page(schema: &Value) -> String {
    let mut page = OPENING.to_owned();
    let shared = schema.pointer(&format!("{DIRECTION}/properties")).and_then(Value::as_object);
    table(&mut page, "Top level", schema, &shared.cloned().unwrap_or_default());
    page
}

/// A section with all names that a key takes, and their descriptions; empty without names. `place` introduces
/// the key.
pub(crate) fn kinds<'a>(title: &str, place: &str, all: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut section = String::new();
    for (name, about) in all {
        if section.is_empty() {
            section = format!("## {title}\n\n{place}\n\n| kind | meaning |\n|---|---|\n");
        }
        // Writing to a string cannot fail.
        let _ = writeln!(section, "| `\"{name}\"` | {} |", flat(about));
    }
    if section.is_empty() { section } else { section + "\n" }
}

/// The section of one table, followed by the sections of its inner tables. `shared` are the keys of paths
/// and links.
fn table(page: &mut String, title: &str, schema: &Value, shared: &Map<String, Value>) {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    let takes_shared = TABLES_OF_LINKS.contains(&title);
    let properties: Vec<_> =
        properties.iter().filter(|(key, _)| !takes_shared || !shared.contains_key(*key)).collect();
    let description = match title {
        LINK_KEYS => LINK_KEYS_ABOUT.to_owned(),
        _ => flat(schema.get("description").map_or("", one_line)),
    };
    let more = if takes_shared {
        let anchor = LINK_KEYS.to_lowercase().replace(' ', "-");
        format!(" It also takes the [{}](#{anchor}).", LINK_KEYS.to_lowercase())
    } else {
        String::new()
    };
    let mut below = Vec::new();
    // Writing to a string cannot fail.
    let _ = write!(page, "## {title}\n\n{description}{more}\n\n| key | value | meaning |\n|---|---|---|\n");
    for &(key, property) in &properties {
        let meaning = property.get("description").map_or("", one_line);
        let _ = writeln!(page, "| `{key}` | {} | {} |", value(property), flat(meaning));
        if let Some((title, schema)) = inner(title, key, property) {
            below.push((title, schema));
        }
    }
    page.push('\n');
    for &(key, property) in &properties {
        choices(page, key, property);
    }
    for (title, schema) in below {
        table(page, &title, schema, shared);
    }
}

/// The values of a key with a fixed set of values. Keys with the same name are printed once.
fn choices(page: &mut String, key: &str, property: &Value) {
    let heading = format!("Values of `{key}`:\n\n");
    let all = property.get("oneOf").and_then(Value::as_array).into_iter().flatten();
    let described: Vec<(&str, &str)> = all
        .filter_map(|choice| {
            Some((choice.get("const")?.as_str()?, choice.get("description").map_or("", one_line)))
        })
        .filter(|(_, meaning)| !meaning.is_empty())
        .collect();
    if described.is_empty() || page.contains(&heading) {
        return;
    }
    let _ = write!(page, "{heading}| value | meaning |\n|---|---|\n");
    for (name, meaning) in described {
        let _ = writeln!(page, "| `\"{name}\"` | {} |", flat(meaning));
    }
    page.push('\n');
}

/// The title and schema of the table that `key` holds; `None` if the page prints it elsewhere.
fn inner<'a>(outer: &str, key: &str, property: &'a Value) -> Option<(String, &'a Value)> {
    let top = !outer.contains('[') && outer != LINK_KEYS;
    let named = property.get("additionalProperties").filter(|others| others.is_object());
    let repeated = ["backward", "defaults", "hosts"].contains(&key);
    let title = |form: String| (form, property);
    match (named, property.get("items")) {
        _ if repeated => None,
        (Some(others), _) => Some((format!("`[{key}.NAME]`"), others)),
        (_, Some(items)) => items.get("properties").map(|_| (format!("`[[{key}]]`"), items)),
        _ if property.get("properties").is_none() || open(property) => None,
        _ if key == "forward" => (outer == TABLES_OF_LINKS[0]).then(|| title(LINK_KEYS.to_owned())),
        _ if outer == LINK_KEYS => Some(title(format!("`{key} = {{ … }}`"))),
        _ if top => Some(title(format!("`[{key}]`"))),
        _ => Some(title(format!("`{key} = {{ … }}` in {outer}"))),
    }
}

/// The type of the value of a key.
fn value(property: &Value) -> String {
    let names = super::check::names(property);
    if !names.is_empty() {
        let names = names.iter().map(|name| format!("`\"{name}\"`"));
        let table =
            super::check::table_form(property).map(|_| "or a table with `kind` and parameters".to_owned());
        return names.chain(table).collect::<Vec<_>>().join(", ");
    }
    let plain = super::check::plain_form(property);
    if let Some(format) = plain.get("format").and_then(Value::as_str)
        && plain.get("type").is_some_and(|kind| kind == "string")
    {
        let table = super::check::table_form(property).map(|_| ", or a table with `kind` and its keys");
        return format.to_owned() + table.unwrap_or_default();
    }
    match property.get("type").and_then(Value::as_str) {
        Some("object") if property.get("properties").is_none() && open(property) => "table".to_owned(),
        Some("object") if property.get("properties").is_none() => "named tables".to_owned(),
        Some("object") => "table".to_owned(),
        Some("array") if property.pointer("/items/properties").is_some() => "array of tables".to_owned(),
        Some("array") => "array of strings".to_owned(),
        Some("boolean") => "`true`, `false`".to_owned(),
        Some("integer") => "integer".to_owned(),
        _ => "string".to_owned(),
    }
}

/// Whether a table allows keys that are not in the schema.
fn open(property: &Value) -> bool {
    property.get("additionalProperties").is_some_and(|others| others == true)
}

fn one_line(description: &Value) -> &str {
    description.as_str().unwrap_or_default()
}

fn flat(text: &str) -> String {
    text.replace('\n', " ").replace('|', "\\|")
}
