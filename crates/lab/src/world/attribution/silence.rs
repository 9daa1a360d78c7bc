//! The state of paths during silences: intervals in which no data arrives at an application that waits for
//! data.
//!
//! Results list the causes of the longest silence, to explain why an application stalled. Owns the longest
//! silence per flow. The world, the running simulation, updates silences at each sample, so their start and
//! end are accurate to one sample interval.

use std::collections::BTreeMap;

use mptcp_clock::{Duration, Instant};

use super::cause::Cause;

/// Minimum duration of a silence; shorter intervals are ignored.
const SHORTEST: Duration = Duration::from_millis(500);
/// Name of the time after an outage until the sender resumes.
const RECOVERY: &str = "recovery";

/// Times of one path since the start of the run, s.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spent {
    pub(super) by_cause: [f64; Cause::ALL.len()],
    /// Time for which a link was down.
    pub(super) down: f64,
}

/// An interval without data so far. `before` has the times of its paths at `looked_from`, its first sample.
#[derive(Clone, Debug)]
struct Silence {
    since: Instant,
    looked_from: Instant,
    before: BTreeMap<u16, Spent>,
    lasted: Duration,
    shares: BTreeMap<u16, Vec<(&'static str, f64)>>,
}

/// The current and the longest interval of each flow.
#[derive(Debug, Default)]
pub(super) struct Silences {
    present: BTreeMap<u16, Silence>,
    longest: BTreeMap<u16, Silence>,
}

/// Whether an interval is long enough to observe, because it may reach [`SHORTEST`] soon.
pub(super) fn is_long(lasted: Duration) -> bool {
    lasted > SHORTEST / 2
}

impl Silences {
    /// Data arrived, or the application no longer waits.
    pub(super) fn end(&mut self, flow: u16) {
        self.present.remove(&flow);
    }

    /// No data arrived since `since`; `spent` has the times of the paths.
    pub(super) fn look(&mut self, now: Instant, flow: u16, since: Instant, spent: BTreeMap<u16, Spent>) {
        let lasted = now.since(since);
        let Some(present) = self.present.get_mut(&flow).filter(|present| present.since == since) else {
            let silence = Silence { since, looked_from: now, before: spent, lasted, shares: BTreeMap::new() };
            self.present.insert(flow, silence);
            return;
        };
        let span = now.since(present.looked_from).as_secs_f64();
        present.lasted = lasted;
        let since_then = |(path, spent): (u16, Spent)| {
            let before = present.before.get(&path).copied().unwrap_or_default();
            (path, shares(before, spent, span))
        };
        present.shares = spent.into_iter().map(since_then).collect();
        let longest = self.longest.get(&flow).map_or(SHORTEST, |longest| longest.lasted);
        if present.lasted > longest {
            let present = present.clone();
            self.longest.insert(flow, present);
        }
    }

    /// The times by cause of the flow's paths were reset from `then` to `now`, at the start of its measured
    /// time. Shifts `before` by the difference, so that the current interval continues.
    pub(super) fn begin_again(&mut self, flow: u16, then: &BTreeMap<u16, Spent>, now: &BTreeMap<u16, Spent>) {
        let Some(present) = self.present.get_mut(&flow) else { return };
        for (path, before) in &mut present.before {
            let sums = |of: &BTreeMap<u16, Spent>| of.get(path).copied().unwrap_or_default().by_cause;
            for ((before, then), now) in before.by_cause.iter_mut().zip(sums(then)).zip(sums(now)) {
                *before += now - then;
            }
        }
    }

    /// Shares by cause of a path in the longest interval of its flow; empty unless the interval started at
    /// `since`.
    pub(super) fn longest(&self, flow: u16, path: u16, since: Instant) -> Vec<(&'static str, f64)> {
        let longest = self.longest.get(&flow).filter(|longest| longest.since == since);
        longest.and_then(|longest| longest.shares.get(&path)).cloned().unwrap_or_default()
    }
}

/// Shares of the `span` between two states of a path.
fn shares(before: Spent, after: Spent, span: f64) -> Vec<(&'static str, f64)> {
    // The account of a subflow, its time by cause, can move time to another cause later. A difference can
    // therefore be negative.
    let mut since: Vec<f64> =
        before.by_cause.iter().zip(after.by_cause).map(|(then, now)| (now - then).max(0.0)).collect();
    let down = (after.down - before.down).clamp(0.0, span);
    let most = span.max(since.iter().sum());
    // Several subflows of one path can add up to more than the interval.
    since.iter_mut().for_each(|time| *time *= span / most.max(1e-9));
    let known: f64 = since.iter().sum();
    let absent = (span - known).max(0.0);
    let named = Cause::ALL.iter().zip(&since).map(|(cause, time)| match cause {
        // `time` includes the recovery after the outage. `down` can include time without a subflow.
        Cause::Down => (cause.name(), down.min(time + absent)),
        Cause::Closed => {
            (cause.name(), time + (absent - (down - since[Cause::Down as usize]).max(0.0)).max(0.0))
        }
        _ => (cause.name(), *time),
    });
    let recovery = (RECOVERY, (since[Cause::Down as usize] - down).max(0.0));
    let shares = named.chain([recovery]).map(|(name, time)| (name, time / span.max(1e-9)));
    shares.filter(|(_, share)| *share > 0.0).collect()
}
