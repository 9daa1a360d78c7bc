//! Resolves explicit routes, which fix the links of selected flows, and relays.
//!
//! A relay is a host that also forwards frames of other hosts. Owns the check that a route is connected, and
//! that a flow uses it. The network chooses the routes of all other frames.

use std::collections::{HashMap, HashSet};

use indexmap::IndexSet;

use super::context::{Context, ENDS, flow_names};
use crate::scenario::error::{ScenarioError, listed};
use crate::scenario::file::{RouteTable, ScenarioFile};
use crate::scenario::model::{Flow, Link, Route};
use crate::scenario::names::Transport;

/// The relays that have flows. A node without flows is a router, which forwards anyway. With a `topology`,
/// `fabrics` has already checked the names.
pub(super) fn relays(
    context: &Context<'_>,
    mut relays: Vec<String>,
    flows: &[Flow],
) -> Result<Vec<String>, ScenarioError> {
    let hosts: Vec<&str> = hosts(flows).collect();
    let known = |relay: &str| hosts.contains(&relay);
    if !context.has(&["topology"])
        && let Some(index) = relays.iter().position(|relay| !known(relay))
    {
        let path = ["relays", &index.to_string()];
        return Err(context.unknown(&path, "host", &relays[index], hosts.iter().copied()));
    }
    relays.retain(|relay| known(relay));
    Ok(relays)
}

fn hosts(flows: &[Flow]) -> impl Iterator<Item = &str> {
    let mut known = std::collections::BTreeSet::new();
    flows
        .iter()
        .flat_map(|flow| [flow.from.as_str(), flow.to.as_str()])
        .filter(move |host| known.insert(*host))
}

pub(super) fn resolve(
    context: &Context<'_>,
    file: &ScenarioFile,
    links: &[Link],
    flows: &[Flow],
    relays: &[String],
) -> Result<Vec<Route>, ScenarioError> {
    let known = Known {
        links: links.iter().map(|link| (link.name.as_str(), link)).collect(),
        flows: flows.iter().map(|flow| (flow.name.as_str(), flow)).collect(),
        hosts: hosts(flows).collect(),
        openers: flows.iter().map(|flow| flow.from.as_str()).collect(),
    };
    let mut routes: Vec<Route> = Vec::new();
    let mut by_ends: HashMap<(String, String), Vec<usize>> = HashMap::new();
    for (index, table) in file.routes.iter().flatten().enumerate() {
        let index = index.to_string();
        let walk = Walk { context, index: &index, links, flows, relays, known: &known };
        let route = walk.route(table)?;
        let same_ends = by_ends.entry((route.from.clone(), route.to.clone())).or_default();
        for other in same_ends.iter().map(|&at| &routes[at]).filter(|other| other.subflow == route.subflow) {
            let twice = |name: &&String| {
                let flow = known.flows[name.as_str()];
                other.flows.contains(name) && walk.frames(flow, other) == walk.frames(flow, &route)
            };
            if let Some(twice) = route.flows.iter().find(twice) {
                let problem = format!("another route already covers these frames of flow {twice:?}");
                return Err(context.error(&["routes", &index], problem));
            }
        }
        same_ends.push(routes.len());
        routes.push(route);
    }
    Ok(routes)
}

/// Links, flows and hosts by name, for scenarios with thousands of routes.
struct Known<'a> {
    links: HashMap<&'a str, &'a Link>,
    flows: HashMap<&'a str, &'a Flow>,
    /// In the order of the flows.
    hosts: IndexSet<&'a str>,
    /// The hosts that open flows.
    openers: HashSet<&'a str>,
}

struct Walk<'a> {
    context: &'a Context<'a>,
    /// Index of the route in the file.
    index: &'a str,
    links: &'a [Link],
    flows: &'a [Flow],
    relays: &'a [String],
    known: &'a Known<'a>,
}

