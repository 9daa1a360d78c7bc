//! Resolves flows: hosts, paths, TCP settings and copies.
//!
//! A flow is one connection, or one stream of datagrams, between two hosts. Owns the checks that its paths
//! exist and lead to the other host. `stack` has defaults, and `policies` and `traffic` resolve other keys.

use std::cell::RefCell;
use std::collections::BTreeSet;

use mptcp_clock::Duration;

use super::context::{Context, ENDS};
use super::limits::above;
use super::stack::Defaults;
use super::{policies, traffic};
use crate::scenario::error::{ScenarioError, listed, suggestion};
use crate::scenario::file::{FlowTable, ScenarioFile};
use crate::scenario::model::{Flow, Limits, Link, LinkKind, Mechanisms, Tcp};
use crate::scenario::names::{
    DataDirection, MtuProbing, OpportunisticRule, PenaltyRule, SendQueueRule, Transport, Version,
};
use crate::scenario::policies::MAX_SUBFLOWS;
use crate::scenario::reach::Reach;
use crate::scenario::units::{Size, Span};

/// The network and the run length, against which flows are checked.
struct World<'a> {
    links: &'a [Link],
    nodes: BTreeSet<&'a str>,
    reach: RefCell<Reach<'a>>,
    duration: Duration,
}

pub(super) fn resolve(
    context: &Context<'_>,
    file: &ScenarioFile,
    links: &[Link],
    relays: &[String],
    duration: Duration,
    limits: &Limits,
) -> Result<Vec<Flow>, ScenarioError> {
    let tables = || file.flows.iter().flatten();
    let mut hosts: BTreeSet<&str> = tables().flat_map(|(_, flow)| ends(flow)).collect();
    if links.iter().any(|link| link.kind == LinkKind::Path) {
        hosts.extend(ENDS);
    }
    if hosts.len() > Limits::MAX_HOSTS {
        let problem = format!("must join at most {1} hosts, but join {0}", hosts.len(), Limits::MAX_HOSTS);
        return Err(context.error(&["flows"], problem));
    }
    let nodes = links.iter().flat_map(|link| link.ends.iter().map(String::as_str)).collect();
    let ends: BTreeSet<&str> =
        hosts.iter().copied().filter(|host| !relays.iter().any(|relay| relay == host)).collect();
    let world = World { links, nodes, reach: RefCell::new(Reach::new(links, &ends)), duration };
    if let Some(host) = hosts.iter().find(|host| world.own(host).count() > Limits::MAX_INTERFACES) {
        let count = world.own(host).count();
        let most = Limits::MAX_INTERFACES;
        let problem = format!("{host:?} has {count} interfaces, but a host must have at most {most}");
        return Err(context.error(&["flows"], problem));
    }
    let mut flows: Vec<Flow> = Vec::new();
    for (name, table) in tables() {
        context.name(&["flows", name], name)?;
        let flow = one(context, &world, name, table)?;
        let count = context.number(&["flows", name, "count"], table.count, 1..=10_000, 1)?;
        if flows.len() as u64 + u64::from(count) > limits.flows {
            let all = tables().map(|(_, table)| f64::from(table.count.unwrap_or(1))).sum();
            let problem = format!("there would be {}", above("flows", all, limits.flows));
            return Err(context.error(&["flows", name, "count"], problem));
        }
        let stagger = table.stagger.map_or(Duration::ZERO, |span| span.0);
        for copy in 0..count {
            let start = flow.start + stagger * u64::from(copy);
            let name = if table.count.is_some_and(|count| count > 1) {
                format!("{name}-{}", copy + 1)
            } else {
                name.clone()
            };
            flows.push(Flow { name, start, ..flow.clone() });
        }
        let last = flow.start + stagger * u64::from(count - 1);
        if last >= flow.stop.unwrap_or(duration).min(duration) {
            let key = if flow.start == last { "start" } else { "stagger" };
            let problem = format!("the last flow would start at {}, after the end of the run", Span(last));
            return Err(context.error(&["flows", name, key], problem));
        }
    }
    if flows.is_empty() {
        return Err(context.error(&["flows"], "a scenario needs a flow (try [flows.bulk])"));
    }
    let mut names = BTreeSet::new();
    match flows.iter().find(|flow| !names.insert(&flow.name)) {
        Some(twice) => {
            let problem =
                format!("two flows are called {:?}: one of them is a copy made by count", twice.name);
            Err(context.error(&["flows", &twice.name], problem))
        }
        None => Ok(flows),
    }
}

