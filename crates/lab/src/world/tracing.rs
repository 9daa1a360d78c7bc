//! Observation of a run: its recorded events, and the share of time for which each cause limited a path.
//! Users need both to find out why a flow did not fill its paths.
//!
//! Owns the setup of observers, which endpoints and links call. A run without observers has no such shares.
//! The shares come from accounts, each of which has the time of one subflow by cause (`attribution`).

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use mptcp::observe::{Kind, Kinds, PathLimit, PathReasons, Row, Wanted};
use mptcp_clock::{Duration, Instant};
use netsim::{DirectionId, LinkId};

use super::attribution::{Attribution, Cause, FullTimes, Links, Route, least, turning_points};
use super::ports::FIRST_PORT;
use super::recorder::{AtHost, Atlas, FlowEnds, OnLinks, Recorder};
use super::{ScheduledAction, World};
use crate::columns::numbered;
use crate::events::{Events, Filter};
use crate::measurements::FlowSummary;
use crate::scenario::Flow;

impl World {
    /// Records events that `filter` selects, at most `limits.trace`, and measures the limits of each path.
    /// Call it before the first [`Self::advance`], and after [`Self::capture`], if captures are used: packets
    /// then have comments.
    pub fn observe(&mut self, filter: Filter) {
        let limit = self.scenario.limits.trace.min(self.scenario.limits.memory / Row::BYTES);
        let recorder = Arc::new(Recorder::new(self.atlas(), filter, limit));
        // The accounts need events that the filter may exclude.
        let wanted = Wanted::always(ACCOUNTED.into_iter().fold(filter.kinds, Kinds::with));
        for (at, host) in self.hosts.iter_mut().enumerate() {
            let ear = AtHost {
                host: at as u16,
                captured: self.captures.is_some(),
                recorder: Arc::clone(&recorder),
            };
            host.endpoint.set_observer(Arc::new(ear), wanted);
        }
        self.network.set_observer(Arc::new(OnLinks(Arc::clone(&recorder))));
        self.has_labels = true;
        let routes = self.routes();
        self.attribution = Some(Box::new(Attribution::new(recorder.notes(), routes)));
        let turns: Vec<Instant> = turning_points(&self.scenario).collect();
        for at in turns {
            self.schedule(at, ScheduledAction::Settle);
        }
        if !self.scenario.warmup.is_zero() {
            self.schedule(Instant::ZERO + self.scenario.warmup, ScheduledAction::WarmedUp);
        }
        self.recorder = Some(recorder);
    }

