//! Keys that name several places: `flows.*.rcvbuf`, `paths.{wifi,lte}.loss`.
//!
//! Owns what `*` and braces stand for. Says nothing of whether a place exists that is named in full.

use super::tree::{Content, Node};

/// Places that one key may name.
const MOST: usize = 100_000;

/// All that `key` names in `tree`, each as the parts of its key, in the order of the file; what `*` finds nothing for, or is too
/// much, is an error.
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

/// What stands at `path`: the names of a table, the numbers of an array.
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

/// `{a,b}` is `a` and `b`; anything else is itself.
fn choices(part: &str) -> Vec<String> {
    match part.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
        Some(inner) => inner.split(',').map(|name| name.trim().to_owned()).collect(),
        None => vec![part.to_owned()],
    }
}
