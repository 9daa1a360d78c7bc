//! Finds out why a subflow was silent: a dead path, random losses of retransmissions, or a scheduler that does not use it.

use super::random::burstiness;
use crate::track::{Limit, Subflow, View};

/// Shortest retransmission timeout, ns. RFC 6298 asks for a second, but Linux and others wait for 200 ms.
const SHORTEST_TIMEOUT: u64 = 200_000_000;
/// Chance that random losses make a path silent, below which the path is dead.
const CHANCE: f64 = 0.05;

/// The limit of a subflow during its silence.
pub(super) fn cause(view: &View, subflow: &Subflow, number: usize, side: usize) -> Limit {
    let direction = &view.directions[side];
    if subflow.distance(side) > subflow.distance(1 - side) {
        // Data lost by a dead path arrives over another one, but only after a timeout.
        return if direction.stall < SHORTEST_TIMEOUT { Limit::Unused } else { Limit::Dead };
    }
    let half = &subflow.halves[side];
    let log = half.transmissions.all();
    let silent: Vec<(u64, u64)> = direction
        .episodes()
        .filter(|one| one.limit == Limit::Dead && usize::from(one.subflow) == number)
        .map(|one| (one.start, one.end))
        .collect();
    // Data in flight when a path dies is lost too.
    let flight = (half.round_trips.smoothed.unwrap_or(0.0) * 2e9) as u64;
    let is_silent =
        |time: u64| silent.iter().any(|(start, end)| time.saturating_add(flight) >= *start && time <= *end);
    let in_silence = |time: u64| silent.iter().any(|(start, end)| time > *start && time < *end);
    let by_timer = log.windows(2).filter(|pair| {
        in_silence(pair[1].time) && pair[1].time.saturating_sub(pair[0].time) >= SHORTEST_TIMEOUT
    });
    let timeouts = by_timer.count().div_ceil(silent.len().max(1));
    let chance = burstiness(half, |time| !is_silent(time)).powi(timeouts as i32);
    if !half.transmissions.is_full() && chance > CHANCE { Limit::Loss } else { Limit::Dead }
}
