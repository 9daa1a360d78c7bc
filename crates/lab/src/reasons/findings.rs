//! The limiting factors of a flow in order, and its sentences.

use super::facts::{AbsentFacts, FlowFacts, PathFacts};
use super::finding::Finding;
use super::queues::{bloated, has_late_acknowledgements, long_queues, waited};
use super::{FULL, LEAST, NEVER_JOINED, OF_PATHS, buffers};

/// Number of causes in the sentences of a flow.
const MOST: usize = 4;

/// Whether a flow filled its links, and all its paths joined.
#[must_use]
pub fn is_healthy(flow: &FlowFacts) -> bool {
    flow.never_joined.is_empty() && flow.capacity().is_some_and(|most| flow.rate_of_life() >= FULL * most)
}

/// The used share of the links' capacity, as a clause.
#[must_use]
pub fn reached(flow: &FlowFacts) -> String {
    // Data that arrived out of order during the warm-up can count after it.
    let share = (flow.rate_of_life() / flow.capacity().unwrap_or(1.0)).min(1.0);
    format!("it used {:.0}% of the capacity of its links", share * 100.0)
}

/// Limiting factors, the largest first; empty for a flow that filled its links and kept queues short, and for a run
/// without an observer.
#[must_use]
pub fn findings(flow: &FlowFacts) -> Vec<Finding> {
    if flow.observed().next().is_none() {
        return Vec::new();
    }
    let mut queued: Vec<Finding> = long_queues(flow.observed()).into_iter().map(bloated).collect();
    let late = flow.observed().filter(|path| has_late_acknowledgements(path));
    queued.extend(late.map(|path| Finding {
        detail: waited(path),
        ..Finding::new("ack_queue", Some(&path.path), 0.0, 0.0)
    }));
    if is_healthy(flow) {
        return queued;
    }
    let rates = flow.rates();
    let rate = |name: &str| rates.iter().find(|(known, _)| *known == name).map_or(0.0, |(_, rate)| *rate);
    let whole =
        Some(rates.iter().map(|(_, rate)| rate).sum::<f64>()).filter(|sum| *sum != 0.0).unwrap_or(1.0);
    let mut found: Vec<Finding> = flow.observed().flat_map(|path| of_path(path, rate(&path.path))).collect();
    found.extend(flow.never_joined.iter().map(|path| absent(path, rate(&path.path))));
    found.extend(buffers::of_buffers(flow, &rates));
    let idle: f64 = flow.observed().map(|path| path.limit("application") * rate(&path.path)).sum();
    found.push(Finding::new("application", None, idle / whole, idle));
    found.push(copies(flow, whole, idle));
    // For a path whose link has no rate, only the share is known.
    found.retain(|one| (if one.cost == 0.0 { one.share } else { one.cost / whole }) >= LEAST);
    if found.iter().any(|one| one.cause == "application") {
        // An unused path costs nothing if there is too little data.
        found.retain(|one| !matches!(one.cause.as_str(), "scheduler" | "window" | "closed"));
    }
    let mut found = once(found);
    // No path joins before data has arrived over the first one, so its path MTU comes first.
    found.sort_by_key(|one| one.cause != "path_mtu" || one.share < NEVER_JOINED);
    let is_named =
        |one: &Finding| found.iter().any(|known| known.cause == one.cause && known.path == one.path);
    let further: Vec<Finding> = queued.into_iter().filter(|one| !is_named(one)).collect();
    found.extend(further);
    found
}

/// Limiting factors as clauses; empty if the run was not observed.
#[must_use]
pub fn sentences(flow: &FlowFacts) -> Vec<String> {
    if flow.observed().next().is_none() {
        return Vec::new();
    }
    let found = findings(flow);
    if !found.is_empty() {
        return found.iter().take(MOST).map(Finding::to_string).collect();
    }
    let text = if is_healthy(flow) {
        reached(flow)
    } else {
        "no single cause took more than 3% of capacity".to_owned()
    };
    vec![text]
}

/// The finding for data that was sent twice.
fn copies(flow: &FlowFacts, whole: f64, idle: f64) -> Finding {
    let duplicates = flow.duplicates.unwrap_or(0);
    let twice = if flow.measured == 0.0 { 0.0 } else { duplicates as f64 * 8.0 / flow.measured };
    if 2 * flow.opportunistic > duplicates {
        // Copies in otherwise unused capacity cost nothing.
        let twice = (twice - idle).max(0.0);
        let detail = format!("{:.2} Mb/s", twice / 1e6);
        return Finding { detail, ..Finding::new("copies", None, twice / whole, twice) };
    }
    let detail = format!("{:.2} Mb/s of copies", twice / 1e6);
    Finding { detail, ..Finding::new("scheduler", None, twice / whole, twice) }
}

/// Merges the cross traffic of a link that several paths share into one finding. The largest cost comes first.
fn once(mut found: Vec<Finding>) -> Vec<Finding> {
    largest_first(&mut found);
    let mut merged: Vec<Finding> = Vec::new();
    for finding in found {
        match merged.iter_mut().find(|known| known.key() == finding.key()) {
            Some(known) => known.cost += finding.cost,
            None => merged.push(finding),
        }
    }
    largest_first(&mut merged);
    merged
}

fn largest_first(found: &mut [Finding]) {
    found.sort_by(|a, b| b.cost.total_cmp(&a.cost).then(b.share.total_cmp(&a.share)));
}

/// The finding for a path without a subflow.
fn absent(path: &AbsentFacts, rate: f64) -> Finding {
    if path.down >= NEVER_JOINED {
        return Finding::new("down", Some(&path.path), 1.0, rate);
    }
    let boxes = path.middleboxes.join(" or ");
    let place = Some(boxes).filter(|boxes| !boxes.is_empty());
    Finding { place, ..Finding::new("never_joined", Some(&path.path), 1.0, rate) }
}

fn of_path(path: &PathFacts, rate: f64) -> Vec<Finding> {
    let absent: f64 = ["joining", "closed", "down"].iter().map(|cause| path.limit(cause)).sum();
    if absent >= NEVER_JOINED && path.bytes_acked == 0 {
        let cause = if path.limit("down") >= NEVER_JOINED { "down" } else { "never_joined" };
        return vec![Finding::new(cause, Some(&path.path), 1.0, rate)];
    }
    let one = |cause: &&str| {
        let share = path.limit(cause);
        Finding {
            detail: if *cause == "ack_queue" { waited(path) } else { String::new() },
            place: path.place(cause),
            is_backup: path.is_backup,
            ..Finding::new(cause, Some(&path.path), share, share * rate)
        }
    };
    OF_PATHS.iter().map(one).collect()
}
