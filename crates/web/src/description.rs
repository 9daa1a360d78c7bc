//! A scenario as the page shows it: `Description` in `web/src/engine/types.ts`.
//!
//! Owns the conversion to JSON. Every value comes from the resolved scenario.

use mptcp_lab::measurements::Metric;
use mptcp_lab::netsim::{Loss, QueueLimit};
use mptcp_lab::scenario::{Flow, Link, LinkDirection, LinkKind, Scenario};
use mptcp_lab::world::World;
use serde_json::{Value, json};

/// The description of a scenario and of its world.
#[must_use]
pub fn described(scenario: &Scenario, world: &World) -> Value {
    let mut nodes: Vec<(&str, &str)> = Vec::new();
    for end in scenario.links.iter().flat_map(|link| &link.ends) {
        if nodes.iter().any(|(known, _)| known == end) {
            continue;
        }
        let is_host = scenario.flows.iter().any(|flow| flow.from == *end || flow.to == *end);
        let is_access_point = scenario.cells.iter().any(|cell| cell.access_point == *end);
        let kind = if is_host {
            "host"
        } else if is_access_point {
            "access point"
        } else {
            "router"
        };
        nodes.push((end, kind));
    }
    let nodes: Vec<Value> =
        nodes.into_iter().map(|(name, kind)| json!({ "name": name, "kind": kind })).collect();
    let middleboxes: Vec<Value> = scenario
        .middleboxes
        .iter()
        .map(|one| json!({ "name": one.name, "kind": one.what.kind(), "link": one.link, "on": one.on }))
        .collect();
    let cells: Vec<Value> = scenario
        .cells
        .iter()
        .map(|cell| json!({ "name": cell.name, "accessPoint": cell.access_point }))
        .collect();
    let metrics: Vec<Value> = Metric::ALL
        .iter()
        .map(|metric| {
            let (name, unit) = metric.name_and_unit();
            json!({ "name": name, "unit": unit })
        })
        .collect();
    json!({
        "name": scenario.name,
        "description": scenario.description,
        "duration": scenario.duration.as_secs_f64(),
        "sample": scenario.sample.as_secs_f64(),
        "warmup": scenario.warmup.as_secs_f64(),
        "nodes": nodes,
        "links": scenario.links.iter().map(link).collect::<Vec<_>>(),
        "flows": scenario.flows.iter().map(flow).collect::<Vec<_>>(),
        "middleboxes": middleboxes,
        "cells": cells,
        "paths": world.path_names(),
        "hosts": world.host_names(),
        "metrics": metrics,
    })
}

fn link(link: &Link) -> Value {
    json!({
        "name": link.name,
        "kind": if link.kind == LinkKind::Station { "station" } else { "link" },
        "ends": link.ends,
        "cell": link.station.as_ref().map(|station| &station.cell),
        "recorded": link.is_recorded(),
        "distance": link.station.as_ref().map(|station| station.distance),
        "forward": direction(&link.forward),
        "backward": direction(&link.backward),
    })
}

fn direction(line: &LinkDirection) -> Value {
    let (frames, bytes) = match line.queue {
        QueueLimit::Packets(frames) => (Some(frames), None),
        QueueLimit::Bytes(bytes) => (None, Some(bytes)),
        QueueLimit::Time(time) => {
            (None, line.rate.map(|rate| (time.as_secs_f64() * rate as f64 / 8.0) as u64))
        }
        QueueLimit::Unlimited => (None, None),
    };
    json!({
        "rate": line.rate,
        "delay": line.delay.as_secs_f64(),
        "loss": Loss::mean(&line.loss).unwrap_or(0.0),
        "queueFrames": frames,
        "queueBytes": bytes,
        "discipline": line.discipline_table().and_then(|table| Some(table.get("kind")?.as_str()?.to_owned())),
    })
}

fn flow(flow: &Flow) -> Value {
    json!({
        "name": flow.name,
        "transport": flow.transport.name(),
        "from": flow.from,
        "to": flow.to,
        "sender": flow.sender(),
        "paths": flow.paths,
        "scheduler": flow.scheduler.kind(),
        "congestion": flow.congestion.kind(),
        "start": flow.start.as_secs_f64(),
        "stop": flow.stop.map(mptcp_lab::Duration::as_secs_f64),
    })
}