fn ends(flow: &FlowTable) -> [&str; 2] {
    [flow.from.as_deref().unwrap_or(ENDS[0]), flow.to.as_deref().unwrap_or(ENDS[1])]
}

fn one(
    context: &Context<'_>,
    world: &World<'_>,
    name: &str,
    table: &FlowTable,
) -> Result<Flow, ScenarioError> {
    let at = |key| ["flows", name, key];
    let [from, to] = ends(table);
    world.check_ends(context, name, from, to)?;
    let mut paths = world.paths(context, name, table, from, to)?;
    let mut backup = table.backup.clone().unwrap_or_default();
    if let Some((index, stranger)) = backup.iter().enumerate().find(|(_, path)| !paths.contains(path)) {
        let index = index.to_string();
        let path = ["flows", name, "backup", &index];
        let names = || paths.iter().map(String::as_str);
        let near = suggestion(stranger, names());
        let problem = format!("is not a path of this flow{near} (its paths are: {})", listed(names()));
        return Err(context.error(&path, problem));
    }
    let transport = table.transport.unwrap_or(Transport::Mptcp);
    let defaults = Defaults::of(table, transport);
    if transport != Transport::Mptcp {
        paths.truncate(1);
        backup.clear();
    }
    let stop = table.stop.map(|span| span.0);
    if stop.is_some_and(|stop| stop > world.duration) {
        let problem = format!("must not be after the end of the run (duration {})", Span(world.duration));
        return Err(context.error(&at("stop"), problem));
    }
    Ok(Flow {
        name: name.to_owned(),
        from: from.to_owned(),
        to: to.to_owned(),
        direction: table.direction.unwrap_or(DataDirection::Upload),
        transport,
        version: table.version.unwrap_or(Version::V1),
        waiting: defaults.waiting(context, name, table)?,
        tcp: tcp(context, world, name, table, &paths, &defaults)?,
        paths,
        backup,
        congestion: policies::congestion(context, name, &defaults.congestion(table))?,
        coupling_scope: table.coupling_scope.unwrap_or(defaults.coupling_scope()),
        send_queue_rule: table.send_queue_rule.unwrap_or(SendQueueRule::Off),
        scheduler: policies::scheduler(context, name, table, defaults.scheduler())?,
        path_manager: policies::path_manager(context, name, table)?,
        mechanisms: Mechanisms {
            opportunistic_retransmission: table.opportunistic_retransmission.unwrap_or(!defaults.linux),
            opportunistic_rule: table.opportunistic_rule.unwrap_or(OpportunisticRule::Speculative),
            penalisation: table.penalisation.unwrap_or(false),
            penalty_rule: table.penalty_rule.unwrap_or(PenaltyRule::Original),
            autotuning: table.autotuning.unwrap_or(false),
            sndbuf_shrinks: table.sndbuf_shrinks.unwrap_or(false),
            rcvbuf_by_path: table.rcvbuf_by_path.unwrap_or(!defaults.linux),
            cwnd_capping: table.cwnd_capping.unwrap_or(false),
        },
        checksum: table.checksum.unwrap_or(false),
        accept_mptcp: table.accept_mptcp.unwrap_or(true),
        accept_subflows: context.number(
            &["flows", name, "accept_subflows"],
            table.accept_subflows,
            0..=MAX_SUBFLOWS,
            MAX_SUBFLOWS,
        )?,
        traffic: traffic::of(context, name, table, transport)?,
        deadline: traffic::deadline(context, name, table, transport)?,
        start: table.start.map_or(Duration::ZERO, |span| span.0),
        stop,
        baselines: table.baselines.unwrap_or(false),
    })
}

