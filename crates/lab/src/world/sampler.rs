//! Samples every flow and link at regular intervals, and computes the summaries of flows.
//!
//! Owns the samples, which become a table of the results. Owns also the counters at the end of the warm-up,
//! because summaries exclude it.

use std::collections::HashMap;

use mptcp::{ConnectionInfo, SubflowInfo};
use mptcp_clock::{Duration, Instant};
use netsim::{LinkId, Network};

use super::apps::App;
use super::host::{self, Host};
use super::link_summaries;
use crate::columns::numbered;
use crate::measurements::{AbsentPath, FlowSummary, Measurements, Metric, PathSummary, Samples, quantiles};
use crate::scenario::names::Transport;
use crate::scenario::{Link, Scenario, Traffic};

/// Counters of a flow on a path, summed over its subflows.
#[derive(Clone, Copy, Debug, Default)]
struct PathCount {
    sent: u64,
    acked: u64,
    arrived: u64,
    retransmits: u64,
    timeouts: u64,
    reinjected: u64,
    subflows: u32,
}

/// Values of a flow by path, for the paths that it uses, in the order of their indices in `path_names`.
#[derive(Clone, Debug, Default)]
struct ByPath<T>(Vec<(usize, T)>);

impl<T: Copy + Default> ByPath<T> {
    /// The value of a path; the default for an unused one.
    fn get(&self, path: usize) -> T {
        let found = self.0.iter().find(|(known, _)| *known == path);
        found.map_or_else(T::default, |(_, value)| *value)
    }

    /// The value of a path, which is added if it is new.
    fn at(&mut self, path: usize) -> &mut T {
        let place = self.0.partition_point(|(known, _)| *known < path);
        if self.0.get(place).is_none_or(|(known, _)| *known != path) {
            self.0.insert(place, (path, T::default()));
        }
        &mut self.0[place].1
    }

    fn iter(&self) -> impl Iterator<Item = (usize, T)> + '_ {
        self.0.iter().copied()
    }
}

/// Counters of a flow at an earlier time.
#[derive(Clone, Debug, Default)]
struct Mark {
    received: u64,
    /// Bytes received out of order, until the end of the warm-up; then 0.
    early: u64,
    again: Again,
    paths: ByPath<PathCount>,
}

/// Bytes that a sender sent on a second subflow: reinjected, and by opportunistic retransmission (M1).
#[derive(Clone, Copy, Debug, Default)]
struct Again {
    reinjected: u64,
    opportunistic: u64,
}

impl Again {
    fn of(info: Option<&ConnectionInfo>) -> Self {
        info.map_or_else(Self::default, |info| Self {
            reinjected: info.reinjected_bytes,
            opportunistic: info.opportunistic_bytes,
        })
    }

    fn since(self, then: Self) -> Self {
        Self {
            reinjected: self.reinjected.saturating_sub(then.reinjected),
            opportunistic: self.opportunistic.saturating_sub(then.opportunistic),
        }
    }
}

impl Mark {
    /// Bytes that arrived for the first time, in order or not.
    fn unique(&self) -> u64 {
        self.received + self.early
    }
}

/// Sampled RTTs of a path.
#[derive(Clone, Copy, Debug, Default)]
struct RoundTrips {
    /// Sum after the warm-up, s.
    sum: f64,
    count: u32,
    /// Whether there was any sample.
    is_known: bool,
}

#[derive(Debug)]
pub(super) struct Sampler {
    samples: Samples,
    /// By flow: whether its subflows share addresses, so that each has its own name.
    numbered: Vec<bool>,
    path_names: Vec<String>,
    /// Index in `path_names` by name.
    path_numbers: HashMap<String, usize>,
    links: Vec<LinkId>,
    /// By link: whether a queue marks packets (ECN).
    marks: Vec<bool>,
    last: Vec<Mark>,
    /// By link: bytes transmitted forward, and bytes delivered backward.
    on_line: Vec<[u64; 2]>,
    warm: Vec<Mark>,
    warm_at: Vec<Option<Instant>>,
    /// Duplicate bytes at the end of the warm-up.
    warm_duplicates: Vec<u64>,
    warmup: Instant,
    interval: f64,
    /// Sampled RTTs by flow and path.
    rtts: Vec<ByPath<RoundTrips>>,
}

