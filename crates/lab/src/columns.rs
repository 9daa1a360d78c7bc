//! The names that the columns of samples and events index.
//!
//! Owns their order, which runs in the simulator and on real packets share.

use crate::scenario::Scenario;

impl Scenario {
    /// Names of the column `path`: links in the order of the file, then further subflows of links that several subflows
    /// of a flow share, such as `wifi#2`.
    #[must_use]
    pub fn path_names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.links.iter().map(|link| link.name.clone()).collect();
        for flow in &self.flows {
            let Some(subflows) = flow.ports() else { continue };
            let Some(first) = flow.paths.first() else { continue };
            for number in 1..subflows {
                let name = numbered(first, number as usize);
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        names
    }

    /// Names of the column `host`: hosts in the order of the links, then the other nodes.
    #[must_use]
    pub fn node_names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for end in self.links.iter().flat_map(|link| &link.ends) {
            if !names.contains(end) {
                names.push(end.clone());
            }
        }
        names.sort_by_key(|name| !self.flows.iter().any(|flow| flow.from == *name || flow.to == *name));
        names
    }
}

/// The name of subflow `number` of a path, if several subflows share its addresses: the second is `path#2`.
pub(crate) fn numbered(path: &str, number: usize) -> String {
    if number == 0 { path.to_owned() } else { format!("{path}#{}", number + 1) }
}
