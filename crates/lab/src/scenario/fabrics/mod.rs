//! Expands a generated topology, such as a fat tree, to links and relays, and permutation traffic to flows.
//! Other modules then handle the generated entries like written ones.
//!
//! Owns the expansion. Each type of network is one file, which returns a `plan`. `expanded` tracks the line
//! that generated an entry.

mod bcube;
mod expanded;
mod fat_tree;
mod permutation;
mod plan;

use std::collections::HashSet;

use indexmap::IndexMap;

use super::error::{Place, ScenarioError, listed, suggestion};
use super::model::Limits;
use super::names::{Routing, TopologyKind};
use super::resolve::{ENDS, above};
use super::tree::{Content, Node};
pub(super) use expanded::Expanded;
use expanded::{check_size, text};
use plan::Fabric;

/// Keys of `topology` that do not apply to its links.
const OWN: [&str; 4] = ["kind", "k", "n", "hosts"];

/// Expands the topology of a scenario, and its permutations. Keys of a written link override those of the
/// generated link with the same name.
pub(super) fn expand(tree: &mut Node) -> Result<Expanded, ScenarioError> {
    let mut expanded = Expanded::default();
    if let Some(table) = tree.get(&["topology"]).cloned() {
        check_size(tree, &["topology"])?;
        let fabric = fabric(tree, &table)?;
        check_count(tree, fabric.links.len())?;
        add_links(tree, &table, &fabric, &mut expanded);
        if let Some(routing) = tree.entry(&["routing"]).filter(|node| node.table().is_some()) {
            routing.content = text(Routing::Ecmp.name());
        }
        permutation::expand(tree, &fabric.hosts, &mut expanded)?;
        add_relays(tree, &table.place, &fabric)?;
    } else {
        permutation::expand(tree, &[], &mut expanded)?;
    }
    Ok(expanded)
}

/// The names that a topology generates, which overrides may use.
pub(super) struct Made {
    pub(super) links: HashSet<String>,
    hosts: usize,
    permutations: HashSet<String>,
}

impl Made {
    /// The name of the permutation that generates this flow; `None` for other names.
    pub(super) fn line_of<'a>(&self, flow: &'a str) -> Option<&'a str> {
        let (line, number) = flow.rsplit_once('-')?;
        let number = number.parse::<usize>().ok().filter(|number| (1..=self.hosts).contains(number));
        number.filter(|_| self.permutations.contains(line)).map(|_| line)
    }
}

/// The generated names of a tree; empty for an invalid topology.
pub(super) fn made(tree: &Node) -> Made {
    let fabric = tree.get(&["topology"]).and_then(|table| fabric(tree, table).ok());
    let flows = tree.get(&["flows"]).and_then(Node::table);
    let permutations = flows.into_iter().flatten().filter(|(_, flow)| flow.get(&["permutation"]).is_some());
    let links = fabric.as_ref().map_or(&[][..], |fabric| &fabric.links);
    Made {
        links: links.iter().map(|[a, b]| format!("{a}-{b}")).collect(),
        hosts: fabric.as_ref().map_or(0, |fabric| fabric.hosts.len()),
        permutations: permutations.map(|(name, _)| name.clone()).collect(),
    }
}

fn fabric(tree: &Node, table: &Node) -> Result<Fabric, ScenarioError> {
    let kind = table.get(&["kind"]).and_then(|node| node.value().as_str().map(str::to_owned));
    let kind = TopologyKind::ALL.iter().find(|known| kind.as_deref() == Some(known.name()));
    let number = |key: &str, most: i64, example: &str| {
        let value = table.get(&[key]).map(Node::value).and_then(|value| value.as_integer());
        match value {
            None => Err(tree.error(&["topology"], format!("needs {key} (try {example})"))),
            Some(value) if value > most => {
                let problem =
                    format!("must be at most {most}: more would exceed {} hosts", Limits::MAX_HOSTS);
                Err(tree.error(&["topology", key], problem))
            }
            Some(value) => Ok(value as u32),
        }
    };
    match kind {
        Some(TopologyKind::FatTree) => {
            if table.get(&["n"]).is_some() {
                return Err(tree.error(&["topology", "n"], "needs bcube; a fat_tree has only k"));
            }
            let k = number("k", fat_tree::MOST, "k = 4")?;
            fat_tree::build(k).map_err(|problem| tree.error(&["topology", "k"], problem))
        }
        Some(TopologyKind::Bcube) => {
            let (n, k) = (number("n", bcube::MAX_PORTS, "n = 4")?, number("k", bcube::MAX_LEVEL, "k = 1")?);
            bcube::build(n, k).map_err(|(key, problem)| tree.error(&["topology", key], problem))
        }
        None => Err(tree.error(&["topology"], "needs a kind (try kind = \"fat_tree\", k = 4)")),
    }
}

