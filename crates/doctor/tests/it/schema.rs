//! The JSON of a report has the form that its schema states.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use mptcp_doctor::{Report, schema};
use serde_json::Value;

use crate::common::{Bulk, Flow, MS, S, Scene, raw, report_of};

/// Asserts that a value has the form of a schema; `at` names its place.
fn check(value: &Value, form: &Value, root: &Value, at: &str) {
    if let Some(path) = form["$ref"].as_str() {
        let target = path.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
        return check(value, target.unwrap_or_else(|| panic!("{path} is missing")), root, at);
    }
    if let Some(forms) = form["anyOf"].as_array().or(form["oneOf"].as_array()) {
        let constants: Vec<&Value> = forms.iter().filter_map(|one| one.get("const")).collect();
        if !constants.is_empty() {
            assert!(constants.contains(&value), "{at}: {value}");
            return;
        }
        let other = forms.iter().find(|one| one["type"] != "null");
        if !value.is_null() {
            check(value, other.unwrap(), root, at);
        }
        return;
    }
    if let Some(constants) = form["enum"].as_array() {
        assert!(constants.contains(value), "{at}: {value}");
    }
    let kinds: Vec<&str> = match &form["type"] {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        kind => kind.as_str().into_iter().collect(),
    };
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_u64() || number.is_i64() => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let fits = kinds.contains(&kind) || kind == "integer" && kinds.contains(&"number");
    assert!(fits, "{at}: {kind}, and not {kinds:?}");
    match value {
        Value::Object(fields) => {
            let known = form["properties"].as_object().unwrap();
            for (name, value) in fields {
                let part = known.get(name).unwrap_or_else(|| panic!("{at}: {name} is not in the schema"));
                check(value, part, root, &format!("{at}.{name}"));
            }
            let required = form["required"].as_array().into_iter().flatten();
            for name in required.filter_map(Value::as_str) {
                assert!(fields.contains_key(name), "{at}: {name} is missing");
            }
        }
        Value::Array(items) => {
            if form["items"]["type"] == "number" {
                // Series are long.
                assert!(items.iter().all(Value::is_number), "{at}[]");
                return;
            }
            for item in items {
                check(item, &form["items"], root, &format!("{at}[]"));
            }
        }
        _ => {}
    }
}

/// Asserts that the JSON of a report has the form of the schema. A number that is not finite would be null.
pub(crate) fn check_report(report: &Report) {
    static FORM: LazyLock<Value> = LazyLock::new(|| serde_json::from_str(&schema()).unwrap());
    let value: Value = serde_json::from_str(&report.to_json()).unwrap();
    check(&value, &FORM, &FORM, "report");
}

fn capture() -> Vec<u8> {
    let (start, gap) = (100 * S, 9 * MS);
    let mut scene = Scene::at(0, 20 * MS);
    let end = scene.open(&Flow::first(), start);
    let last = Bulk { lost: vec![20, 21, 50], ..Bulk::new(&Flow::first(), end, 100, gap) }.play(&mut scene);
    scene.join(&Flow::second(), start + 100 * MS, 0, true);
    let other = Flow { initial: [5, 6], ..Flow::new("[2001:db8::1]:1", "[2001:db8::2]:80") };
    let end = scene.open_plain(&other, last);
    Bulk::plain(&other, end, 50, gap).server_sends().play(&mut scene);
    raw(&scene.sorted())
}

#[test]
fn reports_have_the_form_of_the_schema() {
    check_report(&Report::default());
    check_report(&report_of(&[]).unwrap());
    let bytes = capture();
    check_report(&report_of(std::slice::from_ref(&bytes)).unwrap());
    let cut = bytes[..bytes.len() / 2 + 7].to_vec();
    let report = report_of(&[bytes, cut]).unwrap();
    assert_eq!(report.warnings.len(), 1);
    check_report(&report);
}

#[test]
fn the_schema_describes_each_field() {
    let form: Value = serde_json::from_str(&schema()).unwrap();
    let described = |one: &Value| {
        for (name, part) in one["properties"].as_object().unwrap() {
            assert!(part["description"].is_string(), "{name} has no description");
        }
    };
    described(&form);
    let parts = form["$defs"].as_object().unwrap();
    parts.values().filter(|one| one["properties"].is_object()).for_each(described);
    let names: BTreeSet<&str> = parts.keys().map(String::as_str).collect();
    assert!(names.is_superset(&BTreeSet::from(["ConnectionReport", "SubflowReport", "Verdict", "Evidence"])));
}

#[test]
fn the_same_capture_gives_the_same_report() {
    let bytes = capture();
    let json = || report_of(std::slice::from_ref(&bytes)).unwrap().to_json();
    assert_eq!(json(), json());
}
