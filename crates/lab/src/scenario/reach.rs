//! Reachability: whether frames that leave a host by a link can reach another host, at which rate and delay.
//!
//! `resolve` finds the paths of flows with it, and `estimate` bounds their data. Owns the graph of links, in
//! which links and nodes have numbers.

use std::collections::{BTreeSet, BinaryHeap, HashMap, VecDeque};

use super::model::{Flow, Link, Way};
use super::names::Side;

/// By node: the highest rate of any path to it, and the minimum delay of any path to it.
pub(super) type Spans<'a> = HashMap<&'a str, (u64, u64)>;

/// The direction in which a host at an end of a link sends, if it opens flows; `None` if neither end does.
pub(crate) fn way_out(link: &Link, flows: &[Flow]) -> Option<Way> {
    let opens = |end: usize| flows.iter().any(|flow| flow.from == link.ends[end]);
    match (opens(0), opens(1)) {
        (true, true) => Some(Way::Both),
        (true, false) => Some(Way::One(Side::Forward)),
        (false, true) => Some(Way::One(Side::Backward)),
        (false, false) => None,
    }
}

/// The links as a graph. Frames pass routers, but no hosts.
pub(super) struct Reach<'a> {
    links: &'a [Link],
    nodes: HashMap<&'a str, usize>,
    /// By node: its links.
    touching: Vec<Vec<usize>>,
    host: Vec<bool>,
    /// By host and link: the reachable nodes, computed on demand.
    known: HashMap<(usize, usize), Vec<bool>>,
}

impl<'a> Reach<'a> {
    pub(super) fn new(links: &'a [Link], hosts: &BTreeSet<&str>) -> Self {
        let mut nodes = HashMap::new();
        let mut touching: Vec<Vec<usize>> = Vec::new();
        for (index, link) in links.iter().enumerate() {
            for end in &link.ends {
                let node = *nodes.entry(end.as_str()).or_insert(touching.len());
                if node == touching.len() {
                    touching.push(Vec::new());
                }
                touching[node].push(index);
            }
        }
        let mut host = vec![false; touching.len()];
        for (name, &node) in &nodes {
            host[node] = hosts.contains(name);
        }
        Self { links, nodes, touching, host, known: HashMap::new() }
    }

    /// The links of a host, in the order of the scenario.
    pub(super) fn own(&self, name: &str) -> impl Iterator<Item = &'a Link> + use<'a> {
        let links = self.links;
        let touching = self.nodes.get(name).map_or_else(Vec::new, |&node| self.touching[node].clone());
        touching.into_iter().map(move |index| &links[index])
    }

    /// Whether frames that leave `from` by its link `first` can reach `to`.
    pub(super) fn leads(&mut self, first: &Link, from: &str, to: &str) -> bool {
        let (Some(&from), Some(&to)) = (self.nodes.get(from), self.nodes.get(to)) else { return false };
        let Some(first) = self.number(from, first) else { return false };
        if let Some(reached) = self.known.get(&(from, first)) {
            return reached[to];
        }
        let reached = self.reached(from, first, |_| true);
        let leads = reached[to];
        self.known.insert((from, first), reached);
        leads
    }

    /// As `leads`, over links that `passes` accepts.
    pub(super) fn leads_over(
        &self,
        first: &Link,
        from: &str,
        to: &str,
        passes: impl Fn(&Link) -> bool,
    ) -> bool {
        let (Some(&from), Some(&to)) = (self.nodes.get(from), self.nodes.get(to)) else { return false };
        passes(first) && self.number(from, first).is_some_and(|first| self.reached(from, first, passes)[to])
    }

    /// For each node that frames from `from` reach by its link `first`: the highest rate of any path, and the
    /// minimum delay of any path. `rate` and `delay` return the values of one link.
    pub(super) fn spans(
        &self,
        first: &Link,
        from: &str,
        rate: impl Fn(usize) -> u64,
        delay: impl Fn(usize) -> u64,
    ) -> Spans<'a> {
        let start = self.nodes.get(from).and_then(|&from| Some((from, self.number(from, first)?)));
        let Some((from, first)) = start else { return HashMap::new() };
        let widest = self.best(from, first, u64::MAX, |wide, link| wide.min(rate(link)));
        // Maximises the remaining delay budget, which minimises the delay.
        let nearest = self.best(from, first, u64::MAX, |left, link| left.saturating_sub(delay(link)));
        let of =
            |(&name, &node): (&&'a str, &usize)| Some((name, (widest[node]?, u64::MAX - nearest[node]?)));
        self.nodes.iter().filter_map(of).collect()
    }

    /// The highest value of any path from `from` by `first` to each node (Dijkstra). `over` returns the value
    /// after a link, which never exceeds the value before.
    fn best(
        &self,
        from: usize,
        first: usize,
        start: u64,
        over: impl Fn(u64, usize) -> u64,
    ) -> Vec<Option<u64>> {
        let mut best = vec![None; self.touching.len()];
        let mut waiting = BinaryHeap::from([(over(start, first), self.far(first, from))]);
        while let Some((value, node)) = waiting.pop() {
            if node == from || best[node].is_some() {
                continue;
            }
            best[node] = Some(value);
            if !self.host[node] {
                waiting.extend(
                    self.touching[node].iter().map(|&link| (over(value, link), self.far(link, node))),
                );
            }
        }
        best
    }

    fn number(&self, from: usize, link: &Link) -> Option<usize> {
        self.touching[from].iter().copied().find(|&index| std::ptr::eq(&raw const self.links[index], link))
    }

    fn reached(&self, from: usize, first: usize, passes: impl Fn(&Link) -> bool) -> Vec<bool> {
        let mut reached = vec![false; self.touching.len()];
        let mut waiting = VecDeque::from([self.far(first, from)]);
        while let Some(node) = waiting.pop_front() {
            if node == from || std::mem::replace(&mut reached[node], true) || self.host[node] {
                continue;
            }
            let onward = self.touching[node].iter().filter(|&&index| passes(&self.links[index]));
            waiting.extend(onward.map(|&index| self.far(index, node)));
        }
        reached
    }

    fn far(&self, link: usize, near: usize) -> usize {
        let [a, b] = [0, 1].map(|end| self.nodes.get(self.links[link].ends[end].as_str()).copied());
        if a == Some(near) { b.unwrap_or(near) } else { a.unwrap_or(near) }
    }
}