/// Refuses a topology with more links than the limit. The error is about `k`.
fn check_count(tree: &Node, links: usize) -> Result<(), ScenarioError> {
    let raised = tree.get(&["limits", "links"]).map(Node::value).and_then(|value| value.as_integer());
    let most = raised.map_or(Limits::default().links, |most| most.max(0) as u64);
    if links as u64 <= most {
        return Ok(());
    }
    let problem = format!("there would be {}", above("links", links as f64, most));
    Err(tree.error(&["topology", "k"], problem))
}

fn add_links(tree: &mut Node, table: &Node, fabric: &Fabric, expanded: &mut Expanded) {
    let Content::Table(keys) = &table.content else { return };
    let common: IndexMap<String, Node> = keys
        .iter()
        .filter(|(key, _)| !OWN.contains(&key.as_str()))
        .map(|(key, node)| (key.clone(), node.clone()))
        .collect();
    let hosts: HashSet<&String> = fabric.hosts.iter().collect();
    let place = &table.place;
    let node = |content| Node { place: place.clone(), content };
    let written = tree.get(&["links"]).and_then(Node::table);
    let mut links = IndexMap::new();
    for [a, b] in &fabric.links {
        let mut link = common.clone();
        link.insert("ends".to_owned(), node(Content::Array([a, b].map(|end| node(text(end))).into())));
        let own = keys.get("hosts").filter(|_| hosts.contains(a)).and_then(Node::table);
        own.into_iter().flat_map(IndexMap::keys).for_each(|key| give_way(&mut link, key));
        link.extend(own.into_iter().flatten().map(|(key, value)| (key.clone(), value.clone())));
        let name = format!("{a}-{b}");
        match written.and_then(|written| written.get(&name)).map(Node::table) {
            Some(written) => {
                written.into_iter().flat_map(IndexMap::keys).for_each(|key| give_way(&mut link, key))
            }
            None => expanded.add_link(&name, own),
        }
        links.insert(name, node(Content::Table(link)));
    }
    let mut all = node(Content::Table(links));
    if let Some(place) = tree.entry(&["links"]) {
        let written = std::mem::replace(place, Node::empty(&table.place.file));
        all.overlay(written);
        *place = all;
    }
}

/// Removes the keys of a generated link that `key` excludes, because a more specific table sets `key`.
fn give_way(link: &mut IndexMap<String, Node>, key: &str) {
    for same in [&["rtt", "delay"][..], &["rate", "trace"], &["loss", "gilbert_elliott", "loss_model"]] {
        if same.contains(&key) {
            same.iter().filter(|other| **other != key).for_each(|other| drop(link.shift_remove(*other)));
        }
    }
}

/// Adds the relays of the topology before the written ones, which must be hosts of the topology or of a flow.
fn add_relays(tree: &mut Node, place: &Place, fabric: &Fabric) -> Result<(), ScenarioError> {
    let mut all: Vec<Node> = Vec::new();
    if fabric.relays {
        all.extend(fabric.hosts.iter().map(|host| Node { place: place.clone(), content: text(host) }));
    }
    if let Some(Content::Array(written)) = tree.get(&["relays"]).map(|node| &node.content) {
        let known: HashSet<String> = fabric.hosts.iter().cloned().chain(hosts_of_flows(tree)).collect();
        for (index, node) in written.iter().enumerate() {
            let name = node.value();
            let name = name.as_str().unwrap_or_default();
            if !known.contains(name) {
                let mut names: Vec<&str> = known.iter().map(String::as_str).collect();
                names.sort_unstable();
                let near = suggestion(name, names.iter().copied());
                let names = listed(names);
                let problem = format!("there is no host {name:?}{near} (there are: {names})");
                return Err(tree.error(&["relays", &index.to_string()], problem));
            }
            if !fabric.relays || !fabric.hosts.iter().any(|host| host == name) {
                all.push(node.clone());
            }
        }
    }
    if all.is_empty() {
        return Ok(());
    }
    if let Some(relays) = tree.entry(&["relays"]) {
        *relays = Node { place: place.clone(), content: Content::Array(all) };
    }
    Ok(())
}

/// The hosts `from` and `to` of each flow.
fn hosts_of_flows(tree: &Node) -> impl Iterator<Item = String> {
    let flows = tree.get(&["flows"]).and_then(Node::table);
    let ends = flows.into_iter().flat_map(|flows| flows.values()).flat_map(|flow| {
        [("from", ENDS[0]), ("to", ENDS[1])].map(|(key, usual)| {
            let written = flow.get(&[key]).map(Node::value);
            written.as_ref().and_then(toml::Value::as_str).unwrap_or(usual).to_owned()
        })
    });
    ends.collect::<Vec<_>>().into_iter()
}
