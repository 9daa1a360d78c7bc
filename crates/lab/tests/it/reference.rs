//! The reference page and the JSON Schema in `docs/` match the definition of the format. `UPDATE=1 cargo test
//! -p mptcp-lab --test it reference::` writes them.

use std::path::Path;

use mptcp_lab::scenario::{json_schema, reference_page};

fn keep(name: &str, wanted: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::create_dir_all(path.parent().expect("docs/ has a parent")).expect("docs/ can be made");
        std::fs::write(&path, wanted).expect("docs/ can be written");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == wanted,
        "docs/{name} is out of date; UPDATE=1 cargo test -p mptcp-lab --test it reference:: writes it"
    );
}

#[test]
fn the_reference_page_is_up_to_date() {
    keep("scenario.md", &reference_page());
}

#[test]
fn the_json_schema_is_up_to_date() {
    let schema = serde_json::to_string_pretty(&json_schema()).expect("a schema is JSON");
    keep("scenario.schema.json", &(schema + "\n"));
}

#[test]
fn every_key_and_table_has_a_description() {
    fn walk(path: &str, schema: &serde_json::Value) {
        for (key, property) in schema["properties"].as_object().into_iter().flatten() {
            let path = format!("{path}.{key}");
            assert!(property["description"].is_string(), "{path} has no description");
            assert!(
                property["anyOf"].is_null() && property["type"] != serde_json::json!(["string", "null"]),
                "{path}"
            );
            walk(&path, property);
            walk(&path, &property["items"]);
            walk(&path, &property["additionalProperties"]);
        }
    }
    walk("", &json_schema());
}
