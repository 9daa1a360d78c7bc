//! Effects of duplication and batching on the estimated size of a run.
//!
//! Owns two upper bounds that `estimate` uses: the number of copies of a frame, and the number of frames that
//! a link delivers together.

use mptcp_clock::Duration;
use netsim::Rate;

use super::model::{Link, LinkDirection, Scenario};
use super::reach::Reach;

/// Maximum number of copies of a frame on a link.
pub(super) fn doubled(link: &Link) -> f64 {
    1.0 + link.forward.duplicate.max(link.backward.duplicate)
}

/// Maximum number of copies of a frame on a path, where copies are duplicated again. The path length is the
/// largest minimum hop count, plus one for addresses of a single link, or the length of an explicit route.
pub(super) fn copies(scenario: &Scenario, reach: &Reach<'_>) -> f64 {
    let mut each: Vec<f64> = scenario.links.iter().map(doubled).filter(|&each| each > 1.0).collect();
    if each.is_empty() {
        return 1.0;
    }
    each.sort_by(|a, b| b.total_cmp(a));
    let mut most = scenario.routes.iter().map(|route| route.links.len()).max().unwrap_or(0);
    for link in &scenario.links {
        for end in link.ends.iter().filter(|end| scenario.flows.iter().any(|flow| flow.from == **end)) {
            let hops = reach.spans(link, end, |_| u64::MAX, |_| 1);
            let furthest = hops.values().map(|&(_, hops)| hops).max().unwrap_or(0);
            most = most.max(furthest as usize + 1);
        }
    }
    each.into_iter().take(most).product()
}

/// Minimum mean delay of a frame in a batch.
pub(super) fn wait(line: &LinkDirection) -> Duration {
    match line.batch {
        Some(batch) if batch.frames.is_none() => batch.time / 2,
        _ => Duration::ZERO,
    }
}

/// Maximum number of frames of `bytes` bytes that a direction delivers together; `offered` is in frames/s.
pub(super) fn together(line: &LinkDirection, bytes: f64, offered: f64) -> f64 {
    let Some(batch) = line.batch else { return 0.0 };
    let carried =
        line.rate.and_then(Rate::new).map_or(f64::INFINITY, |rate| rate.bytes_in(batch.time) as f64 / bytes);
    let most = batch.frames.map_or(f64::INFINITY, f64::from);
    carried.min(most).min(offered * batch.time.as_secs_f64() + 1.0)
}
