//! Text summary of a run: rates, paths and limits. A custom build, a Rust program with its own middleboxes or
//! policies, prints it through `cli`, because such a program runs without the Python package.
//!
//! Owns the sentences. Never computes results.

use std::fmt::Write as _;

use crate::measurements::{FlowSummary, Measurements, PathSummary};
use crate::queues;
use crate::scenario::{Scenario, Traffic};

/// Maximum number of flows with their own lines.
const MOST: usize = 20;

/// The summary of a run as text.
#[must_use]
pub fn summary(scenario: &Scenario, seed: u64, measured: &Measurements) -> String {
    let mut text = format!("{}, seed {seed}\n", scenario.name);
    for line in registered(scenario) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {line}");
    }
    for flow in measured.flows.iter().take(MOST) {
        flow_lines(&mut text, flow);
    }
    if measured.flows.len() > MOST {
        let rest = &measured.flows[MOST..];
        // Each rate refers to the flow's own measured time, so the sum of rates could exceed the capacity.
        let bits = rest.iter().map(|flow| flow.bytes_received as f64 * 8.0).sum::<f64>();
        let total = if measured.measured > 0.0 { bits / measured.measured } else { 0.0 };
        let _ = writeln!(text, "  and {} more flows with {} in total", rest.len(), megabits(total));
    }
    text
}

/// The parts of a scenario that other crates registered, such as a middlebox. Each line has the type of the
/// part, its position, its name and its parameters.
#[must_use]
pub fn registered(scenario: &Scenario) -> Vec<String> {
    let mut lines = Vec::new();
    for link in &scenario.links {
        for (line, side) in [(&link.forward, "forward"), (&link.backward, "backward")] {
            if let Some(table) = line.custom_loss() {
                lines.push(format!("loss model of {} {side}: {}", link.name, inline(table)));
            }
            if let Some(table) = line.discipline_table().filter(|table| !queues::is_built_in(table)) {
                lines.push(format!("queue of {} {side}: {}", link.name, inline(table)));
            }
        }
    }
    for one in scenario.middleboxes.iter().filter(|one| !one.what.is_built_in()) {
        lines.push(format!("middlebox {} on {}: {}", one.name, one.link, inline(one.what.table())));
    }
    for flow in &scenario.flows {
        if let Traffic::Custom(chosen) = &flow.traffic {
            lines.push(format!("application of {}: {}", flow.name, inline(chosen.table())));
        }
    }
    for flow in &scenario.flows {
        let mut policy = |what: &str, built_in: bool, table: toml::Table| {
            if !built_in {
                lines.push(format!("{what} of {}: {}", flow.name, inline(table)));
            }
        };
        policy("congestion", flow.congestion.is_built_in(), flow.congestion.table());
        policy("scheduler", flow.scheduler.is_built_in(), flow.scheduler.table());
        policy("path manager", flow.path_manager.is_built_in(), flow.path_manager.table());
    }
    lines
}

/// The name of a registered type, and its parameters, on one line.
fn inline(table: toml::Table) -> String {
    let name = table.get("kind").and_then(toml::Value::as_str).unwrap_or_default().to_owned();
    let values = table.iter().filter(|(key, _)| *key != "kind");
    let values: Vec<String> = values.map(|(key, value)| format!("{key} = {value}")).collect();
    if values.is_empty() { name } else { format!("{name} ({})", values.join(", ")) }
}

