//! The origin of generated links and flows: the line of the scenario file that generated each of them.
//!
//! Owns the translation of errors. An error about a generated link or flow names that line, because the user
//! never wrote the link or flow.

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;

use crate::scenario::error::ScenarioError;
use crate::scenario::tree::{Content, Node};

/// Generated links and flows.
#[derive(Default)]
pub(in crate::scenario) struct Expanded {
    links: HashSet<String>,
    /// Links of hosts.
    links_of_hosts: HashSet<String>,
    /// Keys of `topology.hosts`, which replace keys of `topology` on the links of hosts.
    keys_of_hosts: HashSet<String>,
    /// By name of a generated flow: the flow in the file that generated it.
    pub(super) flows: HashMap<String, String>,
}

impl Expanded {
    /// Adds a generated link. `own` has the keys of `topology.hosts`; `None` for links between switches.
    pub(super) fn add_link(&mut self, name: &str, own: Option<&IndexMap<String, Node>>) {
        self.links.insert(name.to_owned());
        if let Some(own) = own {
            self.links_of_hosts.insert(name.to_owned());
            self.keys_of_hosts.extend(own.keys().cloned());
        }
    }

    /// Moves an error about a generated link or flow to the line that generates it.
    pub(in crate::scenario) fn blame(&self, mut error: ScenarioError) -> ScenarioError {
        if let ScenarioError::Key { key, .. } | ScenarioError::Value { key, .. } = &mut error {
            let mut parts = key.splitn(3, '.');
            let (kind, name) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
            let rest = parts.next().map_or_else(String::new, |rest| format!(".{rest}"));
            if kind == "links" && self.links.contains(name) {
                let first = rest.split('.').nth(1).unwrap_or_default();
                let hosts = self.links_of_hosts.contains(name) && self.keys_of_hosts.contains(first);
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

/// Maximum length of a generating line, bytes, because each generated link or flow repeats it.
const LONGEST: usize = 16_384;

/// Refuses a line whose expansion would use too much memory.
pub(super) fn check_size(tree: &Node, path: &[&str]) -> Result<(), ScenarioError> {
    let bytes = tree.get(path).map_or(0, |node| node.value().to_string().len());
    if bytes <= LONGEST {
        return Ok(());
    }
    let problem = format!(
        "must have at most {LONGEST} bytes, not {bytes}, because each generated link or flow repeats it"
    );
    Err(tree.key_error(path, problem))
}

/// A string value.
pub(super) fn text(value: &str) -> Content {
    Content::Scalar(toml::Value::String(value.to_owned()))
}
