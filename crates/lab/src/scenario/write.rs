//! Writes a resolved scenario as TOML.
//!
//! Results contain this TOML, so that a run can be repeated after defaults have changed. Nearly all keys are
//! therefore written, also with a default value. Owns the conversion to the types of the file format
//! (`file`).

use netsim::Loss;

use super::file::{
    DirectionTable, EventTable, FilterTable, FlowTable, GilbertElliottTable, JitterTable, LimitsTable,
    LinkTable, PathTable, QueueValue, RouteTable, ScenarioFile, SetTable,
};
use super::model::{
    Adjustment, Event, Filter, Flow, HostJitter, Limits, Link, LinkDirection, LinkKind, PolicyChange, Route,
    Scenario, Traffic,
};
use super::names::{Ecn, Interference, MtuProbing, Reinjection, Routing};
use super::policies::MAX_SUBFLOWS;
use super::recording::{Recorded, Start};
use super::resolve::{ANNOUNCE, PROBE};
use super::units::{Distance, LineRate, Percent, QueueSize, Size, Span, TraceStart};
use super::written::{direction, percent};
use super::{middleboxes, policies, wifi};

impl Scenario {
    /// The scenario as TOML. Reading this text gives the same scenario.
    #[must_use]
    pub fn to_toml(&self) -> String {
        toml::to_string(&self.to_file()).unwrap_or_default()
    }

    /// The scenario in the types of the file format.
    #[must_use]
    pub fn to_file(&self) -> ScenarioFile {
        let of = |kind| self.links.iter().filter(move |link| link.kind == kind);
        ScenarioFile {
            name: Some(self.name.clone()),
            description: Some(self.description.clone()),
            duration: Some(Span(self.duration)),
            warmup: Some(Span(self.warmup)),
            sample: Some(Span(self.sample)),
            until_done: self.until_done.then_some(true),
            include: None,
            defaults: None,
            paths: some(of(LinkKind::Path).map(|link| (link.name.clone(), path(link))).collect()),
            links: some(of(LinkKind::Link).map(|link| (link.name.clone(), general(link))).collect()),
            topology: None,
            routing: Some(self.routing).filter(|&routing| routing != Routing::First),
            routes: Some(self.routes.iter().map(route).collect()).filter(|all: &Vec<_>| !all.is_empty()),
            relays: Some(self.relays.clone()).filter(|all| !all.is_empty()),
            stations: some(
                of(LinkKind::Station)
                    .filter_map(|link| Some((link.name.clone(), wifi::station(link)?)))
                    .collect(),
            ),
            cells: some(self.cells.iter().map(|cell| (cell.name.clone(), wifi::cell(cell))).collect()),
            background: some(
                self.background.iter().map(|one| (one.name.clone(), wifi::background(one))).collect(),
            ),
            interference: (!self.cells.is_empty() || self.interference != Interference::Ideal)
                .then_some(self.interference),
            coupling: Some(self.coupling.iter().map(wifi::coupling).collect())
                .filter(|all: &Vec<_>| !all.is_empty()),
            flows: some(self.flows.iter().map(|one| (one.name.clone(), flow(one))).collect()),
            events: Some(
                self.events
                    .iter()
                    .map(|one| self.event(one))
                    .chain(self.switches.iter().map(middleboxes::switch))
                    .chain(self.policy_changes.iter().map(policy_change))
                    .collect(),
            )
            .filter(|all: &Vec<_>| !all.is_empty()),
            filters: Some(self.filters.iter().map(|one| self.filter(one)).collect())
                .filter(|all: &Vec<_>| !all.is_empty()),
            middleboxes: some(
                self.middleboxes
                    .iter()
                    .map(|one| (one.name.clone(), middleboxes::middlebox(one, self.by_kind(&one.link))))
                    .collect(),
            ),
            jitter: jitter(self.jitter),
            limits: limits(self.limits),
        }
    }

