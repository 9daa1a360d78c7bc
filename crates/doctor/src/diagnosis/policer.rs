//! Finds a policer: a token bucket that drops what exceeds its rate, and queues nothing.
//!
//! After Flach et al., "An Internet-Wide Analysis of Traffic Policing" (SIGCOMM 2016): if a bucket fills at the rate
//! between the first and the last loss, it is empty at each loss and has tokens otherwise. A small bucket shows itself in
//! another way: it drops each burst of the same size, long before the data in flight fills the path.

use super::evidence::Case;
use crate::track::Half;

/// A policer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Policer {
    /// Its rate, bytes/s.
    pub(super) rate: f64,
}

/// Loss episodes that a judgement needs.
const LEAST: usize = 6;
/// Bursts that a judgement needs.
const LEAST_BURSTS: usize = 9;
/// Standard deviation of the tokens at losses, as a share of the most tokens at other times.
const EMPTY: f64 = 0.28;
/// Least burst that passes, in segments: a full link has no tokens to spare.
const BURST: f64 = 5.0;
/// Standard deviation of the data in flight at losses, as a share of its mean. Random losses come at any amount.
const SAME: f64 = 0.2;
/// Rate of a policer as a share of that of the link, at most.
const BELOW: f64 = 0.85;

/// A policer on the path of a subflow.
pub(super) fn find(case: &Case<'_>, number: usize) -> Option<Policer> {
    let subflow = case.subflow(number);
    let half: &Half = &subflow.halves[case.side];
    let losses = &half.losses;
    if losses.len() < LEAST {
        return None;
    }
    // The first loss ends slow start, which may have used a full bucket of another size.
    let points: Vec<(f64, f64)> = losses
        .iter()
        .skip(1)
        .filter(|loss| !loss.by_timer)
        .map(|loss| (case.at(loss.time), loss.position as f64))
        .collect();
    if points.len() < LEAST {
        return None;
    }
    let rate = slope(&points)?;
    let tokens = |time: f64, bytes: f64| rate * (time - points[0].0) - (bytes - points[0].1);
    let at_losses: Vec<f64> = points.iter().map(|(time, bytes)| tokens(*time, *bytes)).collect();
    let mean = at_losses.iter().sum::<f64>() / at_losses.len() as f64;
    let spread =
        (at_losses.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / at_losses.len() as f64).sqrt();
    // Tokens between the losses, from the time steps of the subflow.
    let series = &subflow.steps[case.side];
    let (first, last) = (points[0].0, points.last()?.0);
    let (mut sent, mut most) = (0.0, f64::MIN);
    for (index, step) in series.values().iter().enumerate() {
        sent += step.delivered as f64;
        let end = case.at(series.start() + (index as u64 + 1) * series.step());
        if end > first && end < last {
            most = most.max(tokens(end, sent) - mean);
        }
    }
    let is_queued = is_queued(half);
    let has_burst = most > BURST * half.segment_size() as f64;
    let is_below = half.capacity().is_some_and(|capacity| rate < BELOW * capacity);
    let is_empty = has_burst && spread < EMPTY * most;
    ((is_empty || drops_bursts(half)) && is_below && !is_queued).then_some(Policer { rate })
}

/// Whether a queue grows under load.
fn is_queued(half: &Half) -> bool {
    let base = half.round_trips.base.unwrap_or(0.0);
    let grew = half.round_trips.distribution.quantile(0.5).unwrap_or(base) - base;
    grew > 0.5 * base && grew > 0.01
}

/// Whether losses come at the same data in flight, which is far below what the path holds.
fn drops_bursts(half: &Half) -> bool {
    // The first two end slow start.
    let flights: Vec<f64> = half.losses.iter().skip(2).map(|loss| loss.flight as f64).collect();
    if flights.len() < LEAST_BURSTS {
        return false;
    }
    let count = flights.len() as f64;
    let mean = flights.iter().sum::<f64>() / count;
    let deviation = (flights.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / count).sqrt();
    let holds = half.capacity().unwrap_or(0.0) * half.round_trips.base.unwrap_or(0.0);
    deviation < SAME * mean && mean < BELOW * holds
}

/// Slope of the line through points, by least squares.
fn slope(points: &[(f64, f64)]) -> Option<f64> {
    let count = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |(x, y), point| (x + point.0, y + point.1));
    let (x, y) = (x / count, y / count);
    let (above, below) = points.iter().fold((0.0, 0.0), |(above, below), point| {
        (above + (point.0 - x) * (point.1 - y), below + (point.0 - x).powi(2))
    });
    (below > 0.0).then(|| above / below).filter(|rate| *rate > 0.0)
}
