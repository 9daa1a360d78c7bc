//! What was written out of which line.
//!
//! Owns what errors say of it: what is wrong with a link or a flow that nobody wrote is wrong with the line that made it.

use std::collections::{HashMap, HashSet};

use crate::scenario::error::ScenarioError;
use crate::scenario::tree::{Content, Node};

/// What was written out.
#[derive(Default)]
pub(in crate::scenario) struct Expanded {
    pub(super) links: HashSet<String>,
    /// The flow that made each.
    pub(super) flows: HashMap<String, String>,
}

impl Expanded {
    /// Says of the line that made it what is said of a link or a flow that nobody wrote.
    pub(in crate::scenario) fn blame(&self, mut error: ScenarioError) -> ScenarioError {
        if let ScenarioError::Key { key, .. } | ScenarioError::Value { key, .. } = &mut error {
            let mut parts = key.splitn(3, '.');
            let (kind, name) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
            let rest = parts.next().map_or_else(String::new, |rest| format!(".{rest}"));
            if kind == "links" && self.links.contains(name) {
                // What is different for hosts is written of both directions.
                let hosts = rest.strip_prefix(".forward").or_else(|| rest.strip_prefix(".backward"));
                *key =
                    hosts.map_or_else(|| format!("topology{rest}"), |rest| format!("topology.hosts{rest}"));
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