    fn event(&self, event: &Event) -> EventTable {
        let Adjustment { up, rate, delay, loss, queue, path_mtu, jitter, distance } = event.set;
        let [path, link, station] = self.by_kind(&event.link);
        let set = SetTable {
            up,
            rate: rate.map(LineRate),
            delay: delay.map(Span),
            loss: loss.map(percent),
            queue: queue.map(QueueSize::from),
            path_mtu,
            jitter: jitter.map(Span),
            distance: distance.map(Distance),
            on: None,
            scheduler: None,
            congestion: None,
        };
        let direction = direction(event.way);
        EventTable {
            at: Some(Span(event.at)),
            path,
            link,
            station,
            middlebox: None,
            flow: None,
            direction,
            set: Some(set),
            how: up.map(|_| event.how),
        }
    }

    fn filter(&self, filter: &Filter) -> FilterTable {
        let [path, link, station] = self.by_kind(&filter.link);
        FilterTable {
            path,
            link,
            station,
            direction: direction(filter.way),
            flows: filter.flows.clone(),
            paths: filter.paths.clone(),
            delay: Some(Span(filter.delay)),
            loss: Some(percent(filter.loss)),
        }
    }

    /// The name of a link in the place of its type, for the keys `path`, `link` and `station`; `None` for the
    /// other two.
    fn by_kind(&self, name: &str) -> [Option<String>; 3] {
        let found = self.links.iter().find(|link| link.name == name);
        LinkKind::ALL.map(|kind| found.filter(|link| link.kind == kind).map(|link| link.name.clone()))
    }
}

fn jitter(jitter: HostJitter) -> Option<JitterTable> {
    let HostJitter { start, processing } = jitter;
    Some(JitterTable { start: Some(Span(start)), processing: Some(Span(processing)) })
}

/// Limits that differ from the defaults.
fn limits(limits: Limits) -> Option<LimitsTable> {
    let own = |value: u64, default: u64| (value != default).then_some(value);
    let usual = Limits::default();
    let table = LimitsTable {
        links: own(limits.links, usual.links),
        flows: own(limits.flows, usual.flows),
        stations: own(limits.stations, usual.stations),
        samples: own(limits.samples, usual.samples),
        blocks: own(limits.blocks, usual.blocks),
        events: own(limits.events, usual.events),
        trace: own(limits.trace, usual.trace),
        runs: own(limits.runs, usual.runs),
        memory: own(limits.memory, usual.memory).map(Size),
    };
    (limits != usual).then_some(table)
}

fn some<K: std::hash::Hash + Eq, V>(map: indexmap::IndexMap<K, V>) -> Option<indexmap::IndexMap<K, V>> {
    Some(map).filter(|map| !map.is_empty())
}

fn line(line: &LinkDirection) -> DirectionTable {
    let (loss, bursts) = match &line.loss {
        Loss::None => (Some(Percent(0.0)), None),
        Loss::Bernoulli(p) => (Some(percent(*p)), None),
        Loss::Custom(_) => (None, None),
        Loss::GilbertElliott(model) => {
            let table = GilbertElliottTable {
                preset: None,
                p: Some(percent(model.good_to_bad)),
                r: Some(percent(model.bad_to_good)),
                loss_bad: Some(percent(model.loss_in_bad)),
                loss_good: Some(percent(model.loss_in_good)),
            };
            (None, Some(table))
        }
    };
    DirectionTable {
        rate: line.rate_said().map(LineRate),
        trace: line.recording.as_ref().map(|recording| recording.file.clone()),
        trace_start: line.recording.as_ref().and_then(|recording| match recording.start {
            Start::Beginning => None,
            Start::At(at) => Some(TraceStart::At(Span(at))),
            Start::Random => Some(TraceStart::Random),
        }),
        trace_repeat: line.recording.as_ref().and_then(|recording| {
            let is_default = matches!(recording.what, Recorded::Opportunities(..))
                || recording.repeats == (recording.start == Start::Random);
            (!is_default).then_some(recording.repeats)
        }),
        delay: Some(Span(line.delay)),
        loss,
        gilbert_elliott: bursts,
        duplicate: Some(line.duplicate).filter(|&share| share > 0.0).map(percent),
        corrupt: Some(line.corrupt).filter(|&share| share > 0.0).map(percent),
        slot: line.batch.map(|batch| Span(batch.time)),
        slot_frames: line.batch.and_then(|batch| batch.frames),
        jitter: Some(Span(line.jitter)),
        reorder: Some(line.reorder),
        queue: Some(match line.discipline_table() {
            Some(table) => QueueValue::Discipline(table),
            None => QueueValue::DropTail(line.queue.into()),
        }),
        mark: line.mark.map(QueueSize::from),
        path_mtu: line.path_mtu,
        icmp: (!line.icmp).then_some(false),
        up: Some(line.up),
        loss_model: line.custom_loss(),
    }
}

