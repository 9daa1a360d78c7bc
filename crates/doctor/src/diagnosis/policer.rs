//! Finds a policer: a token bucket that drops what exceeds its rate, and queues nothing.
//!
//! The rule follows Flach et al., "An Internet-Wide Analysis of Traffic Policing" (SIGCOMM 2016). If a bucket fills at the rate
//! between the first and the last loss, it is empty at each loss and has tokens otherwise. A small bucket shows itself in
//! another way: it drops each burst of the same size, long before the data in flight fills the path.

use super::evidence::Case;
use crate::track::{Half, Subflow};

/// A policer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Policer {
    /// Its rate, bytes/s.
    pub(super) rate: f64,
}

/// Loss episodes that a judgement needs.
const LEAST: usize = 5;
/// Segments that slow start loses at once to a policer, at least; random losses come in smaller groups.
const OVERSHOOT: u64 = 30;
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
    if is_queued(half) {
        return None;
    }
    // The first loss ends slow start, which may have used a full bucket.
    let points: Vec<Point> = half
        .losses
        .iter()
        .skip(1)
        .filter(|loss| !loss.by_timer)
        .map(|loss| Point { time: case.at(loss.time), bytes: loss.position as f64 })
        .collect();
    let rate = match slope(&points).filter(|_| points.len() >= LEAST) {
        Some(rate) if is_empty_at_losses(case, subflow, &points, rate) || drops_bursts(half) => rate,
        _ => rate_after_overshoot(case, half)?,
    };
    half.capacity().is_some_and(|capacity| rate < BELOW * capacity).then_some(Policer { rate })
}

/// Bytes delivered when a loss was found.
#[derive(Clone, Copy, Debug)]
struct Point {
    /// Time, s.
    time: f64,
    bytes: f64,
}

/// Whether a bucket that fills at a rate is empty at all losses, and not at other times.
fn is_empty_at_losses(case: &Case<'_>, subflow: &Subflow, points: &[Point], rate: f64) -> bool {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return false };
    let tokens = |time: f64, bytes: f64| rate * (time - first.time) - (bytes - first.bytes);
    let at_losses: Vec<f64> = points.iter().map(|point| tokens(point.time, point.bytes)).collect();
    let (mean, spread) = mean_and_deviation(&at_losses);
    // Tokens between the losses, from the time steps of the subflow.
    let series = &subflow.steps[case.side];
    let (mut delivered, mut most) = (0.0, f64::MIN);
    for (index, step) in series.values().iter().enumerate() {
        delivered += step.delivered as f64;
        let end = case.at(series.start() + (index as u64 + 1) * series.step());
        if end > first.time && end < last.time {
            most = most.max(tokens(end, delivered) - mean);
        }
    }
    let burst = BURST * subflow.halves[case.side].segment_size() as f64;
    most > burst && spread < EMPTY * most
}

/// The rate after slow start lost a large part of its window at once, although no queue had grown: a full bucket ran empty.
fn rate_after_overshoot(case: &Case<'_>, half: &Half) -> Option<f64> {
    let first = half.losses.first()?;
    let window = first.flight / half.segment_size();
    // More data than the path holds would wait in a queue, and overflow it.
    let holds = half.capacity()? * half.round_trips.base?;
    let is_large = first.segments > OVERSHOOT && first.segments * 4 > window && (first.flight as f64) < holds;
    let took = case.at(half.last_progress) - case.at(first.time);
    let bytes = half.totals.delivered.saturating_sub(first.position) as f64;
    (is_large && half.losses.len() >= 2 && took > 1.0).then(|| bytes / took)
}

fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    (mean, (values.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / count).sqrt())
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
    let (mean, deviation) = mean_and_deviation(&flights);
    let holds = half.capacity().unwrap_or(0.0) * half.round_trips.base.unwrap_or(0.0);
    deviation < SAME * mean && mean < BELOW * holds
}

/// Slope of the line through points, by least squares.
fn slope(points: &[Point]) -> Option<f64> {
    let count = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |(x, y), point| (x + point.time, y + point.bytes));
    let (x, y) = (x / count, y / count);
    let (above, below) = points.iter().fold((0.0, 0.0), |(above, below), point| {
        (above + (point.time - x) * (point.bytes - y), below + (point.time - x).powi(2))
    });
    (below > 0.0).then(|| above / below).filter(|rate| *rate > 0.0)
}
