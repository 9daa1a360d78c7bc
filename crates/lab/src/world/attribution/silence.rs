//! What paths do while nothing arrives at an application that waits for data.
//!
//! Owns the longest such time of each flow. Looks at every sample, so that a silence is known up to one sample at each of its ends.

use std::collections::BTreeMap;

use mptcp_clock::{Duration, Instant};

use super::cause::Cause;

/// Silences that are shorter are not looked at.
const SHORTEST: Duration = Duration::from_millis(500);
/// The time that a sender takes to notice that a link is back.
const RECOVERY: &str = "recovery";

/// Seconds of one path since the start of the run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spent {
    pub(super) by_cause: [f64; Cause::ALL.len()],
    /// A link of it was down.
    pub(super) down: f64,
}

/// A time without data, as far as it was looked at.
#[derive(Clone, Debug)]
struct Silence {
    since: Instant,
    looked_from: Instant,
    before: BTreeMap<u16, Spent>,
    lasted: Duration,
    shares: BTreeMap<u16, Vec<(&'static str, f64)>>,
}

/// The silences of all flows: by flow the present one and the longest one.
#[derive(Debug, Default)]
pub(super) struct Silences {
    present: BTreeMap<u16, Silence>,
    longest: BTreeMap<u16, Silence>,
}

/// Whether a time without data is long enough to be looked at.
pub(super) fn is_long(lasted: Duration) -> bool {
    lasted > SHORTEST / 2
}

impl Silences {
    /// Data has arrived, or none is waited for.
    pub(super) fn end(&mut self, flow: u16) {
        self.present.remove(&flow);
    }

    /// Nothing has arrived since `since`, and the paths have `spent` their time so far.
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

    /// The accounts of a flow had `then` and begin again with `now`: what was spent of a silence so far stays.
    pub(super) fn begin_again(&mut self, flow: u16, then: &BTreeMap<u16, Spent>, now: &BTreeMap<u16, Spent>) {
        let Some(present) = self.present.get_mut(&flow) else { return };
        for (path, before) in &mut present.before {
            let sums = |of: &BTreeMap<u16, Spent>| of.get(path).copied().unwrap_or_default().by_cause;
            for ((before, then), now) in before.by_cause.iter_mut().zip(sums(then)).zip(sums(now)) {
                *before += now - then;
            }
        }
    }

    /// What a path did in the longest silence of its flow, if that began at `since`: shares of the time by cause.
    pub(super) fn longest(&self, flow: u16, path: u16, since: Instant) -> Vec<(&'static str, f64)> {
        let longest = self.longest.get(&flow).filter(|longest| longest.since == since);
        longest.and_then(|longest| longest.shares.get(&path)).cloned().unwrap_or_default()
    }
}

/// What a path did between two looks at it, as shares of the `span` between them.
fn shares(before: Spent, after: Spent, span: f64) -> Vec<(&'static str, f64)> {
    // Time may go to another cause later, when more is known of it.
    let mut since: Vec<f64> =
        before.by_cause.iter().zip(after.by_cause).map(|(then, now)| (now - then).max(0.0)).collect();
    let down = (after.down - before.down).clamp(0.0, span);
    let most = span.max(since.iter().sum());
    // Several subflows of one path spend more time than there is.
    since.iter_mut().for_each(|time| *time *= span / most.max(1e-9));
    let known: f64 = since.iter().sum();
    let absent = (span - known).max(0.0);
    let named = Cause::ALL.iter().zip(&since).map(|(cause, time)| match cause {
        // With the time after it in which the sender waits for its timer, or with no subflow at all.
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
