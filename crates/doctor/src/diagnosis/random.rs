//! Random losses: those of packets that found an empty queue.

use crate::track::{Half, LossEpisode};

/// A loss is random if the queue holds less than this share of its usual maximum just before.
const EMPTY: f64 = 0.5;
/// Queues shorter than this, s, look like jitter.
const SHORTEST_QUEUE: f64 = 0.003;

/// The queueing delay that 90% of the data does not exceed, s.
pub(super) fn usual_queue(half: &Half) -> f64 {
    let top = half.round_trips.distribution.quantile(0.9);
    top.zip(half.round_trips.base).map_or(0.0, |(top, base)| top - base)
}

/// Whether the queue was far from full just before a loss.
pub(super) fn is_random(episode: &LossEpisode, usual: f64, base: f64) -> bool {
    is_empty(episode.queueing, usual, base)
}

fn is_empty(queueing: f64, usual: f64, base: f64) -> bool {
    queueing < (EMPTY * usual).max(SHORTEST_QUEUE).max(0.1 * base)
}

/// Share of random losses after which the next transmission is lost too; 0 without random losses. `is_counted` selects
/// transmissions by their time, ns.
pub(super) fn burstiness(half: &Half, is_counted: impl Fn(u64) -> bool) -> f64 {
    let (usual, base) = (usual_queue(half), half.round_trips.base.unwrap_or(0.0));
    let mut queueing = 0.0;
    let (mut lost, mut again) = (0_u32, 0_u32);
    for pair in half.transmissions.all().windows(2) {
        if !pair[0].queueing.is_nan() {
            queueing = f64::from(pair[0].queueing);
        }
        if pair[0].is_lost && is_counted(pair[0].time) && is_empty(queueing, usual, base) {
            lost += 1;
            again += u32::from(pair[1].is_lost);
        }
    }
    f64::from(again) / f64::from(lost.max(1))
}

/// Segments that were lost while the queue was not full.
pub(crate) fn random_losses(half: &Half) -> u64 {
    let (usual, base) = (usual_queue(half), half.round_trips.base.unwrap_or(0.0));
    half.losses.iter().filter(|episode| is_random(episode, usual, base)).map(|episode| episode.segments).sum()
}