    fn atlas(&self) -> Atlas {
        let known = self.sampler.path_names();
        let most = self.scenario.flows.iter().filter_map(Flow::ports).max().unwrap_or(1);
        let numbered = |name: &str| {
            let further = (1..most as usize).map(|number| numbered(name, number));
            further.map(|name| known.iter().position(|known| *known == name).map(|at| at as u16)).collect()
        };
        let links = &self.scenario.links;
        let place = |name: &str| self.hosts.iter().position(|host| host.name == name);
        let flows = self.scenario.flows.iter().map(|flow| FlowEnds {
            from: place(&flow.from).unwrap_or(usize::MAX),
            to: place(&flow.to).unwrap_or(usize::MAX),
            sender: place(flow.sender()).unwrap_or(usize::MAX),
            numbered: flow.ports().is_some(),
        });
        let path = |name: &String| links.iter().position(|link| link.name == *name).map_or(0, |at| at as u16);
        let names = self.scenario.node_names();
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

    /// The name of a link direction.
    fn name_of(&self, direction: DirectionId) -> String {
        let side = if direction == direction.link().forward() { "forward" } else { "backward" };
        format!("{} {side}", self.scenario.links[direction.link().index()].name)
    }

    /// The name of the link of a direction, or of its middleboxes.
    fn place_of(&self, cause: Cause, direction: DirectionId) -> String {
        let link = &self.scenario.links[direction.link().index()].name;
        if cause != Cause::Middlebox {
            return link.clone();
        }
        self.middleboxes_on(direction.link()).join(" or ")
    }

    /// The middleboxes of a link, with their types.
    fn middleboxes_on(&self, link: LinkId) -> Vec<String> {
        let link = &self.scenario.links[link.index()].name;
        let own = self.scenario.middleboxes.iter().filter(|one| one.link == *link);
        own.map(|one| format!("{} ({})", one.name, one.what.kind())).collect()
    }

    /// The recorded events; `None` without an observer.
    pub(super) fn events(&self) -> Option<Events> {
        let recorder = self.recorder.as_ref()?;
        Some(Events { hosts: self.scenario.node_names(), columns: recorder.take() })
    }

    /// Routes of the data of each flow over each of its paths. Empty if nodes spread frames over several
    /// routes.
    pub(super) fn routes(&mut self) -> BTreeMap<(u16, u16), Route> {
        let mut routes = BTreeMap::new();
        if self.scenario.spreads() {
            return routes;
        }
        let names = self.sampler.path_names().to_vec();
        for (flow, app) in self.apps.iter().enumerate() {
            let spec = &self.scenario.flows[flow];
            let upload = app.sending_host() == app.from;
            let (near, far) = (self.hosts[app.from].node, self.hosts[app.to].node);
            for path in &spec.paths {
                let Some(at) = self.hosts[app.from].interface_names.iter().position(|name| name == path)
                else {
                    continue;
                };
                let first = self.hosts[app.from].interfaces[at].map(|(_, outward)| outward);
                let (own, other) = (self.addresses[app.from][at], self.addresses[app.to][0]);
                let network = &mut self.network;
                let out = Route::trace(network, near, first, (far, other));
                let back = Route::trace(network, far, None, (near, own));
                let (Some(out), Some(back)) = (out, back) else { continue };
                let (forth, back) = if upload { (out, back) } else { (back, out) };
                let life = spec.start..spec.stop.unwrap_or(self.scenario.duration);
                let route = Route::new(&self.scenario, forth, back, &life, at as u16);
                let further = (1..spec.ports().unwrap_or(1)).map(|number| numbered(path, number as usize));
                for name in further.chain([path.clone()]) {
                    if let Some(known) = names.iter().position(|known| *known == name) {
                        routes.insert((flow as u16, known as u16), route.clone());
                    }
                }
            }
        }
        routes
    }

    /// Updates the intervals without data; call it at each sample.
    #[inline]
    pub(super) fn watch_silences(&mut self, now: Instant) {
        let Some(attribution) = &mut self.attribution else { return };
        for app in self.apps.iter().filter(|app| app.datagrams.is_none()) {
            attribution.watch_silence(now, app.flow as u16, app.silent_since(), &mut self.network);
        }
    }

    /// The warm-up is over: resets the limits that senders report.
    pub(super) fn count_reasons_anew(&mut self, now: Instant) {
        let Some(attribution) = &mut self.attribution else { return };
        for app in self.apps.iter().filter(|app| app.started_at.is_some() && app.datagrams.is_none()) {
            attribution.count_reasons_anew(app.flow as u16, app.reasons(now, &self.hosts).0);
        }
    }

    /// Adds the limits of paths to the summaries of flows, by the links and by the sender. UDP flows have
    /// none.
    pub(super) fn add_limits(&mut self, end: Instant, flows: &mut [FlowSummary]) {
        if let Some(attribution) = &mut self.attribution {
            attribution.settle_all(end.max(self.network.now()), &mut self.network);
        }
        for (flow, app) in flows.iter_mut().zip(&self.apps) {
            let Some(recorder) = &self.recorder else { continue };
            for path in &mut flow.paths {
                let interface =
                    self.hosts[app.from].interface_names.iter().position(|name| *name == path.path);
                path.drops = interface.map(|at| recorder.drops_on(app.flow, at));
            }
            let names = self.sampler.path_names();
            let (reasons, over) = app.reasons(end, &self.hosts);
            let until = over.unwrap_or(end);
            let mut links: [Vec<Links>; 2] = [Vec::new(), Vec::new()];
            for absent in &mut flow.never_joined {
                let at = names.iter().position(|name| *name == absent.path);
                let truth = self.attribution.as_ref().zip(at).and_then(|(attribution, at)| {
                    attribution.summary(app.flow as u16, at as u16, until, &mut self.network)
                });
                let truth = truth.unwrap_or_default();
                absent.best_capacity = truth.rate;
                let hops = self
                    .attribution
                    .as_ref()
                    .zip(at)
                    .map(|(attribution, at)| attribution.links_of(app.flow as u16, at as u16));
                absent.middleboxes =
                    hops.unwrap_or_default().into_iter().flat_map(|link| self.middleboxes_on(link)).collect();
                let down = truth.shares.iter().find(|(name, _)| *name == "down");
                absent.down = down.map_or(0.0, |(_, share)| *share);
                for (all, links) in links.iter_mut().zip([truth.links, truth.best_links]) {
                    all.push(links);
                }
            }
            let (Some(_), None) = (app.started_at, &app.datagrams) else { continue };
            let counted = self
                .attribution
                .as_ref()
                .and_then(|attribution| attribution.counted_reasons(app.flow as u16, (reasons, until)));
            let (mut payload, mut offered) = (0, 0);
            let silent_from = app.silence_until(end).1;
            for path in &mut flow.paths {
                let at = names.iter().position(|name| *name == path.path);
                let mine = |reason: &&PathReasons| Some(usize::from(recorder.path_of(&reason.place))) == at;
                if let (Some(at), Some((reasons, counts))) = (at, &counted) {
                    let (own, all) = recorder.full_times(app.flow, at, counts.end);
                    (path.sender_limits, path.blamed) = shares(reasons.iter().filter(mine), counts, own);
                    flow.full_buffers = all.shares(counts.end.since(counts.start));
                }
                let truth = self.attribution.as_ref().zip(at).and_then(|(attribution, at)| {
                    attribution.summary(app.flow as u16, at as u16, until, &mut self.network)
                });
                let truth = truth.unwrap_or_default();
                payload += truth.carried.0;
                offered += truth.carried.1;
                path.silence =
                    self.attribution.as_ref().zip(at).map_or_else(Vec::new, |(attribution, at)| {
                        attribution.silence(app.flow as u16, at as u16, silent_from)
                    });
                for (all, links) in links.iter_mut().zip([truth.links, truth.best_links]) {
                    all.push(links);
                }
                path.limits = truth.shares;
                (path.capacity, path.best_capacity) = (truth.capacity, truth.rate);
                path.base_rtt = truth.base_rtt;
                path.ack_wait = truth.ack_wait.map(|(wait, _)| wait);
                let queue = truth.ack_wait.and_then(|(_, queue)| queue);
                path.ack_queue = queue.map(|queue| self.name_of(queue));
                path.is_backup = self.scenario.flows[app.flow].backup.contains(&path.path);
                path.queue_wait = truth.queue_wait.map(|(wait, _)| wait);
                let queue = truth.queue_wait.and_then(|(_, queue)| queue);
                path.queue_at = queue.map(|queue| self.name_of(queue));
                let place = |(cause, at): (Cause, DirectionId)| (cause.name(), self.place_of(cause, at));
                path.places = truth.places.into_iter().map(place).collect();
            }
            let payload_share = if offered > 0 { payload as f64 / offered as f64 } else { 1.0 };
            let [usual, best] = links.map(|links| least(&links).map(|capacity| capacity * payload_share));
            (flow.capacity, flow.best_capacity) = (usual, best);
        }
    }
}

/// Events that the accounts need.
const ACCOUNTED: [Kind; 5] = [Kind::Limit, Kind::Block, Kind::Window, Kind::Timeout, Kind::Spurious];

/// Shares of the time `counts` of a flow for which each reason blocked a path, and the share for which the
/// other paths waited for this one. Idle time is excluded. Time before the first subflow counts as joining,
/// later time without a subflow as closed. `full` divides the time with full buffers among the buffers.
fn shares<'a>(
    subflows: impl Iterator<Item = &'a PathReasons>,
    counts: &Range<Instant>,
    full: FullTimes,
) -> (Vec<(&'static str, f64)>, f64) {
    let (started, lived) = (counts.start, counts.end.since(counts.start));
    let (mut total, mut blamed) = ([Duration::ZERO; PathLimit::ALL.len()], Duration::ZERO);
    let mut before = lived;
    for subflow in subflows {
        before = before.min(subflow.began.since(started));
        for (sum, more) in total.iter_mut().zip(subflow.total) {
            *sum += more;
        }
        blamed += subflow.blamed;
    }
    // In the remaining time, both buffers had space, so the scheduler was the limit.
    let mut rest = total[PathLimit::ReceiveWindow as usize] + total[PathLimit::SendBuffer as usize];
    let [both, send, receive] = [full.both, full.send_buffer, full.receive_window].map(|time| {
        let part = time.min(rest);
        rest -= part;
        part
    });
    total[PathLimit::ReceiveWindow as usize] = receive;
    total[PathLimit::SendBuffer as usize] = send;
    total[PathLimit::Scheduler as usize] += rest;
    total[PathLimit::Joining as usize] += before;
    let idle = total[PathLimit::Idle as usize];
    let busy = lived - idle;
    let whole = busy.as_secs_f64();
    let is_busy = |limit: &PathLimit| !matches!(limit, PathLimit::Idle | PathLimit::Closed);
    let filled = PathLimit::ALL.iter().filter(|l| is_busy(l)).fold(both, |sum, &l| sum + total[l as usize]);
    total[PathLimit::Closed as usize] = busy - filled;
    let scale = whole.max(filled.as_secs_f64());
    let share = |time: Duration| if scale > 0.0 { time.as_secs_f64() / scale } else { 0.0 };
    let kept = PathLimit::ALL.iter().filter(|limit| **limit != PathLimit::Idle);
    let kept = kept.map(|&limit| (limit.name(), share(total[limit as usize])));
    (kept.chain([("both_buffers", share(both))]).collect(), share(blamed))
}