/// The common keys of both directions, and the keys of each.
fn lines(link: &Link) -> (DirectionTable, Option<DirectionTable>, Option<DirectionTable>) {
    let (forward, backward) = (line(&link.forward), line(&link.backward));
    if forward == backward {
        (forward, None, None)
    } else {
        (DirectionTable::default(), Some(forward), Some(backward))
    }
}

fn path(link: &Link) -> PathTable {
    let (both, forward, backward) = lines(link);
    PathTable { rtt: None, mtu: Some(link.mtu), forward, backward, both }
}

fn general(link: &Link) -> LinkTable {
    let PathTable { rtt, mtu, forward, backward, both } = path(link);
    LinkTable { ends: Some(link.ends.to_vec()), rtt, mtu, forward, backward, both }
}

fn route(route: &Route) -> RouteTable {
    let Route { from, to, flows, subflow, links } = route.clone();
    RouteTable {
        from: Some(from),
        to: Some(to),
        flows: Some(flows),
        subflow: subflow.map(u32::from),
        links: Some(links),
    }
}

fn flow(flow: &Flow) -> FlowTable {
    let (path_manager, subflows) = policies::path_manager(&flow.path_manager);
    let (bulk, bytes, blocks, rate) = match &flow.traffic {
        Traffic::Bulk => (Some(true), None, None, None),
        Traffic::File { bytes } => (None, Some(Size(*bytes)), None, None),
        Traffic::Blocks { bytes, rate } => (None, None, Some(Size(*bytes)), Some(LineRate(*rate))),
        Traffic::Datagrams { rate, .. } => (None, None, None, Some(LineRate(*rate))),
        Traffic::Custom(_) => (None, None, None, None),
    };
    let activity = flow.activity();
    let (datagram, application) = match &flow.traffic {
        Traffic::Datagrams { bytes, .. } => (Some(Size(u64::from(*bytes))), None),
        Traffic::Custom(chosen) => (None, Some(chosen.table())),
        _ => (None, None),
    };
    FlowTable {
        from: Some(flow.from.clone()),
        to: Some(flow.to.clone()),
        permutation: None,
        // Its effects are written as separate keys.
        stack: None,
        direction: Some(flow.direction),
        transport: Some(flow.transport),
        version: Some(flow.version),
        paths: Some(flow.paths.clone()),
        congestion: Some(policies::written(&flow.congestion)),
        coupling_scope: Some(flow.coupling_scope),
        send_queue_rule: Some(flow.send_queue_rule),
        scheduler: Some(policies::written(&flow.scheduler)),
        path_manager: Some(path_manager),
        subflows,
        backup: Some(flow.backup.clone()),
        opportunistic_retransmission: Some(flow.mechanisms.opportunistic_retransmission),
        opportunistic_rule: Some(flow.mechanisms.opportunistic_rule),
        penalisation: Some(flow.mechanisms.penalisation),
        penalty_rule: Some(flow.mechanisms.penalty_rule),
        autotuning: Some(flow.mechanisms.autotuning),
        sndbuf_shrinks: Some(flow.mechanisms.sndbuf_shrinks),
        rcvbuf_by_path: Some(flow.mechanisms.rcvbuf_by_path),
        cwnd_capping: Some(flow.mechanisms.cwnd_capping),
        rcvbuf: Some(Size(flow.tcp.rcvbuf)),
        sndbuf: Some(Size(flow.tcp.sndbuf)),
        mss: flow.tcp.mss,
        slow_start: Some(flow.tcp.slow_start),
        pacing: Some(flow.tcp.pacing),
        subflow_queues: flow.waiting.subflow_queues.then_some(true),
        buffer_memory: flow.waiting.buffer_memory.then_some(true),
        reinjection: Some(flow.waiting.reinjection).filter(|rule| *rule != Reinjection::Timeout),
        windows_by_subflow: flow.waiting.windows_by_subflow.then_some(true),
        failed_path_probe: Some(Span(flow.waiting.failed_path_probe.unwrap_or_default()))
            .filter(|span| span.0 != PROBE),
        wide_data_acks: flow.waiting.wide_data_acks.then_some(true),
        add_addr_timeout: Some(Span(flow.waiting.add_addr_timeout)).filter(|span| span.0 != ANNOUNCE),
        blackhole_timeout: flow.waiting.blackhole_timeout.map(Span),
        small_queues: flow.tcp.small_queues.map(Size),
        sack: Some(flow.tcp.sack),
        timestamps: Some(flow.tcp.timestamps),
        byte_counting: Some(flow.tcp.byte_counting),
        rack: Some(flow.tcp.rack),
        frto: Some(flow.tcp.frto),
        undo_spurious_loss: Some(flow.tcp.undo_spurious_loss),
        ecn: Some(flow.tcp.ecn).filter(|ecn| *ecn != Ecn::Off),
        abe: flow.tcp.abe.then_some(true),
        restart_after_idle: flow.tcp.restart_after_idle.then_some(true),
        cwnd_limited_per_round: flow.tcp.cwnd_limited_per_round.then_some(true),
        mtu_probing: Some(flow.tcp.mtu_probing).filter(|probing| *probing != MtuProbing::Off),
        delayed_ack: Some(flow.tcp.delayed_ack),
        nagle: Some(flow.tcp.nagle),
        minshall: Some(flow.tcp.minshall),
        min_rto: Some(Span(flow.tcp.min_rto)),
        user_timeout: flow.tcp.user_timeout.map(Span),
        notsent_lowat: flow.tcp.notsent_lowat.map(Size),
        initial_window: Some(flow.tcp.initial_window),
        ssthresh: flow.tcp.ssthresh.map(Size),
        checksum: Some(flow.checksum),
        accept_mptcp: Some(flow.accept_mptcp).filter(|accepts| !accepts),
        accept_subflows: Some(flow.accept_subflows).filter(|most| *most < MAX_SUBFLOWS),
        bulk,
        bytes,
        blocks,
        rate,
        datagram,
        on: activity.map(|(on, _)| Span(on)),
        off: activity.map(|(_, off)| Span(off)),
        deadline: flow.deadline.map(Span),
        start: Some(Span(flow.start)),
        stop: flow.stop.map(Span),
        count: None,
        stagger: None,
        baselines: Some(flow.baselines),
        application,
    }
}

fn policy_change(one: &PolicyChange) -> EventTable {
    let set = SetTable {
        scheduler: one.scheduler.as_ref().map(policies::written),
        congestion: one.congestion.as_ref().map(policies::written),
        ..SetTable::default()
    };
    let (at, flow) = (Some(Span(one.at)), Some(one.flow.clone()));
    EventTable { at, flow, set: Some(set), ..EventTable::default() }
}
