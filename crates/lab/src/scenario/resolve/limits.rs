//! Refuses a scenario that exceeds its `[limits]` before it runs, because the run would exhaust memory or
//! take too long.
//!
//! Owns the choice of the key that the error names as the cause. `estimate` computes the size of the run.

use mptcp::observe::Row;

use super::context::Context;
use crate::scenario::error::ScenarioError;
use crate::scenario::file::{LimitsTable, ScenarioFile};
use crate::scenario::model::{Estimate, Flow, Limits, Scenario, Traffic};
use crate::scenario::names::Transport;
use crate::scenario::units::Size;

pub(super) fn resolve(context: &Context<'_>, file: &ScenarioFile) -> Result<Limits, ScenarioError> {
    let none = LimitsTable::default();
    let table = file.limits.as_ref().unwrap_or(&none);
    let usual = Limits::default();
    let limits = Limits {
        links: table.links.unwrap_or(usual.links),
        flows: table.flows.unwrap_or(usual.flows),
        stations: table.stations.unwrap_or(usual.stations),
        samples: table.samples.unwrap_or(usual.samples),
        blocks: table.blocks.unwrap_or(usual.blocks),
        events: table.events.unwrap_or(usual.events),
        trace: table.trace.unwrap_or(usual.trace),
        runs: table.runs.unwrap_or(usual.runs),
        memory: table.memory.map_or(usual.memory, |Size(bytes)| bytes),
    };
    for (key, value, most) in [
        // A row of samples stores the numbers of path and flow in 16 bits each.
        ("links", limits.links, 60_000),
        ("flows", limits.flows, Limits::MAX_FLOWS),
    ] {
        if value > most {
            return Err(context.error(&["limits", key], format!("must be at most {most}")));
        }
    }
    let rows = limits.trace as f64 * Row::BYTES as f64;
    if table.trace.is_some() && rows > limits.memory as f64 {
        let most = limits.memory / Row::BYTES;
        let problem = format!(
            "the rows of events would take {} of memory, but limits.memory is {} (at most {most}, or raise limits.memory)",
            bytes(rows),
            bytes(limits.memory as f64)
        );
        return Err(context.error(&["limits", "trace"], problem));
    }
    Ok(limits)
}

/// Refuses too many paths, links, stations, cells, middleboxes or background stations.
pub(super) fn count(
    context: &Context<'_>,
    file: &ScenarioFile,
    limits: &Limits,
) -> Result<(), ScenarioError> {
    let counts = [
        ("paths", file.paths.as_ref().map_or(0, indexmap::IndexMap::len)),
        ("links", file.links.as_ref().map_or(0, indexmap::IndexMap::len)),
        ("stations", file.stations.as_ref().map_or(0, indexmap::IndexMap::len)),
        ("cells", file.cells.as_ref().map_or(0, indexmap::IndexMap::len)),
        ("middleboxes", file.middleboxes.as_ref().map_or(0, indexmap::IndexMap::len)),
    ];
    let links: usize = counts[..3].iter().map(|(_, count)| count).sum();
    let key = counts.iter().rev().find(|(_, count)| *count > 0).map_or("paths", |(key, _)| key);
    let most = counts[3..].iter().map(|(_, count)| *count).fold(links, usize::max);
    if most as u64 > limits.links {
        let problem = format!("there are {}", above("links", most as f64, limits.links));
        return Err(context.error(&[key], problem));
    }
    let neighbours =
        file.background.iter().flatten().map(|(_, table)| u64::from(table.stations.unwrap_or(1)));
    let neighbours = neighbours.fold(0, u64::saturating_add);
    if neighbours > limits.stations {
        let problem = format!("there would be {}", above("stations", neighbours as f64, limits.stations));
        return Err(context.error(&["background"], problem));
    }
    Ok(())
}

/// Refuses a scenario whose estimate exceeds a limit. The error names the key that contributes most.
pub(super) fn check(context: &Context<'_>, scenario: &Scenario) -> Result<(), ScenarioError> {
    let limits = &scenario.limits;
    let Estimate { samples, blocks, events, memory, busiest, .. } = scenario.estimate();
    let often = if context.tree.get(&["sample"]).is_some() { "sample" } else { "duration" };
    if samples > limits.samples as f64 {
        let problem = format!("would give {}", above("samples", samples, limits.samples));
        return Err(context.error(&[often], problem));
    }
    let heaviest = |weight: fn(&Flow) -> f64| {
        let by_weight = |a: &&Flow, b: &&Flow| weight(a).total_cmp(&weight(b));
        scenario.flows.iter().max_by(by_weight).map(|flow| original(context, &flow.name))
    };
    if blocks > limits.blocks as f64 {
        let small = heaviest(|flow| match flow.traffic {
            Traffic::Blocks { bytes, .. } => 1.0 / bytes as f64,
            _ => 0.0,
        });
        let problem = format!("would time {}", above("blocks", blocks, limits.blocks));
        return Err(context.error(&["flows", &small.unwrap_or_default(), "blocks"], problem));
    }
    if events > limits.events as f64 {
        let problem = format!("would make {}", above("events", events, limits.events));
        let Some(busy) = busiest else { return Err(context.error(&["background"], problem)) };
        let flow = &scenario.flows[busy];
        let name = original(context, &flow.name);
        let key = if flow.transport == Transport::Udp { "rate" } else { "blocks" };
        let path = ["flows", &name, key];
        let path = if context.tree.get(&path).is_some() { &path[..] } else { &["duration"] };
        return Err(context.error(path, problem));
    }
    if memory > limits.memory as f64 {
        let problem = format!(
            "would take {} of memory, but limits.memory is {} (reduce buffers, flows or duration, or raise limits.memory)",
            bytes(memory),
            bytes(limits.memory as f64)
        );
        let large = heaviest(|flow| flow.tcp.sndbuf.max(flow.tcp.rcvbuf) as f64).unwrap_or_default();
        for key in ["sndbuf", "rcvbuf"] {
            if context.tree.get(&["flows", &large, key]).is_some() {
                return Err(context.error(&["flows", &large, key], problem));
            }
        }
        return Err(context.error(&["flows"], problem));
    }
    Ok(())
}

/// The name of a flow in the file, without the number of a copy.
fn original(context: &Context<'_>, name: &str) -> String {
    let whole = name.rsplit_once('-').map_or(name, |(base, _)| base);
    let written = |name: &str| context.tree.get(&["flows", name]).is_some();
    if written(name) { name.to_owned() } else { whole.to_owned() }
}

/// The part of a message that has the count, the limit and the fix.
pub(in crate::scenario) fn above(what: &str, count: f64, limit: u64) -> String {
    let noun = if what == "samples" { "rows of samples" } else { what };
    format!("{} {noun}, but limits.{what} is {limit} (use fewer, or raise limits.{what})", round(count))
}

/// A count in short form, exact if it is small.
fn round(count: f64) -> String {
    if count.is_infinite() {
        return "infinitely many".to_owned();
    }
    if count < 1e12 { format!("{count:.0}") } else { format!("{count:.1e}") }
}

/// An amount of memory in short form.
fn bytes(count: f64) -> String {
    if count < 1e18 { format!("{:.1} GB", count / 1e9) } else { format!("{count:.1e} B") }
}