impl Sampler {
    pub(super) fn new(scenario: &Scenario, links: &[LinkId]) -> Self {
        let path_names = scenario.path_names();
        let flows = scenario.flows.len();
        Self {
            samples: Samples::default(),
            links: links.to_vec(),
            marks: scenario.links.iter().map(Link::marks).collect(),
            on_line: vec![[0; 2]; links.len()],
            last: vec![Mark::default(); flows],
            warm: vec![Mark::default(); flows],
            warm_at: vec![None; flows],
            warm_duplicates: vec![0; flows],
            warmup: Instant::ZERO + scenario.warmup,
            interval: scenario.sample.as_secs_f64(),
            rtts: vec![ByPath::default(); flows],
            numbered: scenario.flows.iter().map(|flow| flow.ports().is_some()).collect(),
            path_numbers: path_names.iter().cloned().zip(0..).collect(),
            path_names,
        }
    }

    /// Path names in the order of the samples.
    pub(super) fn path_names(&self) -> &[String] {
        &self.path_names
    }

    /// The samples so far.
    pub(super) fn samples(&self) -> &Samples {
        &self.samples
    }

    /// Removes and returns the samples so far.
    pub(super) fn take_samples(&mut self) -> Samples {
        std::mem::take(&mut self.samples)
    }

    /// Number of rows.
    pub(super) fn rows(&self) -> usize {
        self.samples.time.len()
    }

    pub(super) fn sample(&mut self, now: Instant, hosts: &[Host], apps: &[App], network: &mut Network<u32>) {
        for app in apps {
            self.sample_flow(now, hosts, app);
        }
        let no_flow = apps.len();
        for path in 0..self.links.len() {
            let counters =
                [self.links[path].forward(), self.links[path].backward()].map(|way| network.counters(way));
            let now_line = [counters[0].sent_bytes, counters[1].delivered_bytes];
            let then = std::mem::replace(&mut self.on_line[path], now_line);
            let metrics = [Metric::InterfaceThroughput, Metric::InterfaceReceived];
            for (way, metric) in metrics.into_iter().enumerate() {
                let rate = (now_line[way] - then[way]) as f64 * 8.0 / self.interval;
                self.samples.push(now, no_flow, path, metric, rate);
            }
            let both = |pick: fn(&netsim::Counters) -> u64| counters.iter().map(pick).sum::<u64>() as f64;
            self.samples.push(now, no_flow, path, Metric::Queue, both(|c| c.backlog_bytes));
            self.samples.push(now, no_flow, path, Metric::QueueDrops, both(|c| c.dropped_frames));
            self.samples.push(now, no_flow, path, Metric::RandomLosses, both(|c| c.lost_frames));
            if self.marks[path] {
                self.samples.push(now, no_flow, path, Metric::QueueMarks, both(|c| c.marked_frames));
            }
            let mac = [self.links[path].forward(), self.links[path].backward()].map(|way| network.mac(way));
            if let [Some(out), Some(back)] = mac {
                let retries = (out.retries + back.retries) as f64;
                self.samples.push(now, no_flow, path, Metric::MacRetries, retries);
                let drops = (out.retry_drops + back.retry_drops) as f64;
                self.samples.push(now, no_flow, path, Metric::MacDrops, drops);
                self.samples.push(now, no_flow, path, Metric::PhyRate, out.phy_rate as f64);
            }
        }
    }