fn flow_lines(text: &mut String, flow: &FlowSummary) {
    let kind = match (flow.multipath, &flow.fallback) {
        (true, _) => "MPTCP",
        (false, Some(_)) => "fell back to TCP",
        (false, None) => "TCP",
    };
    let _ = write!(text, "  {} ({kind}): goodput {}", flow.flow, megabits(flow.goodput));
    if let Some(completion) = flow.completion {
        let _ = write!(text, ", complete after {completion:.3} s");
    }
    text.push_str(if flow.intact { "\n" } else { ", DATA DAMAGED\n" });
    if let Some(fallback) = &flow.fallback {
        let (at, path, reason) = (fallback.at, &fallback.path, fallback.reason);
        let _ = writeln!(text, "    fell back to TCP at {at:.2} s on path {path}: {reason}");
    }
    let whole = flow.paths.iter().map(|path| path.bytes_arrived).sum::<u64>().max(1);
    for path in &flow.paths {
        path_line(text, path, flow.measured, whole);
    }
    if !flow.blocks.is_empty() {
        let mean = flow.blocks.iter().map(|block| block.latency.as_secs_f64()).sum::<f64>();
        let (count, mean) = (flow.blocks.len(), mean / flow.blocks.len() as f64 * 1e3);
        let _ = writeln!(text, "    {count} blocks, read {mean:.1} ms after they were ready on average");
    }
    let mut limits: Vec<_> = flow.limits.iter().filter(|(_, share)| *share >= 0.01).collect();
    limits.sort_by(|a, b| b.1.total_cmp(&a.1));
    let limits: Vec<String> = limits
        .iter()
        .map(|(name, share)| format!("{} {:.0}%", name.replace('_', " "), share * 100.0))
        .collect();
    if !limits.is_empty() {
        let _ = writeln!(text, "    limited by {}", limits.join(", "));
    }
}

fn path_line(text: &mut String, path: &PathSummary, measured: f64, whole: u64) {
    let rate = if measured > 0.0 { path.bytes_arrived as f64 * 8.0 / measured } else { 0.0 };
    let share = path.bytes_arrived as f64 / whole as f64 * 100.0;
    let trip =
        if path.mean_srtt.is_nan() { "-".to_owned() } else { format!("{:.0} ms", path.mean_srtt * 1e3) };
    let _ = writeln!(
        text,
        "    {:<12} {:>12} {share:3.0}%  round trip {trip}, {} retransmissions, {} timeouts",
        path.path,
        megabits(rate),
        path.retransmits,
        path.timeouts
    );
    let mut limits: Vec<_> = path.limits.iter().filter(|(_, share)| *share >= 0.05).collect();
    limits.sort_by(|a, b| b.1.total_cmp(&a.1));
    let limits: Vec<String> =
        limits.iter().map(|(name, share)| format!("{} {:.0}%", words(name), share * 100.0)).collect();
    if !limits.is_empty() {
        let _ = writeln!(text, "    {:<12} limited by {}", "", limits.join(", "));
    }
    if path.blamed >= 0.05 {
        let share = path.blamed * 100.0;
        let _ = writeln!(
            text,
            "    {:<12} the other paths waited {share:.0}% of the time for older data on this path",
            ""
        );
    }
}

/// The name of a limit in prose.
fn words(name: &str) -> &str {
    match name {
        "bottleneck" => "path capacity",
        "cross_traffic" => "cross traffic",
        "lower_rate" => "a lower link rate",
        "down" => "a link that was down",
        "loss" => "random loss",
        "queue_overflow" => "queue overflow",
        "policer" => "a policer",
        "path_mtu" => "packets larger than the path MTU",
        "middlebox" => "a middlebox",
        "ack_loss" => "random loss of acknowledgements",
        "delay_change" => "a change of delay",
        "spurious" => "spurious losses",
        "window" => "congestion window growth",
        "head_of_line" => "head-of-line blocking",
        "receive_window" => "receive window",
        "send_buffer" => "send buffer",
        "both_buffers" => "send buffer and receive window",
        "ack_queue" => "queue of acknowledgements",
        "penalty" => "penalised window (M2)",
        "local_queue" => "queue of this host",
        "joining" => "handshake",
        "closed" => "no subflow",
        other => other,
    }
}

fn megabits(rate: f64) -> String {
    format!("{:.2} Mb/s", rate / 1e6)
}
