//! Keys with several targets: `flows.*.rcvbuf`, `paths.{wifi,lte}.loss`.
//!
//! Owns the expansion of `*` and braces. Does not check whether fully named targets exist.

use super::tree::{Content, Node};

/// Maximum number of targets of a key.
const MOST: usize = 100_000;

/// All targets of `key` in `tree`, in the order of the file. A `*` without a match, or too many targets, is an
/// error.
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

/// `{a,b}` gives `a` and `b`; other parts give themselves.
fn choices(part: &str) -> Vec<String> {
    match part.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
        Some(inner) => inner.split(',').map(|name| name.trim().to_owned()).collect(),
        None => vec![part.to_owned()],
    }
}
