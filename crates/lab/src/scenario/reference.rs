//! The reference page of the format, made from the schema.

use std::fmt::Write as _;

use serde_json::Value;

const OPENING: &str = "# Scenario files

A scenario is a TOML file. Quantities carry their unit in the value, never a bare number. This page is
generated from the definition of the format (`crates/lab/src/scenario/file.rs`) by
`UPDATE=1 cargo test -p mptcp-lab --test it reference::`.

| quantity | written as | units |
|---|---|---|
| rate | `\"8Mbit\"` | bit, kbit, Mbit, Gbit, Tbit: decimal bit/s as in tc, in any case; also b/s, kb/s, Mb/s, Gb/s; or `\"unlimited\"` |
| time | `\"10ms\"` | ns, us, ms, s, min, h |
| percent | `\"3%\"` | %, from 0% to 100% |
| size | `\"200KB\"` | B; kB = 1000 B; KB = KiB = 1024 B, as sysctl counts; MB = 10^6 B; MiB = 2^20 B; GB = 10^9 B; GiB = 2^30 B |
| queue | `\"53p\"`, `\"80kB\"`, `\"80ms\"` | p = packets; a size; a time, in which the line carries as much; or `\"unlimited\"` |
| distance | `\"3m\"` | m, cm |

";

/// The reference page of a schema, in Markdown.
pub(crate) fn page(schema: &Value) -> String {
    let mut page = OPENING.to_owned();
    table(&mut page, "The top of the file", schema);
    page
}

/// A section about kinds of other crates: what they are, where they are named, and what each is called and does.
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

/// The section of one table, and of those in it.
fn table(page: &mut String, title: &str, schema: &Value) {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    let description = schema.get("description").map_or("", one_line);
    let mut below = Vec::new();
    // Writing to a string cannot fail.
    let _ = write!(page, "## {title}\n\n{}\n\n| key | value | meaning |\n|---|---|---|\n", flat(description));
    for (key, property) in properties {
        let meaning = property.get("description").map_or("", one_line);
        let _ = writeln!(page, "| `{key}` | {} | {} |", value(property), flat(meaning));
        if let Some((title, schema)) = inner(title, key, property) {
            below.push((title, schema));
        }
    }
    page.push('\n');
    for (key, property) in properties {
        choices(page, key, property);
    }
    for (title, schema) in below {
        table(page, &title, schema);
    }
}

/// Meanings of the values of a key that has a choice, from the schema; once for a key that several tables have.
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

/// The table that `key` holds, unless the page has it already.
fn inner<'a>(outer: &str, key: &str, property: &'a Value) -> Option<(String, &'a Value)> {
    let top = !outer.contains('[');
    let named = property.get("additionalProperties").filter(|others| others.is_object());
    let line = ["`[links.NAME]`", "`[topology]`"].contains(&outer);
    let repeated =
        (line && ["gilbert_elliott", "hosts"].contains(&key)) || key == "backward" || key == "defaults";
    let title = |form: String| (form, property);
    match (named, property.get("items")) {
        _ if repeated => None,
        (Some(others), _) => Some((format!("`[{key}.NAME]`"), others)),
        (_, Some(items)) => items.get("properties").map(|_| (format!("`[[{key}]]`"), items)),
        _ if property.get("properties").is_none() || open(property) => None,
        _ if outer == "`[links.NAME]`" => None,
        _ if key == "forward" => Some(title("`[paths.NAME.forward]` and `[paths.NAME.backward]`".to_owned())),
        _ if outer.contains("forward") => None,
        _ if top => Some(title(format!("`[{key}]`"))),
        _ => Some(title(format!("`{key} = {{ … }}` in {outer}"))),
    }
}

/// What kind of value a key takes.
fn value(property: &Value) -> String {
    let names = super::check::names(property);
    if !names.is_empty() {
        let names = names.iter().map(|name| format!("`\"{name}\"`"));
        let table = super::check::table_form(property).map(|_| "or a table of `kind` and values".to_owned());
        return names.chain(table).collect::<Vec<_>>().join(", ");
    }
    let plain = super::check::plain_form(property);
    if let Some(format) = plain.get("format").and_then(Value::as_str)
        && plain.get("type").is_some_and(|kind| kind == "string")
    {
        let table = super::check::table_form(property).map(|_| ", or a table of `kind` and its keys");
        return format.to_owned() + table.unwrap_or_default();
    }
    match property.get("type").and_then(Value::as_str) {
        Some("object") if property.get("properties").is_none() && open(property) => "table".to_owned(),
        Some("object") if property.get("properties").is_none() => "tables by name".to_owned(),
        Some("object") => "table".to_owned(),
        Some("array") if property.pointer("/items/properties").is_some() => "array of tables".to_owned(),
        Some("array") => "array of strings".to_owned(),
        Some("boolean") => "`true`, `false`".to_owned(),
        Some("integer") => "whole number".to_owned(),
        _ => "string".to_owned(),
    }
}

/// Whether it has keys that the schema does not know.
fn open(property: &Value) -> bool {
    property.get("additionalProperties").is_some_and(|others| others == true)
}

fn one_line(description: &Value) -> &str {
    description.as_str().unwrap_or_default()
}

fn flat(text: &str) -> String {
    text.replace('\n', " ").replace('|', "\\|")
}
