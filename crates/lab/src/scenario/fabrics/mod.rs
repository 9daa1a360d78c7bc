//! Networks of one line, and flows of one line over them: written out as links, relays and flows before anything is resolved.
//!
//! Owns where they stand then. Never says what a link means. Each kind of network is one file, and gives a `plan`; `expanded` knows what
//! was written out of what.

mod bcube;
mod expanded;
mod fat_tree;
mod permutation;
mod plan;

use std::collections::HashSet;

use indexmap::IndexMap;

use super::error::{Place, ScenarioError};
use super::model::Limits;
use super::names::{Routing, TopologyKind};
use super::tree::{Content, Node};
pub(super) use expanded::Expanded;
use expanded::{check_size, text};
use plan::Fabric;

/// Keys of a topology that are none of its links.
const OWN: [&str; 4] = ["kind", "k", "n", "hosts"];

/// Writes out the topology of a scenario, and its permutations. What was written of a link of that name stays.
pub(super) fn expand(tree: &mut Node) -> Result<Expanded, ScenarioError> {
    let mut expanded = Expanded::default();
    let mut hosts = Vec::new();
    if let Some(table) = tree.get(&["topology"]).cloned() {
        check_size(tree, &["topology"])?;
        let fabric = fabric(tree, &table)?;
        add_links(tree, &table, &fabric, &mut expanded);
        add_relays(tree, &table.place, &fabric)?;
        if let Some(routing) = tree.entry(&["routing"]).filter(|node| node.table().is_some()) {
            routing.content = text(Routing::Ecmp.name());
        }
        hosts = fabric.hosts;
    }
    permutation::expand(tree, &hosts, &mut expanded)?;
    Ok(expanded)
}

fn fabric(tree: &Node, table: &Node) -> Result<Fabric, ScenarioError> {
    let kind = table.get(&["kind"]).and_then(|node| node.value().as_str().map(str::to_owned));
    let kind = TopologyKind::ALL.iter().find(|known| kind.as_deref() == Some(known.name()));
    let number = |key: &str, most: i64, example: &str| {
        let value = table.get(&[key]).map(Node::value).and_then(|value| value.as_integer());
        match value {
            None => Err(tree.error(&["topology"], format!("needs {key} (try {example})"))),
            Some(value) if value > most => {
                let problem = format!("is more than {most}, the most that fits {} hosts", Limits::MOST_HOSTS);
                Err(tree.error(&["topology", key], problem))
            }
            Some(value) => Ok(value as u32),
        }
    };
    match kind {
        Some(TopologyKind::FatTree) => {
            if table.get(&["n"]).is_some() {
                return Err(
                    tree.error(&["topology", "n"], "is for bcube; a fat_tree has k ports in each switch")
                );
            }
            let k = number("k", fat_tree::MOST, "k = 4")?;
            fat_tree::build(k).map_err(|problem| tree.error(&["topology", "k"], problem))
        }
        Some(TopologyKind::Bcube) => {
            let (n, k) = (number("n", bcube::MOST_PORTS, "n = 4")?, number("k", bcube::MOST_LEVEL, "k = 1")?);
            bcube::build(n, k).map_err(|(key, problem)| tree.error(&["topology", key], problem))
        }
        None => Err(tree.error(&["topology"], "says no kind (try kind = \"fat_tree\", k = 4)")),
    }
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
    let mut links = IndexMap::new();
    for [a, b] in &fabric.links {
        let mut link = common.clone();
        link.insert("ends".to_owned(), node(Content::Array([a, b].map(|end| node(text(end))).into())));
        if let Some(own) = keys.get("hosts").filter(|_| hosts.contains(a)) {
            for side in ["forward", "backward"] {
                link.insert(side.to_owned(), own.clone());
            }
        }
        links.insert(format!("{a}-{b}"), node(Content::Table(link)));
    }
    let written = tree.get(&["links"]).and_then(Node::table);
    let ours = links.keys().filter(|name| written.is_none_or(|written| !written.contains_key(*name)));
    expanded.links.extend(ours.cloned());
    let mut all = node(Content::Table(links));
    if let Some(place) = tree.entry(&["links"]) {
        let written = std::mem::replace(place, Node::empty(&table.place.file));
        all.overlay(written);
        *place = all;
    }
}

fn add_relays(tree: &mut Node, place: &Place, fabric: &Fabric) -> Result<(), ScenarioError> {
    if !fabric.relays {
        return Ok(());
    }
    let own = fabric.hosts.iter().map(|host| Node { place: place.clone(), content: text(host) });
    let mut all: Vec<Node> = own.collect();
    if let Some(Content::Array(written)) = tree.get(&["relays"]).map(|node| &node.content) {
        let new = written.iter().filter(|node| {
            node.value().as_str().is_none_or(|name| !fabric.hosts.iter().any(|host| host == name))
        });
        all.extend(new.cloned());
    }
    if let Some(relays) = tree.entry(&["relays"]) {
        *relays = Node { place: place.clone(), content: Content::Array(all) };
    }
    Ok(())
}
