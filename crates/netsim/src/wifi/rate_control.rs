//! Which rate a sender chooses for its next attempt.
//!
//! After Minstrel (Linux' mac80211): the rate that carried most of late, by its own share of frames
//! acknowledged, and now and then a trial of one that could carry more. A collision spoils a frame
//! at any rate, so it lowers all shares alike and leaves their order as it was; controls that count
//! failures in a row (ARF, AARF) take contention for distance and slow the whole cell down.

use mptcp_clock::{Duration, Instant, Stream};

use super::parameters::StationRate;
use super::phy::Phy;

/// How often shares are brought up to date.
const INTERVAL: Duration = Duration::from_millis(50);
/// What the latest interval weighs.
const WEIGHT: f64 = 0.25;
/// One first attempt of so many is a trial.
const TRIAL: u32 = 16;
/// Attempts at the best rate, then at the second, before the sturdiest.
const ATTEMPTS: u32 = 2;
/// MAC bytes of the frame by which rates are compared.
const TYPICAL: u32 = 1536;

#[derive(Clone, Copy, Debug)]
struct Record {
    attempts: u32,
    successes: u32,
    /// Share of frames acknowledged, 1 until something is known.
    share: f64,
    /// Air for a typical frame and its answer, in seconds.
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

    /// The rate of the moment, trials aside.
    pub(crate) fn current(&self) -> usize {
        self.fixed.unwrap_or(self.best)
    }

    /// The rate of the next attempt for a frame that failed `attempts` times.
    #[inline]
    pub(crate) fn choose(&mut self, attempts: u32, trials: &mut Stream) -> usize {
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

    /// A rate that would carry more than the best one if all its frames came over.
    fn trial(&self, trials: &mut Stream) -> usize {
        let best = self.records[self.best];
        let promising = |record: &Record| best.share / best.cost < 1.0 / record.cost;
        let others = || self.records.iter().enumerate().filter(|(rate, _)| *rate != self.best);
        let count = others().filter(|(_, record)| promising(record)).count() as u64;
        let pick = trials.below(count) as usize;
        others().filter(|(_, record)| promising(record)).nth(pick).map_or(self.best, |(rate, _)| rate)
    }

    /// `successes` of `attempts` frames were acknowledged at a rate.
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
            record.share += WEIGHT * (share - record.share);
            (record.attempts, record.successes) = (0, 0);
        }
        self.rank();
    }

    fn rank(&mut self) {
        let most = |worth: &dyn Fn(&Record) -> f64, but: Option<usize>| {
            let rates = (0..self.records.len()).filter(|&rate| Some(rate) != but);
            let better = |a: &usize, b: &usize| worth(&self.records[*a]).total_cmp(&worth(&self.records[*b]));
            rates.max_by(better).unwrap_or(0)
        };
        // A rate at which one frame of ten comes over is worth nothing: retries would run out.
        let carried = |record: &Record| if record.share < 0.1 { 0.0 } else { record.share / record.cost };
        let sturdy = |record: &Record| (record.share * 20.0).floor() / 20.0 + record.cost;
        let best = most(&carried, None);
        let (second, sturdiest) = (most(&carried, Some(best)), most(&sturdy, None));
        (self.best, self.second, self.sturdiest) = (best, second, sturdiest);
    }
}
