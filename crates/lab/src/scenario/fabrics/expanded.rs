//! What was written out of which line.
//!
//! Owns what errors say of it: what is wrong with a link or a flow that nobody wrote is wrong with the line that made it.

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;

use crate::scenario::error::ScenarioError;
use crate::scenario::tree::{Content, Node};

/// What was written out.
#[derive(Default)]
pub(in crate::scenario) struct Expanded {
    links: HashSet<String>,
    /// Those of hosts, if something is different there, and the keys that are.
    of_hosts: HashSet<String>,
    different: HashSet<String>,
    /// The flow that made each.
    pub(super) flows: HashMap<String, String>,
}

impl Expanded {
    /// A link that nobody wrote. `own` is what is different on links of hosts, if it is one.
    pub(super) fn add_link(&mut self, name: &str, own: Option<&IndexMap<String, Node>>) {
        self.links.insert(name.to_owned());
        if let Some(own) = own {
            self.of_hosts.insert(name.to_owned());
            self.different.extend(own.keys().cloned());
        }
    }

    /// Says of the line that made it what is said of a link or a flow that nobody wrote.
    pub(in crate::scenario) fn blame(&self, mut error: ScenarioError) -> ScenarioError {
        if let ScenarioError::Key { key, .. } | ScenarioError::Value { key, .. } = &mut error {
            let mut parts = key.splitn(3, '.');
            let (kind, name) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
            let rest = parts.next().map_or_else(String::new, |rest| format!(".{rest}"));
            if kind == "links" && self.links.contains(name) {
                let first = rest.split('.').nth(1).unwrap_or_default();
                let hosts = self.of_hosts.contains(name) && self.different.contains(first);
                *key = format!("topology{}{rest}", if hosts { ".hosts" } else { "" });
            } else if kind == "flows"
                && let Some(written) = self.flows.get(name)
            {
                *key = format!("flows.{written}{rest}");
            } else if *key == "links" && !self.links.is_empty() {
                "topology".clone_into(key);
            }
        }
        error
    }
}

/// Bytes that one line may have, for each of what it makes has them too.
const LONGEST: usize = 16_384;

/// Refuses a line that would fill memory when it is written out.
pub(super) fn check_size(tree: &Node, path: &[&str]) -> Result<(), ScenarioError> {
    let bytes = tree.get(path).map_or(0, |node| node.value().to_string().len());
    if bytes <= LONGEST {
        return Ok(());
    }
    let problem = format!("says {bytes} bytes, and all that is made of it would; {LONGEST} are the most");
    Err(tree.key_error(path, problem))
}

/// A text as somebody wrote it.
pub(super) fn text(value: &str) -> Content {
    Content::Scalar(toml::Value::String(value.to_owned()))
}