impl Walk<'_> {
    /// The frames of a flow that use this route: its subflows over the first returned link (of the opening
    /// host), to the address of the second. The second is `None` for any address.
    fn frames<'b>(&self, flow: &Flow, route: &'b Route) -> (Option<&'b String>, Option<&'b String>) {
        let (first, last) = (route.links.first(), route.links.last());
        if flow.from == route.from { (first, last.filter(|_| self.opens(&route.to))) } else { (last, None) }
    }

    fn opens(&self, host: &str) -> bool {
        self.known.openers.contains(host)
    }

    /// The link of the only address of `to` that a flow uses; `None` if the flow may use several links.
    /// A host that opens flows itself has an address per link, and flows to it start with the first. MPTCP
    /// learns the other addresses, unless its subflows share one pair of addresses.
    fn only_address(&self, flow: &Flow, to: &str) -> Option<&str> {
        let one = flow.to == to && self.opens(to);
        let one = one && (flow.transport != Transport::Mptcp || flow.ports().is_some());
        let mut own = self.links.iter().filter(|link| link.ends.iter().any(|end| end == to));
        own.next().filter(|_| one).map(|link| link.name.as_str())
    }

    fn route(&self, table: &RouteTable) -> Result<Route, ScenarioError> {
        let [from, to] = [&table.from, &table.to].map(|end| end.as_deref());
        let (from, to) = (from.unwrap_or(ENDS[0]), to.unwrap_or(ENDS[1]));
        for (key, host) in [("from", from), ("to", to)] {
            if !self.known.hosts.contains(host) {
                let hosts = self.known.hosts.iter().copied();
                return Err(self.context.unknown(&self.at(&[key]), "host", host, hosts));
            }
        }
        let links = table.links.clone().unwrap_or_default();
        if links.is_empty() {
            let problem = "needs the links in the order of the route (try links = [\"a-r\", \"r-b\"])";
            return Err(self.context.error(&self.at(&["links"]), problem));
        }
        self.walk(from, to, &links)?;
        let (first, last) = (&links[0], &links[links.len() - 1]);
        // The links of the opening host are the paths of the flow.
        let fits = |flow: &&Flow| {
            (flow.from == from && flow.to == to && flow.paths.contains(first))
                || (flow.from == to && flow.to == from && flow.paths.contains(last))
        };
        // The destination address determines the last link.
        let stray = |flow: &&Flow| self.only_address(flow, to).filter(|only| only != last);
        let unused = |flow: &Flow, only: &str| {
            format!(
                "leads to an address of {to:?} that flow {:?} never uses: its frames end with {only:?}",
                flow.name
            )
        };
        let mut chosen: Vec<String> = Vec::new();
        for (number, word) in table.flows.iter().flatten().enumerate() {
            let named: Vec<&Flow> = flow_names(self.flows, word).collect();
            let number = number.to_string();
            if named.is_empty() {
                let names = self.flows.iter().map(|flow| flow.name.as_str());
                return Err(self.context.unknown(&self.at(&["flows", &number]), "flow", word, names));
            }
            let fitting: Vec<&Flow> = named.into_iter().filter(fits).collect();
            if let Some((flow, only)) = fitting.iter().find_map(|flow| Some((flow, stray(flow)?))) {
                return Err(self.context.error(&self.at(&["links"]), unused(flow, only)));
            }
            let before = chosen.len();
            chosen.extend(fitting.into_iter().map(|flow| flow.name.clone()));
            if chosen.len() == before {
                let problem = format!("does not go from {from:?} to {to:?} between {first:?} and {last:?}");
                return Err(self.context.error(&self.at(&["flows", &number]), problem));
            }
        }
        if table.flows.is_none() {
            let fitting = || self.flows.iter().filter(fits);
            chosen = fitting().filter(|flow| stray(flow).is_none()).map(|flow| flow.name.clone()).collect();
            if let Some((flow, only)) = fitting().find_map(|flow| Some((flow, stray(&flow)?)))
                && chosen.is_empty()
            {
                return Err(self.context.error(&self.at(&["links"]), unused(flow, only)));
            }
            if chosen.is_empty() {
                let problem = format!("no flow goes from {from:?} to {to:?} between {first:?} and {last:?}");
                return Err(self.context.error(&self.at(&[]), problem));
            }
        }
        let subflow = match table.subflow {
            None => None,
            Some(number @ 1..=255) => Some(number as u8),
            Some(_) => {
                return Err(self.context.error(&self.at(&["subflow"]), "must be from 1 to 255"));
            }
        };
        Ok(Route { from: from.to_owned(), to: to.to_owned(), flows: chosen, subflow, links })
    }

    /// Checks that the links lead from one host to the other, and that all nodes between forward frames and
    /// occur once.
    fn walk(&self, from: &str, to: &str, links: &[String]) -> Result<(), ScenarioError> {
        let mut passed = vec![from];
        for (number, name) in links.iter().enumerate() {
            let number = number.to_string();
            let fail = |problem: String| Err(self.context.error(&self.at(&["links", &number]), problem));
            let Some(link) = self.known.links.get(name.as_str()) else {
                let names = self.links.iter().map(|link| link.name.as_str());
                return Err(self.context.unknown(&self.at(&["links", &number]), "path or link", name, names));
            };
            let here = passed[passed.len() - 1];
            let Some(near) = link.ends.iter().position(|end| end == here) else {
                let touching = self.links.iter().filter(|link| link.ends.iter().any(|end| end == here));
                let touching = listed(touching.map(|link| link.name.as_str()));
                return fail(format!(
                    "does not touch {here:?}, the node that the route has reached (links there: {touching})"
                ));
            };
            let next = link.ends[1 - near].as_str();
            if passed.contains(&next) {
                return fail(format!("leads back to {next:?}"));
            }
            let ends_here = number.parse() == Ok(links.len() - 1);
            let passes = self.relays.iter().any(|relay| relay == next) || !self.known.hosts.contains(next);
            if next != to && !ends_here && !passes {
                return fail(format!(
                    "leads to the host {next:?}, which does not forward frames (add it to relays)"
                ));
            }
            if (next == to) != ends_here {
                return fail(if ends_here {
                    format!("is the last link, but leads to {next:?} instead of {to:?}")
                } else {
                    format!("already leads to {to:?}; later links are not allowed")
                });
            }
            passed.push(next);
        }
        Ok(())
    }

    fn at<'b>(&'b self, rest: &[&'b str]) -> Vec<&'b str> {
        [&["routes", self.index], rest].concat()
    }
}
