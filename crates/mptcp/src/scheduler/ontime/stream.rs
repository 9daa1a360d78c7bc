//! What an application writes as it goes, and the path that carries all of it.
//!
//! Near paths of slow lines cannot carry a stream that is faster than they are: their queues fill, what is lost there waits for its repair, and
//! every block for the latest of its segments. Where another path can carry all of it, it does, and M1 repeats on the near ones what
//! comes sooner there. Owns how much is written a second.

use mptcp_clock::{Duration, Instant};

use super::numbers::{larger, nanos, real};
use crate::scheduler::{Candidate, SendView};

/// So much is counted over at least, and after a silence of so long it begins anew.
const SPAN: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(3));
/// A path carries a stream for others if it has so many times its rate.
const ENOUGH: f64 = 1.02;
/// Paths that carry so many times its rate behind their losses have soon sent what was left over by one.
const SPARE: f64 = 1.2;
/// It carries at once what it takes no longer for than so many times the way there: of more, others may bring a part sooner.
const AT_ONCE: f64 = 2.0;

/// What is written, by the offsets of the stream at two moments.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stream {
    writes: Writes,
    /// When it was looked at last, and what was written until then; None before.
    from: Option<(Instant, u64)>,
    /// Bytes a second, the mean of the last span and of what was known; None until one is over.
    rate: Option<f64>,
}

impl Stream {
    /// Which candidate carries all of it, where those that would have it there sooner cannot, by how long each takes; None where the best
    /// one does, or nobody, or where much was written at once. An open question is no reason: a line that has not told how fast it is may
    /// carry it.
    pub(super) fn carrier(&self, view: &SendView<'_>, times: &[f64]) -> Option<usize> {
        let asked = self.rate?;
        let able =
            times.iter().zip(view.candidates).enumerate().filter(|(_, (_, c))| carries(c) >= ENOUGH * asked);
        let (at, (&time, best)) = able.min_by(|(_, one), (_, other)| one.0.total_cmp(other.0))?;
        if real(view.unsent) * 1e9 > AT_ONCE * time * carries(best) {
            return None;
        }
        let sooner = || times.iter().zip(view.candidates).filter(|(other, _)| **other < time);
        let known: f64 = sooner().map(|(_, c)| at_most(c)).sum();
        (known < asked && sooner().next().is_some()).then_some(at)
    }

    /// Whether paths carry so much more than all of it that what a loss has left over is gone soon. Nobody knows before a span is over.
    pub(super) fn is_carried_by<'a>(&self, paths: impl Iterator<Item = &'a Candidate>) -> bool {
        self.rate.is_some_and(|asked| paths.map(at_most).sum::<f64>() >= SPARE * asked)
    }

    /// Bytes that are written in so many nanoseconds, with the block that comes then; None before a span is over.
    pub(super) fn written_in(&self, time: f64) -> Option<f64> {
        let apart = self.writes.apart;
        self.rate.map(|rate| rate * (time + apart) / 1e9)
    }

    /// Whether a path can carry all of it beside what it does.
    pub(super) fn has_room_on(&self, candidate: &Candidate) -> bool {
        self.has_room_in_all([candidate].into_iter())
    }

    /// Whether some paths can in all.
    pub(super) fn has_room_in_all<'a>(&self, paths: impl Iterator<Item = &'a Candidate>) -> bool {
        self.rate.is_some_and(|asked| paths.map(at_most).sum::<f64>() >= ENOUGH * asked)
    }

    /// How many times as long what is lost keeps others waiting where little is left for what waited behind it: a line that is full for
    /// a share of the time has queues 1 / (1 - share) times as long, and repairs by the root of that. What does not carry all of it gets
    /// no more than it carries easily.
    pub(super) fn crowds(&self, candidate: &Candidate) -> f64 {
        let left = after_losses(candidate);
        let Some(asked) = self.rate.filter(|_| left.is_finite()) else { return 1.0 };
        let (full, most) = (asked / larger(left, 1.0), 1.0 / SPARE);
        (1.0 - if full < most { full } else { most }).sqrt().recip()
    }

    /// Nanoseconds until more is written, as far as that is known; infinite before.
    pub(super) fn until_more(&self, now: Instant) -> f64 {
        self.writes.until_next(now)
    }

    /// Looks at a moment; called for each choice.
    pub(super) fn look(&mut self, view: &SendView<'_>) {
        let written = view.acknowledged.saturating_add(view.in_flight).saturating_add(view.unsent);
        self.writes.look(view.now, written);
        let Some((at, before)) = self.from else {
            self.from = Some((view.now, written));
            return;
        };
        let past = view.now.since(at);
        if past < SPAN.0 {
            return;
        }
        let rate = real(written.saturating_sub(before)) / past.as_secs_f64();
        self.rate = (past < SPAN.1).then(|| self.rate.map_or(rate, |known| f64::midpoint(known, rate)));
        self.from = Some((view.now, written));
    }
}

/// When an application writes.
#[derive(Clone, Copy, Debug, Default)]
struct Writes {
    /// Until where it had written, and since when.
    last: Option<(u64, Instant)>,
    /// From one time that it wrote to the next, smoothed, nanoseconds; 0 before the second.
    apart: f64,
}

impl Writes {
    fn look(&mut self, now: Instant, written: u64) {
        let Some((before, at)) = self.last else {
            self.last = Some((written, now));
            return;
        };
        if written > before {
            let apart = nanos(now.since(at));
            self.apart = if self.apart > 0.0 { self.apart + (apart - self.apart) / 8.0 } else { apart };
            self.last = Some((written, now));
        }
    }

    /// If it is late, as long again.
    fn until_next(&self, now: Instant) -> f64 {
        let Some((_, at)) = self.last.filter(|_| self.apart > 0.0) else { return f64::INFINITY };
        let left = self.apart - nanos(now.since(at));
        if left > 0.0 { left } else { self.apart }
    }
}

/// Bytes a second, by what was seen, and by what losses leave.
fn carries(candidate: &Candidate) -> f64 {
    let seen = larger(candidate.burst_rate.unwrap_or_default(), candidate.delivery_rate.unwrap_or_default());
    let left = after_losses(candidate);
    if seen < left { seen } else { left }
}

/// The same where a line that has not told how fast it is may carry anything.
fn at_most(candidate: &Candidate) -> f64 {
    if candidate.burst_rate.is_some() { carries(candidate) } else { after_losses(candidate) }
}

/// Bytes a second that its window carries after a loss, and that a stream may ask of it all the time: a window that halves and grows by a
/// segment in a round trip gets 3/8 W² segments through from one loss to the next (Mathis et al., CCR 1997), and is W/2 behind it. Infinite where
/// it does not lose.
fn after_losses(candidate: &Candidate) -> f64 {
    let round = candidate.calm_rtt.max(candidate.min_rtt).as_secs_f64();
    candidate.between_losses.map_or(f64::INFINITY, |bytes| {
        (real(bytes) * real(candidate.mss) * 2.0 / 3.0).sqrt() / larger(round, 1e-6)
    })
}

#[cfg(test)]
mod tests;
