//! Turns what was tracked into a report: groups views of one connection, chooses the best one, and converts units.

use std::collections::HashMap;

use crate::diagnosis::{Case, HostFacts, MissingRates, diagnose, random_losses};
use crate::report::{
    AnnouncedReport, ConnectionReport, DataReport, DataSeries, EventReport, Missing, Protocol, Report, Role,
    RungReport, SubflowData, SubflowReport, SubflowSeries,
};
use crate::track::{Limit, Place, Request, Subflow, Tracker, View};

/// Connections with a report, at most.
const MOST_CONNECTIONS: usize = 1000;

/// Fills the connections of a report.
pub(crate) fn fill(report: &mut Report, tracker: &Tracker, host: &HostFacts) {
    let start = tracker.first.unwrap_or(0);
    report.segments = tracker.segments;
    report.copies = tracker.copies;
    report.omitted_segments = tracker.omitted;
    report.start = start as f64 / 1e9;
    report.seconds = tracker.last.saturating_sub(start) as f64 / 1e9;
    let mut groups = groups(tracker);
    let size = |group: &Vec<usize>| {
        group.iter().map(|&view| bytes(&tracker.views[view]).iter().sum::<u64>()).max().unwrap_or(0)
    };
    groups.sort_by_key(|group| std::cmp::Reverse(size(group)));
    report.omitted_connections = groups.len().saturating_sub(MOST_CONNECTIONS);
    groups.truncate(MOST_CONNECTIONS);
    report.connections = groups.iter().map(|group| connection(tracker, group, start, host)).collect();
}

fn bytes(view: &View) -> [u64; 2] {
    [0, 1].map(|side| view.directions[side].stream.new_bytes)
}

/// Identity of a connection at both ends: its initial sequence numbers.
#[derive(PartialEq, Eq, Hash)]
enum Identity {
    Numbers(u32, u32),
    View(usize),
}

/// Views of the same connection, in the order of their first packets.
fn groups(tracker: &Tracker) -> Vec<Vec<usize>> {
    let mut known: HashMap<Identity, usize> = HashMap::new();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (number, view) in tracker.views.iter().enumerate() {
        let first = view.subflows.first().map(|&id| &tracker.subflows[id]);
        let initial = first.map(|one| one.handshake.initial);
        let identity = match initial {
            Some([Some(a), Some(b)]) => Identity::Numbers(a, b),
            _ => Identity::View(number),
        };
        let group = *known.entry(identity).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[group].push(number);
    }
    groups
}

fn connection(tracker: &Tracker, group: &[usize], start: u64, host: &HostFacts) -> ConnectionReport {
    let flows = &tracker.subflows;
    let views: Vec<&View> = group.iter().map(|&number| &tracker.views[number]).collect();
    let largest = views.iter().map(|view| bytes(view)).fold([0; 2], |a, b| [a[0].max(b[0]), a[1].max(b[1])]);
    let side = usize::from(largest[1] > largest[0]);
    // The sender knows best what limits it.
    let wanted = if side == 0 { Place::Opener } else { Place::Listener };
    let best = views
        .iter()
        .enumerate()
        .max_by_key(|(number, view)| {
            (view.place(flows) == wanted, bytes(view)[side], std::cmp::Reverse(*number))
        })
        .map_or(0, |(number, _)| number);
    let view = views[best];
    let other = views.iter().enumerate().find(|(number, _)| *number != best).map(|(_, view)| *view);
    let case = Case { view, other, flows, side, start };
    let rates = MissingRates::compute(view, flows, side);
    let verdicts = diagnose(&case, &rates, host);
    let first = &flows[view.subflows[0]];
    // Without an answer, a connection is of no kind yet.
    let asked = views.iter().any(|view| {
        view.subflows.first().is_some_and(|&id| {
            let handshake = &flows[id].handshake;
            matches!(handshake.request, Request::Capable(_)) && handshake.syn_ack.is_some()
        })
    });
    let is_mptcp = view.is_mptcp && view.is_mapped() && view.fallback.fail.is_none();
    let data = [0, 1].map(|one| {
        let own;
        let rates = if one == side {
            &rates
        } else {
            own = MissingRates::compute(view, flows, one);
            &own
        };
        data(view, one, rates, start)
    });
    ConnectionReport {
        protocol: match (is_mptcp, asked) {
            (true, _) => Protocol::Mptcp,
            (false, true) => Protocol::Fallback,
            (false, false) => Protocol::Tcp,
        },
        version: match first.handshake.request {
            Request::Capable(version) => Some(version),
            _ => view.version.map(mptcp_wire::crypto::Version::number),
        },
        client: first.ends[0].to_string(),
        server: first.ends[1].to_string(),
        tokens: view.token,
        place: place(view.place(flows)).to_owned(),
        has_both_ends: other.is_some(),
        start: case.at(view.started),
        seconds: view.last_seen.saturating_sub(view.started) as f64 / 1e9,
        sender: Role::of(side),
        subflows: case.subflows().map(|(number, one)| subflow(&case, number, one, &rates)).collect(),
        announced: announced(&case),
        events: view
            .events
            .iter()
            .map(|event| EventReport {
                time: case.at(event.time),
                packet: event.packet,
                subflow: event.subflow,
                what: event.what.clone(),
            })
            .collect(),
        ladder: view
            .ladder
            .rungs
            .iter()
            .map(|rung| RungReport {
                time: case.at(rung.time),
                packet: rung.packet,
                from: Role::of(rung.side),
                subflow: rung.subflow,
                what: rung.what.clone(),
            })
            .collect(),
        verdicts,
        data,
    }
}

