//! A scenario as the page in a browser shows it: JSON of `Description` in `web/src/engine/types.ts`.
//!
//! The simulator in the browser and the server of live connections both send it. Owns the conversion; every value comes
//! from the resolved scenario.

use netsim::{Loss, QueueLimit};
use serde_json::{Value, json};

use crate::measurements::Metric;
use crate::scenario::{Flow, Link, LinkDirection, LinkKind, Scenario};

/// The description of a scenario.
#[must_use]
pub fn described(scenario: &Scenario) -> Value {
    let lone = scenario.cells.iter().map(|cell| &cell.access_point);
    let mut names: Vec<&String> = Vec::new();
    for name in scenario.links.iter().flat_map(|link| &link.ends).chain(lone) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let is_host = |name: &String| scenario.flows.iter().any(|flow| flow.from == *name || flow.to == *name);
    let kind = |name: &String| match scenario.cells.iter().any(|cell| cell.access_point == *name) {
        _ if is_host(name) => "host",
        true => "access point",
        false => "router",
    };
    let nodes: Vec<Value> = names.iter().map(|name| json!({ "name": name, "kind": kind(name) })).collect();
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
        "paths": scenario.path_names(),
        "hosts": scenario.node_names(),
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
        "m1": flow.mechanisms.opportunistic_retransmission,
        "m2": flow.mechanisms.penalisation,
        "start": flow.start.as_secs_f64(),
        "stop": flow.stop.map(mptcp_clock::Duration::as_secs_f64),
    })
}