    fn sample_flow(&mut self, now: Instant, hosts: &[Host], app: &App) {
        let flow = app.flow;
        let all = self.path_names.len();
        let info = app.sender_info(now, hosts);
        let receiving = app.arrivals(now, hosts);
        let counts = self.counts(hosts, app, info.as_ref(), receiving.as_ref());
        let per_second = 8.0 / self.interval;
        let mut total = 0.0;
        for (path, count) in counts.iter() {
            if count.subflows == 0 {
                continue;
            }
            let last = self.last[flow].paths.get(path);
            let sent = count.sent.saturating_sub(last.sent) as f64 * per_second;
            total += sent;
            self.samples.push(now, flow, path, Metric::Throughput, sent);
            let arrived = count.arrived.saturating_sub(last.arrived) as f64 * per_second;
            self.samples.push(now, flow, path, Metric::Goodput, arrived);
            self.samples.push(now, flow, path, Metric::Retransmits, count.retransmits as f64);
        }
        self.samples.push(now, flow, all, Metric::Throughput, total);
        let read = app.received.saturating_sub(self.last[flow].received) as f64 * per_second;
        self.samples.push(now, flow, all, Metric::Goodput, read);
        if let Some(info) = &info {
            self.samples.push(now, flow, all, Metric::SendQueue, info.send_queue as f64);
            self.samples.push(now, flow, all, Metric::ReceiveWindow, info.peer_window as f64);
            self.samples.push(now, flow, all, Metric::Reinjected, info.reinjected_bytes as f64);
            self.sample_subflows(now, hosts, app, info);
        }
        if let Some(waiting) = app.out_of_order(hosts) {
            self.samples.push(now, flow, all, Metric::OutOfOrder, waiting as f64);
        }
        let early = if now <= self.warmup { early(receiving.as_ref()) } else { 0 };
        let again = Again::of(info.as_ref());
        self.last[flow] = Mark { received: app.received, early, again, paths: counts };
        if now <= self.warmup || app.started_at.is_none() {
            self.exclude_until(now, hosts, app, self.last[flow].clone());
        }
    }

    /// Notes the counters of all flows at the end of the warm-up. Necessary if it is not the time of a sample;
    /// otherwise summaries would contain data from before.
    pub(super) fn end_warm_up(&mut self, now: Instant, hosts: &[Host], apps: &[App]) {
        for app in apps {
            let (info, receiving) = (app.sender_info(now, hosts), app.arrivals(now, hosts));
            let paths = self.counts(hosts, app, info.as_ref(), receiving.as_ref());
            let (early, again) = (early(receiving.as_ref()), Again::of(info.as_ref()));
            self.exclude_until(now, hosts, app, Mark { received: app.received, early, again, paths });
        }
    }

    /// Excludes what a flow has done so far from its summary.
    fn exclude_until(&mut self, now: Instant, hosts: &[Host], app: &App, mark: Mark) {
        self.warm[app.flow] = mark;
        self.warm_duplicates[app.flow] = app.receiver_info(now, hosts).map_or(0, |info| info.duplicate_bytes);
        self.warm_at[app.flow] = Some(now);
    }

    /// Samples open subflows.
    fn sample_subflows(&mut self, now: Instant, hosts: &[Host], app: &App, info: &ConnectionInfo) {
        let living = info.subflows.iter().enumerate().filter(|(_, subflow)| subflow.closed_by.is_none());
        for (slot, subflow) in living {
            let path = self.path_of(hosts, app, subflow, slot);
            let flow = app.flow;
            self.samples.push(now, flow, path, Metric::Cwnd, subflow.cwnd as f64);
            if let Some(ssthresh) = subflow.ssthresh {
                self.samples.push(now, flow, path, Metric::Ssthresh, ssthresh as f64);
            }
            if let Some(srtt) = subflow.srtt {
                let seen = self.rtts[flow].at(path);
                // After the last byte, the RTT estimate no longer changes. An estimate from then is used only
                // for flows that are too short for a sample.
                if !app.has_all() || !seen.is_known {
                    self.samples.push(now, flow, path, Metric::Srtt, srtt.as_secs_f64());
                    self.samples.push(now, flow, path, Metric::Rttvar, subflow.rttvar.as_secs_f64());
                }
                seen.is_known = true;
                if now > self.warmup && (!app.has_all() || seen.count == 0) {
                    (seen.sum, seen.count) = (seen.sum + srtt.as_secs_f64(), seen.count + 1);
                }
            }
            self.samples.push(now, flow, path, Metric::InFlight, subflow.in_flight as f64);
            if hosts[app.sending_host()].hears_departures {
                self.samples.push(now, flow, path, Metric::LocalQueue, subflow.local_queue as f64);
            }
        }
    }