const fn place(place: Place) -> &'static str {
    match place {
        Place::Opener => "client",
        Place::Listener => "server",
        Place::Middle => "middle",
        Place::Unknown => "unknown",
    }
}

fn data(view: &View, side: usize, rates: &MissingRates, start: u64) -> DataReport {
    let direction = &view.directions[side];
    let stream = &direction.stream;
    let steps = &direction.steps;
    let per_second = 8.0 / steps.seconds() / 1e6;
    DataReport {
        bytes: stream.new_bytes,
        delivered: stream.delivered,
        seconds: if stream.new_bytes > 0 { rates.seconds } else { 0.0 },
        goodput: rates.rate(rates.bytes),
        potential: rates.rate(rates.potential()),
        reinjected: stream.reinjected,
        needless: stream.needless,
        largest_window: stream.largest_window,
        largest_flight: stream.largest_flight,
        mean_flight: (direction.flight_time / direction.busy.max(1e-9)) as u64,
        idle: direction.idle,
        largest_out_of_order: stream.largest_out_of_order,
        longest_stall: direction.stall as f64 / 1e9,
        series: DataSeries {
            start: steps.start().saturating_sub(start) as f64 / 1e9,
            step: steps.seconds(),
            goodput: steps.values().iter().map(|step| step.delivered as f64 * per_second).collect(),
            flight: steps.values().iter().map(|step| step.flight).collect(),
            window: steps.values().iter().map(|step| step.window).collect(),
            out_of_order: steps.values().iter().map(|step| step.out_of_order).collect(),
            reinjected: steps.values().iter().map(|step| step.reinjected as f64 * per_second).collect(),
        },
    }
}

fn subflow(case: &Case<'_>, number: usize, one: &Subflow, rates: &MissingRates) -> SubflowReport {
    let handshake = &one.handshake;
    let state = match (handshake.syn, handshake.syn_ack) {
        (None, None) => "not seen",
        (_, None) if one.ending.reset.is_some() => "refused",
        (_, None) => "unanswered",
        _ if matches!(handshake.request, Request::Capable(_) | Request::Join(_)) && !handshake.is_agreed => {
            "without MPTCP"
        }
        _ if one.is_established => "established",
        _ => "incomplete",
    };
    let at_opener = one.place() == Place::Opener;
    SubflowReport {
        ends: one.ends.map(|end| end.to_string()),
        opener: Role::of(one.opener),
        handshake: state.to_owned(),
        start: case.at(one.started),
        end: case.at(one.last_seen),
        repeated_syns: handshake.repeated_syns,
        is_backup: one.is_backup(),
        address_ids: one.address_ids,
        handshake_rtt: handshake
            .syn
            .zip(handshake.syn_ack)
            .filter(|_| at_opener && handshake.repeated_syns == 0)
            .map(|((asked, _), (answered, _))| answered.saturating_sub(asked) as f64 / 1e6),
        reset: one.ending.reason.map(crate::track::reset_reason),
        reset_by: one.ending.reset.map(|(side, ..)| Role::of(side)),
        data: [0, 1].map(|side| subflow_data(case, number, one, side, rates)),
    }
}