fn tcp(
    context: &Context<'_>,
    world: &World<'_>,
    name: &str,
    table: &FlowTable,
    paths: &[String],
    defaults: &Defaults,
) -> Result<Tcp, ScenarioError> {
    let at = |key| ["flows", name, key];
    if let Some(mss) = table.mss {
        context.number(&at("mss"), Some(mss), 88..=65_495, mss)?;
        let used = world.links.iter().filter(|link| paths.contains(&link.name));
        if let Some(narrow) = used.min_by_key(|link| link.mtu).filter(|link| mss + 40 > link.mtu) {
            let most = narrow.mtu.saturating_sub(40);
            let problem =
                format!("does not fit the mtu {} of {:?} (at most {most})", narrow.mtu, narrow.name);
            return Err(context.error(&at("mss"), problem));
        }
    }
    let buffer = |key, size: Option<Size>, default| match size {
        Some(Size(0)) => Err(context.error(&at(key), "must be at least 1B")),
        Some(Size(bytes)) => Ok(bytes),
        None => Ok(default),
    };
    Ok(Tcp {
        rcvbuf: buffer("rcvbuf", table.rcvbuf, 6_291_456)?,
        // tcp_wmem and wmem_default of Linux.
        sndbuf: buffer(
            "sndbuf",
            table.sndbuf,
            if defaults.transport == Transport::Udp { 212_992 } else { 4_194_304 },
        )?,
        mss: table.mss,
        small_queues: table.small_queues.map(|size| size.0),
        slow_start: table.slow_start.unwrap_or(defaults.slow_start()),
        pacing: table.pacing.unwrap_or(defaults.pacing()),
        sack: table.sack.unwrap_or(true),
        timestamps: table.timestamps.unwrap_or(true),
        byte_counting: table.byte_counting.unwrap_or(true),
        rack: table.rack.unwrap_or(true),
        frto: table.frto.unwrap_or(true),
        undo_spurious_loss: table.undo_spurious_loss.unwrap_or(true),
        ecn: table.ecn.unwrap_or(defaults.ecn()),
        abe: table.abe.unwrap_or(false),
        restart_after_idle: table.restart_after_idle.unwrap_or(defaults.linux),
        cwnd_limited_per_round: table.cwnd_limited_per_round.unwrap_or(defaults.linux),
        mtu_probing: table.mtu_probing.unwrap_or(MtuProbing::Off),
        delayed_ack: table.delayed_ack.unwrap_or(true),
        nagle: table.nagle.unwrap_or(true),
        minshall: table.minshall.unwrap_or(true),
        min_rto: table.min_rto.map_or(Duration::from_millis(200), |span| span.0),
        user_timeout: table.user_timeout.map(|span| span.0),
        notsent_lowat: table.notsent_lowat.map(|size| size.0),
        ssthresh: table.ssthresh.map(|size| size.0),
        initial_window: context.number(&at("initial_window"), table.initial_window, 1..=1000, 10)?,
    })
}

impl<'a> World<'a> {
    fn check_ends(
        &self,
        context: &Context<'_>,
        name: &str,
        from: &str,
        to: &str,
    ) -> Result<(), ScenarioError> {
        for (key, host) in [("from", from), ("to", to)] {
            if !self.nodes.contains(host) {
                return Err(context.unknown(&["flows", name, key], "host", host, self.nodes.iter().copied()));
            }
        }
        if from == to {
            return Err(context.error(&["flows", name, "to"], "must differ from the host in from"));
        }
        Ok(())
    }

    /// The paths of a flow: links of the host `from` that lead to the host `to`.
    fn paths(
        &self,
        context: &Context<'_>,
        name: &str,
        table: &FlowTable,
        from: &str,
        to: &str,
    ) -> Result<Vec<String>, ScenarioError> {
        let own = || self.own(from);
        let all: Vec<&Link> = own().collect();
        let mut reach = self.reach.borrow_mut();
        let leading: Vec<&Link> = all.into_iter().filter(|link| reach.leads(link, from, to)).collect();
        drop(reach);
        let Some(chosen) = &table.paths else {
            if leading.is_empty() {
                let problem = format!("no path or link leads from host {from:?} to host {to:?}");
                return Err(context.error(&["flows", name], problem));
            }
            return Ok(leading.iter().map(|link| link.name.clone()).collect());
        };
        if chosen.is_empty() {
            let all = listed(leading.iter().map(|link| link.name.as_str()));
            return Err(
                context.error(&["flows", name, "paths"], format!("must name at least one path ({all})"))
            );
        }
        for (index, path) in chosen.iter().enumerate() {
            let number = index.to_string();
            let at = ["flows", name, "paths", number.as_str()];
            if !self.links.iter().any(|link| link.name == *path) {
                return Err(context.unknown(
                    &at,
                    "path or link",
                    path,
                    self.links.iter().map(|link| &*link.name),
                ));
            }
            if !own().any(|link| link.name == *path) {
                let names = listed(own().map(|link| link.name.as_str()));
                return Err(
                    context.error(&at, format!("does not touch host {from:?} (its links are: {names})"))
                );
            }
            if !leading.iter().any(|link| link.name == *path) {
                return Err(context.error(&at, format!("does not lead to host {to:?}")));
            }
            if chosen[..index].contains(path) {
                return Err(context.error(&at, "must not be listed twice"));
            }
        }
        Ok(chosen.clone())
    }

    /// The links of a host.
    fn own(&self, host: &str) -> impl Iterator<Item = &'a Link> + use<'a> {
        self.reach.borrow().own(host)
    }
}
