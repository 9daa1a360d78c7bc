//! Rate control: the choice of the rate for the next attempt.
//!
//! Follows Minstrel (mac80211 in Linux). Chooses the rate with the highest recent throughput, computed from
//! its share of acknowledged frames, and sometimes tries a faster rate. Collisions affect all rates alike and
//! do not change their order. Algorithms that count consecutive failures (ARF, AARF) mistake contention for
//! distance and slow down the cell.

use mptcp_clock::{Duration, Instant, Rng};

use super::parameters::StationRate;
use super::phy::Phy;

/// Update interval of the shares.
const INTERVAL: Duration = Duration::from_millis(50);
/// Number of attempts in an interval that weigh as much as all earlier attempts.
const HALF: f64 = 12.0;
/// Number of attempts for the same weight at a rate that was not tried before.
const HALF_UNKNOWN: f64 = 2.0;
/// Factor by which the throughput of a slower rate must exceed that of the best rate.
const CLEARLY: f64 = 1.1;
/// Shares above this fraction of the highest share are treated as equal to it.
const SIMILAR: f64 = 0.75;
/// Below this share, a rate is useless: retries would run out.
const USELESS: f64 = 0.1;
/// One of this many first attempts is a trial.
const TRIAL: u32 = 16;
/// Number of attempts at the best rate, then at the second best. Later attempts use the sturdiest rate: the
/// fastest with a high share, or the slowest until a rate was tried.
const ATTEMPTS: u32 = 2;
/// MAC bytes of the frame that is used to compare rates.
const TYPICAL: u32 = 1536;

#[derive(Clone, Copy, Debug)]
struct Record {
    attempts: u32,
    successes: u32,
    /// Whether the rate was tried.
    known: bool,
    /// Share of acknowledged frames. An untried rate counts as the next faster one, since losses may be
    /// collisions, which slower rates do not avoid.
    share: f64,
    /// Airtime of a typical frame and its ACK, s.
    cost: f64,
}

#[derive(Debug)]
pub(crate) struct RateControl {
    fixed: Option<usize>,
    records: Vec<Record>,
    best: usize,
    second: usize,
    sturdiest: usize,
    next_update: Instant,
    until_trial: u32,
}

impl RateControl {
    pub(crate) fn new(rate: StationRate, phy: &Phy) -> Self {
        let cost = |rate| (phy.protection + phy.duration(TYPICAL, rate) + rate.answer).as_secs_f64();
        let record = |rate| Record {
            attempts: 0,
            successes: 0,
            known: false,
            share: 1.0,
            cost: cost(rate) + phy.difs.as_secs_f64(),
        };
        let mut control = Self {
            fixed: match rate {
                StationRate::Fixed(bits_per_second) => Some(phy.rate_at_most(bits_per_second)),
                StationRate::Auto => None,
            },
            records: phy.rates.iter().map(record).collect(),
            best: 0,
            second: 0,
            sturdiest: 0,
            next_update: Instant::ZERO + INTERVAL,
            until_trial: TRIAL,
        };
        control.rank();
        control
    }

    /// The current rate, without trials.
    pub(crate) fn current(&self) -> usize {
        self.fixed.unwrap_or(self.best)
    }

    /// The rate for the next attempt of a frame that failed `attempts` times.
    #[inline]
    pub(crate) fn choose(&mut self, attempts: u32, trials: &mut Rng) -> usize {
        if let Some(fixed) = self.fixed {
            return fixed;
        }
        if attempts >= ATTEMPTS * 2 {
            return self.sturdiest;
        }
        if attempts >= ATTEMPTS {
            return self.second;
        }
        self.until_trial = self.until_trial.saturating_sub(1);
        if attempts == 0 && self.until_trial == 0 {
            self.until_trial = TRIAL;
            return self.trial(trials);
        }
        self.best
    }

    /// A random faster rate; the best rate if it is the fastest. Slower rates need no trials: retries use
    /// them.
    fn trial(&self, trials: &mut Rng) -> usize {
        let above = self.records.len() - 1 - self.best;
        if above == 0 { self.best } else { self.best + 1 + trials.below(above as u64) as usize }
    }

    /// Records that `successes` of `attempts` frames were acknowledged at a rate.
    #[inline]
    pub(crate) fn learn(&mut self, now: Instant, rate: usize, attempts: u32, successes: u32) {
        if self.fixed.is_some() {
            return;
        }
        self.records[rate].attempts += attempts;
        self.records[rate].successes += successes;
        if now >= self.next_update {
            self.next_update = now + INTERVAL;
            self.update();
        }
    }

    fn update(&mut self) {
        for record in self.records.iter_mut().filter(|record| record.attempts > 0) {
            let share = f64::from(record.successes) / f64::from(record.attempts);
            let half = if record.known { HALF } else { HALF_UNKNOWN };
            let weight = f64::from(record.attempts) / (f64::from(record.attempts) + half);
            record.share += weight * (share - record.share);
            (record.attempts, record.successes, record.known) = (0, 0, true);
        }
        let mut faster = 1.0;
        for record in self.records.iter_mut().rev() {
            if !record.known {
                record.share = faster;
            }
            faster = record.share;
        }
        self.rank();
    }

    fn rank(&mut self) {
        let most = |worth: &dyn Fn(&Record) -> f64, but: Option<usize>| {
            let rates = (0..self.records.len()).filter(|&rate| Some(rate) != but);
            let better = |a: &usize, b: &usize| worth(&self.records[*a]).total_cmp(&worth(&self.records[*b]));
            rates.max_by(better).unwrap_or(0)
        };
        let carried = |record: &Record| if record.share < USELESS { 0.0 } else { record.share / record.cost };
        let mut best = most(&carried, None);
        if best < self.best && carried(&self.records[best]) < carried(&self.records[self.best]) * CLEARLY {
            best = self.best;
        }
        let second = most(&carried, Some(best));
        let known = self.records.iter().filter(|record| record.known);
        let share = known.map(|record| record.share).fold(USELESS, f64::max);
        let like_it = |record: &Record| record.known && record.share >= share * SIMILAR;
        let sturdiest = self.records.iter().rposition(like_it).unwrap_or(0);
        (self.best, self.second, self.sturdiest) = (best, second, sturdiest);
    }
}

#[cfg(test)]
mod tests;
