//! Renamed keys and values of scenario files. The old names work for one release, with a warning.
//!
//! Owns the tables of renames and the translation to new names. `check` then validates keys and values.

use std::fmt;

use super::error::Place;
use super::tree::{Content, Node};

/// Renamed keys of flows and of `defaults`: old name, new name.
pub const FLOW_KEYS: &[(&str, &str)] = &[
    ("coupled", "coupling_scope"),
    ("opportunistic", "opportunistic_rule"),
    ("penalty", "penalty_rule"),
    ("silent_path_probe", "failed_path_probe"),
    ("undo", "undo_spurious_loss"),
    ("window_use_by_round", "cwnd_limited_per_round"),
];

/// Renamed values of flow keys: key, old value, new value.
pub const FLOW_VALUES: &[(&str, &str, &str)] = &[
    ("opportunistic_rule", "sooner", "all_beneficial"),
    ("opportunistic_rule", "early", "speculative"),
    ("penalty_rule", "later", "kernel_0.89"),
];

/// A use of an old name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deprecation {
    /// The place of the key.
    pub place: Place,
    /// The key as written; with its value if the value was renamed.
    pub written: String,
    /// The new name.
    pub new: &'static str,
}

impl fmt::Display for Deprecation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: deprecated name; use {}", self.place, self.written, self.new)
    }
}

/// Translates all old names in a tree, and returns one entry for each of them.
pub(super) fn translate(tree: &mut Node) -> Vec<Deprecation> {
    let mut uses = Vec::new();
    let Content::Table(tables) = &mut tree.content else { return uses };
    if let Some(defaults) = tables.get_mut("defaults") {
        translate_flow(defaults, "defaults", &mut uses);
    }
    if let Some(Content::Table(flows)) = tables.get_mut("flows").map(|flows| &mut flows.content) {
        for (name, flow) in flows {
            translate_flow(flow, &format!("flows.{name}"), &mut uses);
        }
    }
    uses
}

/// If a table has the old and the new key, the old key stays, and `check` rejects it as unknown.
fn translate_flow(flow: &mut Node, at: &str, uses: &mut Vec<Deprecation>) {
    let Content::Table(table) = &mut flow.content else { return };
    for &(old, new) in FLOW_KEYS {
        if table.contains_key(new) {
            continue;
        }
        if let Some((index, _, node)) = table.shift_remove_full(old) {
            uses.push(Deprecation { place: node.place.clone(), written: format!("{at}.{old}"), new });
            table.shift_insert(index, new.to_owned(), node);
        }
    }
    for &(key, old, new) in FLOW_VALUES {
        let Some(node) = table.get_mut(key) else { continue };
        if let Content::Scalar(toml::Value::String(value)) = &mut node.content
            && value == old
        {
            let written = format!("{at}.{key} = {old:?}");
            uses.push(Deprecation { place: node.place.clone(), written, new });
            new.clone_into(value);
        }
    }
}

/// Translates the flow key in a dotted key, and also returns its new name; `None` if no name is old. The
/// flow key may be a list in braces.
pub(super) fn translate_key(key: &str) -> Option<(String, &'static str)> {
    let mut parts: Vec<String> = key.split('.').map(str::to_owned).collect();
    let at = match parts.first().map(String::as_str) {
        Some("defaults") => 1,
        Some("flows") => 2,
        _ => return None,
    };
    let part = parts.get_mut(at)?;
    let mut found = None;
    let names = part.trim_matches(['{', '}']).split(',').map(str::trim);
    let renamed: Vec<&str> = names
        .map(|name| match FLOW_KEYS.iter().find(|(old, _)| *old == name) {
            Some(&(_, new)) => *found.insert(new),
            None => name,
        })
        .collect();
    let renamed = renamed.join(",");
    *part = if part.starts_with('{') { format!("{{{renamed}}}") } else { renamed };
    Some((parts.join("."), found?))
}