fn subflow_data(
    case: &Case<'_>,
    number: usize,
    one: &Subflow,
    side: usize,
    rates: &MissingRates,
) -> SubflowData {
    let half = &one.halves[side];
    let totals = &half.totals;
    let steps = &one.steps[side];
    let per_second = 8.0 / steps.seconds() / 1e6;
    let milliseconds = |seconds: Option<f64>| seconds.map(|seconds| seconds * 1e3);
    let trips = &half.round_trips;
    let all: u64 = case.subflows().map(|(_, one)| one.halves[side].totals.new_bytes).sum();
    let sent = (totals.new_bytes + totals.retransmitted_bytes).div_ceil(half.segment_size());
    let missing = if side == case.side { rates.subflows.get(number) } else { None };
    SubflowData {
        bytes: totals.new_bytes,
        segments: totals.segments,
        share: totals.new_bytes as f64 / all.max(1) as f64,
        retransmissions: totals.retransmissions,
        lost: totals.lost,
        random_losses: random_losses(half),
        loss_rate: totals.lost as f64 / sent.max(1) as f64,
        timeouts: totals.timeouts,
        reordered: totals.reordered,
        uncaptured: totals.uncaptured,
        short_segments: totals.short_segments,
        base_rtt: milliseconds(trips.base),
        // Bins are 3% wide, so a quantile may lie below the least value.
        median_rtt: milliseconds(
            trips.distribution.quantile(0.5).map(|rtt| rtt.max(trips.base.unwrap_or(0.0))),
        ),
        p95_rtt: milliseconds(
            trips.distribution.quantile(0.95).map(|rtt| rtt.max(trips.base.unwrap_or(0.0))),
        ),
        capacity: half.capacity().map(|rate| rate * 8.0 / 1e6),
        is_capacity_measured: half.has_measured_capacity(),
        largest_flight: half.most_flight(),
        missing: missing.map_or_else(Vec::new, |of| {
            Limit::ALL
                .iter()
                .filter(|limit| of.seconds[**limit as usize] > 0.0)
                .map(|limit| Missing {
                    limit: limit.name().to_owned(),
                    seconds: of.seconds[*limit as usize],
                    rate: rates.rate(of.missing[*limit as usize]),
                })
                .collect()
        }),
        series: SubflowSeries {
            start: case.at(steps.start()),
            step: steps.seconds(),
            rate: steps.values().iter().map(|step| step.delivered as f64 * per_second).collect(),
            retransmitted: steps.values().iter().map(|step| step.again as f64 * per_second).collect(),
            lost: steps.values().iter().map(|step| step.lost).collect(),
            sent: steps.values().iter().map(|step| step.next).collect(),
            rtt: steps
                .values()
                .iter()
                .map(|step| {
                    (step.rtt_count > 0).then(|| f64::from(step.rtt_sum) / f64::from(step.rtt_count) * 1e3)
                })
                .collect(),
            flight: steps
                .values()
                .iter()
                .map(|step| (f64::from(step.flight) / steps.seconds()) as u64)
                .collect(),
        },
    }
}

fn announced(case: &Case<'_>) -> Vec<AnnouncedReport> {
    case.view
        .announced
        .iter()
        .map(|one| AnnouncedReport {
            by: Role::of(one.side),
            id: one.id,
            address: one.address.to_string(),
            time: case.at(one.time),
            packet: one.packet,
            is_echoed: one.echoed.is_some(),
            is_used: case
                .subflows()
                .any(|(_, subflow)| subflow.ends.iter().any(|end| end.ip() == one.address.ip())),
            is_removed: one.removed.is_some(),
        })
        .collect()
}
