//! Override keys (`--set`) that select several values: `flows.*.rcvbuf`, `paths.{wifi,lte}.loss`.
//!
//! Owns the expansion of `*` and braces. `draft` checks whether the resulting keys exist.

use super::tree::{Content, Node};

/// Maximum number of values that a key selects.
const MOST: usize = 100_000;

/// The paths that `key` selects in `tree`, in the order of the file. A `*` without a match, or more than
/// [`MOST`] paths, is an error.
pub(super) fn named(tree: &Node, key: &str) -> Result<Vec<Vec<String>>, String> {
    let mut found: Vec<Vec<String>> = vec![Vec::new()];
    for part in key.split('.') {
        let mut longer = Vec::new();
        for path in found {
            let names = match part {
                "*" => below(tree, &path)?,
                _ => choices(part),
            };
            longer.extend(names.into_iter().map(|name| [path.as_slice(), &[name]].concat()));
            if longer.len() > MOST {
                return Err(format!("names more than {MOST} places"));
            }
        }
        found = longer;
    }
    Ok(found)
}

/// Entries of the value at `path`: keys of a table, or indices of an array.
fn below(tree: &Node, path: &[String]) -> Result<Vec<String>, String> {
    let keys: Vec<&str> = path.iter().map(String::as_str).collect();
    let names: Vec<String> = match tree.get(&keys).map(|node| &node.content) {
        Some(Content::Table(table)) => table.keys().cloned().collect(),
        Some(Content::Array(items)) => (0..items.len()).map(|at| at.to_string()).collect(),
        _ => Vec::new(),
    };
    if names.is_empty() {
        return Err(format!("no key matches * at {:?}", keys.join(".")));
    }
    Ok(names)
}

/// The names in one part of a key: `a` and `b` for `{a,b}`, otherwise the part itself.
fn choices(part: &str) -> Vec<String> {
    match part.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
        Some(inner) => inner.split(',').map(|name| name.trim().to_owned()).collect(),
        None => vec![part.to_owned()],
    }
}
