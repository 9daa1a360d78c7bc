//! A run that is observed: which ears there are, and what they heard.
//!
//! Owns when observers are put in place, and the shares of what held paths back. A run that is not observed has none.

use std::sync::Arc;

use mptcp::observe::{PathLimit, PathReasons, Row, Wanted};
use mptcp_clock::{Duration, Instant};

use super::apps::App;
use super::ports::FIRST_PORT;
use super::recorder::{AtHost, Atlas, FlowEnds, OnLinks, Recorder};
use super::{World, sampler};
use crate::events::{Events, Filter};
use crate::measurements::PathSummary;
use crate::scenario::Flow;

impl World {
    /// Keeps the events that `filter` lets in from now on, at most `limits.trace` of them, and measures what holds each path
    /// back. To be called before the first [`Self::advance`], and after
    /// [`Self::capture`], if that is called: then packets get comments.
    pub fn observe(&mut self, filter: Filter) {
        let limit = self.scenario.limits.trace.min(self.scenario.limits.memory / Row::BYTES);
        let recorder = Arc::new(Recorder::new(self.atlas(), filter, limit));
        let wanted = Wanted { kinds: filter.kinds, from: filter.from, until: filter.until };
        for (at, host) in self.hosts.iter_mut().enumerate() {
            let ear = AtHost {
                host: at as u16,
                captured: self.captures.is_some(),
                recorder: Arc::clone(&recorder),
            };
            host.endpoint.set_observer(Arc::new(ear), wanted);
        }
        if filter.drops || filter.marks {
            self.network.set_observer(Arc::new(OnLinks(Arc::clone(&recorder))));
            self.has_labels = true;
        }
        self.recorder = Some(recorder);
    }

    fn atlas(&self) -> Atlas {
        let known = self.sampler.path_names();
        let most = self.scenario.flows.iter().filter_map(Flow::ports).max().unwrap_or(1);
        let numbered = |name: &str| {
            let further = (1..most as usize).map(|number| sampler::numbered(name, number));
            further.map(|name| known.iter().position(|known| *known == name).map(|at| at as u16)).collect()
        };
        let links = &self.scenario.links;
        let place = |name: &str| self.hosts.iter().position(|host| host.name == name);
        let flows = self.scenario.flows.iter().map(|flow| FlowEnds {
            from: place(&flow.from).unwrap_or(usize::MAX),
            to: place(&flow.to).unwrap_or(usize::MAX),
            numbered: flow.ports().is_some(),
        });
        let path = |name: &String| links.iter().position(|link| link.name == *name).map_or(0, |at| at as u16);
        let names = self.node_names();
        let node =
            |name: &String| names.iter().position(|known| known == name).map_or(Row::NOWHERE, |at| at as u16);
        let lines = links.iter().enumerate();
        Atlas {
            first_port: FIRST_PORT,
            flow_names: self.scenario.flows.iter().map(|flow| flow.name.clone()).collect(),
            path_names: known.to_vec(),
            flows: flows.collect(),
            paths: self.hosts.iter().map(|host| host.interface_names.iter().map(path).collect()).collect(),
            numbered: links.iter().map(|link| numbered(&link.name)).collect(),
            lines: lines
                .flat_map(|(at, link)| link.ends.iter().map(move |end| (end, at as u16)))
                .map(|(end, at)| (node(end), at))
                .collect(),
        }
    }

    /// Hosts in their order, then the nodes that are none.
    fn node_names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.hosts.iter().map(|host| host.name.clone()).collect();
        for end in self.scenario.links.iter().flat_map(|link| &link.ends) {
            if !names.contains(end) {
                names.push(end.clone());
            }
        }
        names
    }

    /// What was heard; nothing where nobody listened.
    pub(super) fn events(&self) -> Option<Events> {
        let recorder = self.recorder.as_ref()?;
        Some(Events { hosts: self.node_names(), columns: recorder.take() })
    }

    /// Writes into the summaries of a flow's paths what held them back. Datagrams have no connection that would know.
    pub(super) fn add_reasons(&self, app: &App, end: Instant, paths: &mut [PathSummary]) {
        let (Some(recorder), Some(started), None) = (&self.recorder, app.started_at, &app.datagrams) else {
            return;
        };
        let names = self.sampler.path_names();
        let (reasons, over) = app.reasons(end, &self.hosts);
        let lived = over.unwrap_or(end).since(started);
        for path in paths {
            let mine = |reason: &&PathReasons| {
                names.get(usize::from(recorder.path_of(&reason.place))).is_some_and(|name| *name == path.path)
            };
            (path.limits, path.blamed) = shares(reasons.iter().filter(mine), started, lived);
        }
    }
}

/// Shares of a connection's life in which a path was held back by each reason, and in which the others waited for it. Idle time
/// does not count; before the first subflow it was being joined, and what none filled later is the time in which there was none.
fn shares<'a>(
    subflows: impl Iterator<Item = &'a PathReasons>,
    started: Instant,
    lived: Duration,
) -> (Vec<(&'static str, f64)>, f64) {
    let (mut total, mut blamed) = ([Duration::ZERO; PathLimit::ALL.len()], Duration::ZERO);
    let mut before = lived;
    for subflow in subflows {
        before = before.min(subflow.began.since(started));
        for (sum, more) in total.iter_mut().zip(subflow.total) {
            *sum += more;
        }
        blamed += subflow.blamed;
    }
    total[PathLimit::Joining as usize] += before;
    let idle = total[PathLimit::Idle as usize];
    let busy = lived - idle;
    let whole = busy.as_secs_f64();
    let counts = |limit: &PathLimit| !matches!(limit, PathLimit::Idle | PathLimit::Closed);
    let filled: Duration =
        PathLimit::ALL.iter().filter(|l| counts(l)).fold(Duration::ZERO, |sum, &l| sum + total[l as usize]);
    total[PathLimit::Closed as usize] = busy - filled;
    let scale = whole.max(filled.as_secs_f64());
    let share = |time: Duration| if scale > 0.0 { time.as_secs_f64() / scale } else { 0.0 };
    let kept = PathLimit::ALL.iter().filter(|limit| **limit != PathLimit::Idle);
    (kept.map(|&limit| (limit.name(), share(total[limit as usize]))).collect(), share(blamed))
}
