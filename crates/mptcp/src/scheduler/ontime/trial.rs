//! Whether more arrives without a path than with it.
//!
//! Owns the rate at which data was acknowledged, and the comparison while a path rests. What an account says is an estimate;
//! this is what came of it.

use mptcp_clock::{Duration, Instant};

use crate::scheduler::{Candidate, SendView};

/// Rates are means over so long at least, and at most.
const SPAN: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(4));
/// Without the path this part of what came before has to come.
const KEPT: f64 = 0.95;
/// A path that brings a smaller part of all is not put to the test: rates differ by as much from one moment to the next.
const LEAST_SHARE: f64 = 0.25;

/// The rate of what is acknowledged at the data level, over one to two spans.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Meter {
    due: Instant,
    last: (Instant, u64),
    before: (Instant, u64),
}

/// A path rests, and it is measured what comes of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trial {
    pub subflow: usize,
    /// What came before, bytes a second.
    rate: f64,
    /// When measuring begins, or ends.
    due: Instant,
    from: Option<(Instant, u64)>,
}

/// What a trial says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finding {
    /// As much comes without the path, or more.
    Right,
    /// Less comes.
    Wrong,
}

/// The longest round trip of all paths, or of all but one.
fn longest(view: &SendView<'_>, but: Option<usize>) -> Duration {
    let others = view.candidates.iter().filter(|c| Some(c.subflow) != but);
    others.map(|c| c.srtt).max().unwrap_or_default()
}

fn span(longest: Duration) -> Duration {
    (longest * 4).clamp(SPAN.0, SPAN.1)
}

fn since(view: &SendView<'_>, (at, acknowledged): (Instant, u64)) -> f64 {
    let time = view.now.since(at).as_secs_f64().max(1e-6);
    view.acknowledged.saturating_sub(acknowledged) as f64 / time
}

impl Meter {
    /// Whether it notes something when it looks next.
    #[inline]
    pub(super) fn is_due(&self, now: Instant) -> bool {
        now >= self.due
    }

    /// Looks at a moment; called for each choice.
    pub(super) fn note(&mut self, view: &SendView<'_>) {
        if self.is_due(view.now) {
            let last = (view.now, view.acknowledged);
            let before = if self.due == Instant::ZERO { last } else { self.last };
            *self = Self { due: view.now + span(longest(view, None)), last, before };
        }
    }
}

impl Trial {
    /// A path's rest begins: a trial where it is one that can tell.
    pub(super) fn begin(view: &SendView<'_>, path: &Candidate, meter: &Meter) -> Option<Self> {
        let rate = since(view, meter.before);
        // What it has under way has to arrive first.
        let due = view.now + longest(view, None) * 2;
        let trial = Self { subflow: path.subflow, rate, due, from: None };
        path.delivery_rate.is_some_and(|own| own > LEAST_SHARE * rate).then_some(trial)
    }

    /// Looks at a moment; says what was found at the end.
    pub(super) fn look(&mut self, view: &SendView<'_>) -> Option<Finding> {
        // How long it took itself says nothing of those that carry on: it may have been behind a queue of minutes.
        let others = longest(view, Some(self.subflow));
        if self.from.is_none()
            && view.candidates.iter().all(|c| c.subflow != self.subflow || c.in_flight == 0)
        {
            // It has; the others take its place.
            self.due = self.due.min(view.now + others * 2);
        }
        if view.now < self.due {
            return None;
        }
        let Some(from) = self.from else {
            (self.from, self.due) = (Some((view.now, view.acknowledged)), view.now + span(others));
            return None;
        };
        Some(if since(view, from) < KEPT * self.rate { Finding::Wrong } else { Finding::Right })
    }
}

#[cfg(test)]
mod tests;