    /// Index of the path of a subflow in `path_names`: the link at the opening host.
    pub(super) fn path_of(&self, hosts: &[Host], app: &App, subflow: &SubflowInfo, slot: usize) -> usize {
        let opener = &hosts[app.from];
        // The address of the opening host.
        let is_opener =
            |address: &std::net::SocketAddr| host::place(address.ip()).is_some_and(|(at, _)| at == app.from);
        let address = [subflow.local, subflow.remote].into_iter().find(is_opener).unwrap_or(subflow.local);
        let interface = host::interface_of(address.ip()).0 as usize;
        let name = opener.interface_names.get(interface).map_or("", String::as_str);
        let number = if self.numbered[app.flow] { slot } else { 0 };
        let place = |wanted: &str| self.path_numbers.get(wanted).copied();
        let found = if number == 0 { None } else { place(&numbered(name, number)) };
        found.or_else(|| place(name)).unwrap_or(0)
    }

    fn counts(
        &self,
        hosts: &[Host],
        app: &App,
        info: Option<&ConnectionInfo>,
        receiving: Option<&ConnectionInfo>,
    ) -> ByPath<PathCount> {
        let mut counts = ByPath::default();
        if let Some(datagrams) = &app.datagrams {
            let name = &hosts[app.from].interface_names[app.interface.0 as usize];
            if let Some(&path) = self.path_numbers.get(name) {
                let (sent, acked) = (datagrams.sent, app.received);
                *counts.at(path) =
                    PathCount { sent, acked, arrived: acked, subflows: 1, ..PathCount::default() };
            }
            return counts;
        }
        let Some(info) = info else { return self.last[app.flow].paths.clone() };
        for (slot, subflow) in info.subflows.iter().enumerate() {
            let count = counts.at(self.path_of(hosts, app, subflow, slot));
            count.sent += subflow.stats.bytes_sent;
            count.acked += subflow.stats.bytes_acked;
            count.retransmits += subflow.retransmissions;
            count.timeouts += subflow.timeouts;
            count.reinjected += subflow.stats.bytes_reinjected;
            count.subflows += 1;
        }
        for (slot, subflow) in receiving.into_iter().flat_map(|info| info.subflows.iter().enumerate()) {
            counts.at(self.path_of(hosts, app, subflow, slot)).arrived += subflow.stats.bytes_received;
        }
        counts
    }

    pub(super) fn finish(
        &mut self,
        end: Instant,
        scenario: &Scenario,
        hosts: &[Host],
        apps: &[App],
        network: &mut Network<u32>,
    ) -> Measurements {
        let flows = apps.iter().map(|app| self.summary(end, scenario, hosts, app)).collect();
        let links = link_summaries::of(scenario, &self.links, network);
        Measurements {
            flow_names: apps.iter().map(|app| app.name.clone()).collect(),
            path_names: self.path_names.clone(),
            samples: std::mem::take(&mut self.samples),
            flows,
            links,
            measured: end.since(self.warmup).as_secs_f64(),
            data_packets: 0,
            events: None,
        }
    }

