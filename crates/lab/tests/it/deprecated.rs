//! Old names of scenario keys and values: same scenario as with the new name, and one warning.

use mptcp_lab::scenario::deprecated::{FLOW_KEYS, FLOW_VALUES};
use mptcp_lab::scenario::{Draft, Scenario};

fn draft(flow: &str) -> Draft {
    let text = format!("duration = \"5s\"\n[paths.wifi]\nrate = \"8Mbit\"\n[flows.bulk]\n{flow}\n");
    Draft::parse(&text, "old.toml").unwrap_or_else(|error| panic!("{error}"))
}

fn finished(draft: &Draft) -> Scenario {
    draft.finish().unwrap_or_else(|error| panic!("{error}"))
}

fn warnings(draft: &Draft) -> Vec<String> {
    draft.deprecations().iter().map(ToString::to_string).collect()
}

/// A value of each renamed key that differs from its default.
fn value(key: &str) -> &'static str {
    match key {
        "coupling_scope" => "\"all\"",
        "opportunistic_rule" | "penalty_rule" => "\"original\"",
        "failed_path_probe" => "\"7s\"",
        "undo_spurious_loss" => "false",
        _ => "true",
    }
}

#[test]
fn an_old_key_sets_the_new_one_and_warns_once() {
    for (old, new) in FLOW_KEYS {
        let value = value(new);
        let (renamed, current) = (draft(&format!("{old} = {value}")), draft(&format!("{new} = {value}")));
        assert_eq!(finished(&renamed), finished(&current), "{old}");
        assert_eq!(
            warnings(&renamed),
            [format!("old.toml:5: flows.bulk.{old}: deprecated name; use {new}")],
            "{old}"
        );
        assert!(warnings(&current).is_empty(), "{new}");
    }
}

#[test]
fn an_old_value_sets_the_new_one_and_warns_once() {
    for (key, old, new) in FLOW_VALUES {
        let (renamed, current) = (draft(&format!("{key} = {old:?}")), draft(&format!("{key} = {new:?}")));
        assert_eq!(finished(&renamed), finished(&current), "{old}");
        assert_eq!(
            warnings(&renamed),
            [format!("old.toml:5: flows.bulk.{key} = {old:?}: deprecated name; use {new}")],
            "{old}"
        );
    }
}

#[test]
fn overrides_and_defaults_accept_old_names() {
    let mut plain = draft("");
    plain.set("flows.*.{undo,frto}", "false").expect("both keys exist");
    assert_eq!(finished(&plain), finished(&draft("undo_spurious_loss = false\nfrto = false")));
    assert_eq!(warnings(&plain), ["--set: flows.*.{undo,frto}: deprecated name; use undo_spurious_loss"]);
    let mut plain = draft("");
    plain.set("defaults", "{ opportunistic = \"early\" }").expect("a table");
    assert_eq!(warnings(&plain).len(), 2, "{:?}", warnings(&plain));
    finished(&plain);
}

#[test]
fn both_names_of_a_key_are_an_error() {
    let error = draft("undo = true\nundo_spurious_loss = true").finish().expect_err("two names").to_string();
    assert!(error.contains("flows.bulk.undo: unknown key"), "{error}");
}
