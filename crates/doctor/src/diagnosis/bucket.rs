//! Fits a token bucket to the fates of transmissions.
//!
//! A bucket of rate R and size B is like a queue of that rate and size: it drops a packet that does not fit. So for the
//! right R, dropped packets find the queue at B, and others find less. Random losses find any level. The largest distance between both distributions (Kolmogorov and Smirnov) compares
//! them for each R, without a choice of B.

use crate::track::Transmission;

/// A token bucket.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bucket {
    /// Its rate, bytes/s, and its size, bytes.
    pub(super) rate: f64,
    pub(super) size: f64,
    /// Share of losses that find the bucket empty, less that of other transmissions, from 0 to 1.
    pub(super) fit: f64,
    /// Losses that were compared; a run without a transmission that passed counts one.
    pub(super) losses: usize,
}

impl Bucket {
    /// Lower bound of the fit with a confidence of 95%, for this number of losses (Dvoretzky, Kiefer and Wolfowitz).
    pub(super) fn least_fit(&self) -> f64 {
        self.fit - (20.0_f64.ln() / (2.0 * self.losses as f64)).sqrt()
    }
}

/// Losses whose lower bound of a perfect fit is a half.
const LEAST_LOSSES: usize = 6;
/// Rates that are tried at first, and around the best of them.
const RATES: usize = 24;
/// Rates below and above the mean rate that passed. A bucket cannot pass more than its rate for long; TCP uses at least
/// a third of it.
const LOWEST: f64 = 0.95;
const HIGHEST: f64 = 4.0;

/// The bucket of at least `least` bytes, and with a rate of at most `most` bytes/s, that explains the losses best.
pub(super) fn fit(transmissions: &[Transmission], least: f64, most: f64) -> Option<Bucket> {
    // Even a perfect fit of fewer losses proves nothing.
    if transmissions.iter().filter(|one| one.is_lost).count() < LEAST_LOSSES {
        return None;
    }
    let all = sorted(transmissions);
    let (first, last) = (all.first()?.time, all.last()?.time);
    let passed: f64 = all.iter().filter(|one| !one.is_lost).map(|one| f64::from(one.bytes)).sum();
    let mean = passed / ((last - first) as f64 / 1e9);
    if !(mean > 0.0 && mean.is_finite()) {
        return None;
    }
    let (lowest, highest) = (LOWEST * mean, most.min(HIGHEST * mean));
    if highest < lowest {
        return None;
    }
    let mut levels = Levels::default();
    let mut best: Option<Bucket> = None;
    let step = (highest / lowest).powf(1.0 / RATES as f64);
    let mut take = |rate: f64, best: &mut Option<Bucket>| {
        let one = levels.compare(&all, rate, least);
        if let Some(one) = one
            && best.is_none_or(|known| one.fit > known.fit)
        {
            *best = Some(one);
        }
    };
    for index in 0..=RATES {
        take(lowest * step.powi(index as i32), &mut best);
    }
    let coarse = best?.rate;
    for index in 1..RATES {
        let rate = coarse * step.powf(2.0 * index as f64 / RATES as f64 - 1.0);
        take(rate.min(highest), &mut best);
    }
    best
}

/// Levels of the queue that losses and other transmissions find, bytes.
#[derive(Debug, Default)]
struct Levels {
    lost: Vec<f64>,
    passed: Vec<f64>,
}

impl Levels {
    fn compare(&mut self, all: &[Transmission], rate: f64, least: f64) -> Option<Bucket> {
        self.lost.clear();
        self.passed.clear();
        let (mut level, mut time, mut was_lost) = (0.0_f64, all.first()?.time, false);
        for one in all {
            level = (level - rate * (one.time - time) as f64 / 1e9).max(0.0);
            time = one.time;
            let after = level + f64::from(one.bytes);
            if !one.is_lost {
                self.passed.push(after);
                level = after;
            } else if !was_lost {
                self.lost.push(after);
            }
            was_lost = one.is_lost;
        }
        self.lost.sort_unstable_by(f64::total_cmp);
        self.passed.sort_unstable_by(f64::total_cmp);
        let (lost, passed) = (self.lost.len() as f64, self.passed.len() as f64);
        let mut best: Option<(f64, f64)> = None;
        let mut below = 0;
        for (index, &size) in self.lost.iter().enumerate() {
            while self.passed.get(below).is_some_and(|level| *level < size) {
                below += 1;
            }
            let fit = below as f64 / passed - index as f64 / lost;
            if size >= least && best.is_none_or(|(known, _)| fit > known) {
                best = Some((fit, size));
            }
        }
        best.map(|(fit, size)| Bucket { rate, size, fit, losses: self.lost.len() })
    }
}

/// The best bucket of this rate.
pub(super) fn at(transmissions: &[Transmission], rate: f64) -> Option<Bucket> {
    Levels::default().compare(&sorted(transmissions), rate, 0.0)
}

/// Median over losses of the time in queues just before them, s.
pub(super) fn queueing(transmissions: &[Transmission]) -> Option<f64> {
    let mut known = f32::NAN;
    let mut found = Vec::new();
    let mut was_lost = false;
    for one in sorted(transmissions) {
        if !one.queueing.is_nan() {
            known = one.queueing;
        }
        if one.is_lost && !was_lost && !known.is_nan() {
            found.push(known);
        }
        was_lost = one.is_lost;
    }
    found.sort_unstable_by(f32::total_cmp);
    found.get(found.len() / 2).map(|queueing| f64::from(*queueing))
}

/// The transmissions in the order of their times.
fn sorted(transmissions: &[Transmission]) -> Vec<Transmission> {
    let mut all = transmissions.to_vec();
    all.sort_by_key(|one| one.time);
    all
}
