//! Standing queues: paths on which data or acknowledgements wait long.

use super::facts::PathFacts;
use super::finding::Finding;

/// Standing queues shorter than this, s, are not bufferbloat: a call still works (ITU-T G.114 allows 150 ms one way).
const BLOATED: f64 = 0.1;
/// Standing queues shorter than this multiple of the base RTT are not bufferbloat either; the larger bound counts.
const BLOATED_TIMES: f64 = 4.0;

/// The mean time that data waited in the queues of a path, s. If it was not measured: the mean RTT minus the base RTT,
/// serialisation and the wait of acknowledgements.
#[must_use]
pub fn queueing_delay(path: &PathFacts) -> f64 {
    if let Some(known) = path.queue_wait {
        return known;
    }
    // A frame in transmission is in no queue.
    let back = path.ack_wait.unwrap_or(0.0);
    let delay = path.base_rtt.map_or(0.0, |base| path.mean_srtt - base - path.frame_time() - back);
    if delay.is_nan() {
        return 0.0;
    }
    // Loss recovery lengthens the RTT too, and the mean repeats the last value while nothing arrives.
    delay.min(path.longest_wait.unwrap_or(delay)).max(0.0)
}

fn is_long(wait: f64, path: &PathFacts) -> bool {
    wait > BLOATED.max(BLOATED_TIMES * path.base_rtt.unwrap_or(0.0))
}

/// Whether data waited long in the queues of a path.
#[must_use]
pub fn is_bloated(path: &PathFacts) -> bool {
    is_long(queueing_delay(path), path)
}

/// Whether acknowledgements of a path waited long in a queue.
pub(super) fn has_late_acknowledgements(path: &PathFacts) -> bool {
    is_long(path.ack_wait.unwrap_or(0.0), path)
}

/// Paths with long waits in a queue, the longest first; one path per queue.
#[must_use]
pub fn long_queues<'a>(paths: impl Iterator<Item = &'a PathFacts>) -> Vec<&'a PathFacts> {
    let mut found: Vec<&PathFacts> = paths.filter(|path| is_bloated(path)).collect();
    found.sort_by(|a, b| queueing_delay(b).total_cmp(&queueing_delay(a)));
    let mut queues: Vec<&str> = Vec::new();
    found.retain(|path| {
        let queue = path.queue_at.as_deref().filter(|queue| !queue.is_empty()).unwrap_or(&path.path);
        let is_first = !queues.contains(&queue);
        queues.push(queue);
        is_first
    });
    found
}

/// The finding for a path with a long wait in a queue.
pub(super) fn bloated(path: &PathFacts) -> Finding {
    let detail = format!("queueing delay {:.0} ms on average", queueing_delay(path) * 1e3);
    // The name of a direction is that of its link and its side.
    let queue = path.queue_at.as_deref().unwrap_or(&path.path);
    let at = queue.rsplit_once(' ').map_or(path.path.as_str(), |(link, _)| link);
    let place = (at != path.path).then(|| at.to_owned());
    Finding { detail, place, ..Finding::new("bufferbloat", Some(&path.path), 0.0, 0.0) }
}

/// The queue in which acknowledgements of a path waited, and the mean wait.
pub(super) fn waited(path: &PathFacts) -> String {
    let queue = path.ack_queue.as_deref().filter(|queue| !queue.is_empty()).unwrap_or(&path.path);
    format!("{queue} for {:.0} ms on average", path.ack_wait.unwrap_or(0.0) * 1e3)
}