    pub(super) fn summary(
        &self,
        end: Instant,
        scenario: &Scenario,
        hosts: &[Host],
        app: &App,
    ) -> FlowSummary {
        let flow = app.flow;
        let spec = &scenario.flows[flow];
        let info = app.sender_info(end, hosts);
        let receiving = app.receiver_info(end, hosts);
        let arrivals = app.arrivals(end, hosts);
        let counts = self.counts(hosts, app, info.as_ref(), arrivals.as_ref());
        let start = Instant::ZERO + spec.start;
        let from = self.warmup.max(app.started_at.unwrap_or(start)).max(self.warm_at[flow].unwrap_or(start));
        // A transfer is measured until its last byte, other flows until the end of the run.
        let to = match (&spec.traffic, app.finished_at.or(app.last_byte_at)) {
            (Traffic::File { bytes }, Some(last)) if app.received == *bytes => last.min(end),
            (Traffic::Custom(_), Some(last)) if app.ended => last.min(end),
            // A stopped flow is measured until the last byte that it wrote.
            _ => spec.stop.filter(|_| app.is_drained()).map_or(end, |stop| {
                (Instant::ZERO + stop).max(app.last_byte_at.unwrap_or(Instant::ZERO)).min(end)
            }),
        };
        let measured = to.since(from).as_secs_f64();
        let rate = |bytes: u64| if measured > 0.0 { bytes as f64 * 8.0 / measured } else { 0.0 };
        let warm = &self.warm[flow];
        let bytes_received = app.received.saturating_sub(warm.received);
        let waiting = if app.has_all() { 0 } else { early(arrivals.as_ref()) };
        let unique = app.received + waiting;
        let sent: u64 =
            counts.iter().map(|(path, now)| now.sent.saturating_sub(warm.paths.get(path).sent)).sum();
        let complete = match spec.traffic {
            Traffic::File { bytes } => app.received == bytes,
            Traffic::Custom(_) => app.ended && app.received == app.written,
            Traffic::Bulk | Traffic::Blocks { .. } | Traffic::Datagrams { .. } => false,
        };
        let paths = self.path_summaries(flow, &counts);
        let again = Again::of(info.as_ref()).since(warm.again);
        let expected: &[String] = match spec.transport {
            Transport::Mptcp if spec.ports().is_none() => &spec.paths,
            // The flow has only one path, even if its subflow no longer exists.
            Transport::Tcp if info.is_none() => spec.paths.get(..1).unwrap_or_default(),
            _ => &[],
        };
        let absent = |name: &&String| paths.iter().all(|path| path.path != **name);
        let (silence, silent_from) = app.silence_until(to);
        let datagrams = app.datagrams.as_ref().and_then(|datagrams| datagrams.summary(end));
        let latencies: Vec<Duration> =
            app.blocks.iter().filter(|b| b.written_at >= self.warmup).map(|b| b.latency).collect();
        let completion = app.last_byte_at.filter(|_| complete).map(|last| last.since(start));
        let late = spec.deadline.and_then(|deadline| match spec.traffic {
            Traffic::Datagrams { .. } => datagrams.and_then(|datagrams| datagrams.late),
            Traffic::File { .. } => {
                let known = completion.or(Some(end.since(start)).filter(|lasted| *lasted > deadline));
                known.map(|lasted| if lasted > deadline { 1.0 } else { 0.0 })
            }
            _ => {
                let ready = end.as_nanos().saturating_sub(deadline.as_nanos());
                let overdue = app.overdue(Instant::from_nanos(ready).min(to));
                let late = latencies.iter().filter(|latency| **latency > deadline).count() as u64 + overdue;
                let all = latencies.len() as u64 + overdue;
                (all > 0).then(|| late as f64 / all as f64)
            }
        });
        FlowSummary {
            longest_silence: silence.as_secs_f64(),
            longest_silence_at: silent_from.as_secs_f64(),
            flow: app.name.clone(),
            multipath: info.as_ref().is_some_and(|info| info.mode == mptcp::Mode::Multipath),
            fallback: super::fallback::of(app, hosts, !scenario.middleboxes.is_empty()),
            bytes_received,
            bytes_received_total: app.received,
            unique_bytes_arrived: Some(unique.saturating_sub(warm.unique())),
            measured,
            waited: from.since(self.warmup.max(start)).as_secs_f64(),
            goodput: rate(bytes_received),
            throughput: rate(sent),
            intact: app.intact,
            completion: completion.map(Duration::as_secs_f64),
            handshake: app.connected_at.map(|at| at.since(start).as_secs_f64()),
            closed: app.closed.map(|how| format!("{how:?}")),
            reinjected: again.reinjected,
            opportunistic: again.opportunistic,
            penalties: info.as_ref().map_or(0, |info| info.penalties),
            duplicates: Some(
                receiving
                    .as_ref()
                    .map_or(0, |info| info.duplicate_bytes.saturating_sub(self.warm_duplicates[flow])),
            ),
            capacity: None,
            best_capacity: None,
            receive_buffer: spec.tcp.rcvbuf,
            send_buffer: spec.tcp.sndbuf,
            full_buffers: Vec::new(),
            limits: info.as_ref().map_or_else(Vec::new, limit_shares),
            never_joined: expected.iter().filter(absent).map(|path| AbsentPath::named(path)).collect(),
            paths,
            blocks: app.blocks.clone(),
            latency: datagrams.map_or_else(|| quantiles(latencies), |datagrams| datagrams.latency),
            late,
            datagram_loss: datagrams.map(|datagrams| datagrams.loss),
            jitter: datagrams.and_then(|datagrams| datagrams.jitter),
        }
    }

