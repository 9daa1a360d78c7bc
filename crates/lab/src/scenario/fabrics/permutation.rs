//! Permutation traffic, a common load in data centre studies: each host sends to one other host and receives
//! from one.
//!
//! Owns the choice of the permutation, uniform among those in which no host sends to itself. The number in
//! the scenario selects it, not the seed of the run, because the traffic is part of the scenario.

use indexmap::IndexMap;
use mptcp_clock::Rng;

use super::expanded::{Expanded, check_size, text};
use crate::scenario::error::ScenarioError;
use crate::scenario::model::Limits;
use crate::scenario::resolve::above;
use crate::scenario::tree::{Content, Node};

/// Number of attempts. An attempt succeeds with probability 1/e, so all fail with probability 10^-12.
const DRAWS: usize = 60;

/// Maximum length of all generated flows together as TOML, bytes.
const MAX_WRITTEN: usize = 32_000_000;

pub(super) fn expand(
    tree: &mut Node,
    hosts: &[String],
    expanded: &mut Expanded,
) -> Result<(), ScenarioError> {
    let Some(flows) = tree.get(&["flows"]).and_then(Node::table) else { return Ok(()) };
    if flows.values().all(|flow| flow.get(&["permutation"]).is_none()) {
        return Ok(());
    }
    check_count(tree, flows, hosts.len())?;
    let mut all = IndexMap::new();
    for (name, flow) in flows {
        let Some(number) = flow.get(&["permutation"]).map(Node::value).and_then(|value| value.as_integer())
        else {
            all.insert(name.clone(), flow.clone());
            continue;
        };
        let refuse = |key: &str, problem: &str| Err(tree.error(&["flows", name, key], problem));
        if hosts.is_empty() {
            return refuse("permutation", "needs a topology (try topology = { kind = \"fat_tree\", k = 4 })");
        }
        for key in ["from", "to", "count", "paths", "backup"] {
            if flow.get(&[key]).is_some() {
                return refuse(key, "must not be set for a permutation, which starts a flow from each host");
            }
        }
        check_size(tree, &["flows", name])?;
        let Content::Table(keys) = &flow.content else { continue };
        for (from, to) in derangement(number as u64, hosts.len()).into_iter().enumerate() {
            let copy = format!("{name}-{}", from + 1);
            if flows.contains_key(&copy) {
                return refuse("permutation", &format!("would make a second flow {copy:?}"));
            }
            let mut keys = keys.clone();
            let place = keys.get("permutation").map_or_else(|| flow.place.clone(), |node| node.place.clone());
            keys.shift_remove("permutation");
            for (key, host) in [("from", from), ("to", to)] {
                keys.insert(key.to_owned(), Node { place: place.clone(), content: text(&hosts[host]) });
            }
            expanded.flows.insert(copy.clone(), name.clone());
            all.insert(copy, Node { place: flow.place.clone(), content: Content::Table(keys) });
        }
    }
    if let Some(flows) = tree.entry(&["flows"]) {
        flows.content = Content::Table(all);
    }
    Ok(())
}

/// Refuses permutations that would generate too many flows.
fn check_count(tree: &Node, flows: &IndexMap<String, Node>, hosts: usize) -> Result<(), ScenarioError> {
    let raised = tree.get(&["limits", "flows"]).map(Node::value).and_then(|value| value.as_integer());
    let most = raised.map_or(Limits::default().flows, |most| (most.max(0) as u64).min(Limits::MAX_FLOWS));
    let makes = |flow: &Node| if flow.get(&["permutation"]).is_some() { hosts } else { 1 };
    let all: usize = flows.values().map(makes).sum();
    let (mut count, mut written) = (0, 0);
    for (name, flow) in flows {
        let makes = makes(flow);
        count += makes as u64;
        let problem = if makes > 1 && count > most {
            format!("there would be {}", above("flows", all as f64, most))
        } else {
            written += flow.value().to_string().len().saturating_mul(makes);
            if makes < 2 || written <= MAX_WRITTEN {
                continue;
            }
            format!(
                "the settings of all generated flows would take {written} bytes; the limit is {MAX_WRITTEN}"
            )
        };
        return Err(tree.error(&["flows", name, "permutation"], problem));
    }
    Ok(())
}

/// A permutation of `0..count` without fixed points: repeats a Fisher-Yates shuffle until there are none.
fn derangement(number: u64, count: usize) -> Vec<usize> {
    let mut random = Rng::new(number, "permutation");
    let mut order: Vec<usize> = (0..count).collect();
    for _ in 0..DRAWS {
        for last in (1..count).rev() {
            order.swap(last, random.below(last as u64 + 1) as usize);
        }
        if order.iter().enumerate().all(|(at, &to)| at != to) {
            return order;
        }
    }
    (1..count).chain([0]).collect()
}
