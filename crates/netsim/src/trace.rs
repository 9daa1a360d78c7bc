//! Lines that carry what a recording says: opportunities to deliver, over and over (Netravali et al., mahimahi, USENIX ATC 2015).
//!
//! Owns the opportunities and how many bytes of one are left. Never holds a frame.

use std::sync::Arc;

use mptcp_clock::{Duration, Instant};

/// Bytes of an opportunity: a full frame. Smaller ones share it, a larger one takes several.
pub const OPPORTUNITY: u32 = 1514;

/// A recording: how many full frames may leave at which time, from the beginning again when it has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// Time since the beginning and frames, by time, each time once.
    opportunities: Arc<[(Duration, u32)]>,
    period: Duration,
}

impl Trace {
    /// Of the times at which a frame may leave, in their order; the last one ends the recording. `None` if there are none, they
    /// go back, or all are zero.
    #[must_use]
    pub fn new(times: &[Duration]) -> Option<Self> {
        let period = *times.last()?;
        if period.is_zero() || !times.is_sorted() {
            return None;
        }
        let mut opportunities: Vec<(Duration, u32)> = Vec::new();
        for &time in times {
            match opportunities.last_mut() {
                Some((last, frames)) if *last == time => *frames = frames.saturating_add(1),
                _ => opportunities.push((time, 1)),
            }
        }
        // What lies at the beginning falls together with the end of the round before; in the first round nobody could use it.
        if let Some(&(Duration::ZERO, frames)) = opportunities.first() {
            opportunities.remove(0);
            if let Some((_, last)) = opportunities.last_mut() {
                *last = last.saturating_add(frames);
            }
        }
        Some(Self { opportunities: opportunities.into(), period })
    }

    /// The mean rate in bit/s of full frames.
    #[must_use]
    pub fn mean_rate(&self) -> u64 {
        let frames: u64 = self.opportunities.iter().map(|(_, frames)| u64::from(*frames)).sum();
        (frames as f64 * f64::from(OPPORTUNITY) * 8.0 / self.period.as_secs_f64()) as u64
    }

    /// The first opportunity after an instant, and its bytes.
    fn after(&self, now: Instant) -> (Instant, u64) {
        let period = self.period.as_nanos();
        let round = now.as_nanos() / period;
        let within = Duration::from_nanos(now.as_nanos() % period);
        let next = self.opportunities.partition_point(|(time, _)| *time <= within);
        let (round, at) = if next < self.opportunities.len() { (round, next) } else { (round + 1, 0) };
        let (time, frames) = self.opportunities[at];
        let begin = Instant::from_nanos(round * period);
        (begin + time, u64::from(frames) * u64::from(OPPORTUNITY))
    }
}

/// How far a line is in its recording.
#[derive(Debug)]
pub(crate) struct Cursor {
    trace: Trace,
    /// The opportunity that is used now, and what is left of it.
    at: Instant,
    left: u64,
}

impl Cursor {
    pub(crate) fn new(trace: Trace) -> Self {
        Self { trace, at: Instant::ZERO, left: 0 }
    }

    /// The next opportunity. What comes at the very instant of one is too late for it.
    pub(crate) fn next(&self, now: Instant) -> Instant {
        self.trace.after(now).0
    }

    /// The opportunity at `now` is there.
    pub(crate) fn claim(&mut self, now: Instant) {
        let before = Instant::from_nanos(now.as_nanos().saturating_sub(1));
        (self.at, self.left) = self.trace.after(before);
    }

    /// Whether something may leave at `now`.
    pub(crate) fn is_open(&self, now: Instant) -> bool {
        self.at == now && self.left > 0
    }

    /// When the last of so many bytes leaves, from the opportunity that is open.
    pub(crate) fn spend(&mut self, bytes: u32) -> Instant {
        let mut bytes = u64::from(bytes);
        while bytes > self.left {
            bytes -= self.left;
            (self.at, self.left) = self.trace.after(self.at);
        }
        self.left -= bytes;
        self.at
    }
}