    fn path_summaries(&self, flow: usize, counts: &ByPath<PathCount>) -> Vec<PathSummary> {
        let used = counts.iter().filter(|(_, count)| count.subflows > 0);
        used.map(|(path, count)| {
            let RoundTrips { sum, count: samples, .. } = self.rtts[flow].get(path);
            let warm = self.warm[flow].paths.get(path);
            PathSummary {
                path: self.path_names[path].clone(),
                subflows: count.subflows,
                bytes_sent: count.sent.saturating_sub(warm.sent),
                bytes_arrived: count.arrived.saturating_sub(warm.arrived),
                bytes_acked: count.acked.saturating_sub(warm.acked),
                retransmits: count.retransmits.saturating_sub(warm.retransmits),
                timeouts: count.timeouts.saturating_sub(warm.timeouts),
                reinjected: count.reinjected.saturating_sub(warm.reinjected),
                mean_srtt: sum / f64::from(samples),
                limits: Vec::new(),
                sender_limits: Vec::new(),
                capacity: None,
                best_capacity: None,
                base_rtt: None,
                ack_wait: None,
                ack_queue: None,
                queue_wait: None,
                is_backup: false,
                queue_at: None,
                places: Vec::new(),
                blamed: 0.0,
                silence: Vec::new(),
                drops: None,
            }
        })
        .collect()
    }
}

/// Bytes out of order at a host, in the connection and its subflows.
fn early(info: Option<&ConnectionInfo>) -> u64 {
    info.map_or(0, |info| {
        info.out_of_order + info.subflows.iter().map(|subflow| subflow.out_of_order).sum::<u64>()
    })
}

/// Share of each limit in the time since the handshake. Idle time is excluded.
fn limit_shares(info: &ConnectionInfo) -> Vec<(&'static str, f64)> {
    let busy = info.limits.iter().filter(|(limit, _)| *limit != mptcp::Limit::Idle);
    let total: f64 = busy.clone().map(|(_, span)| span.as_secs_f64()).sum();
    busy.map(|(limit, span)| (limit.name(), if total > 0.0 { span.as_secs_f64() / total } else { 0.0 }))
        .collect()
}
