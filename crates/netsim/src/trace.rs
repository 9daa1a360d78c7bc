//! Links that replay a recording of delivery opportunities (Netravali et al., mahimahi, USENIX ATC 2015).
//!
//! An opportunity is an instant at which a full frame may depart. Recordings of mobile links have such
//! instants instead of a rate. Owns them, and the unused bytes of the current one. Never holds a frame.

use std::sync::Arc;

use mptcp_clock::{Duration, Instant};

/// Bytes per opportunity: a full frame. Smaller frames share an opportunity, larger frames take several.
pub const OPPORTUNITY: u32 = 1514;

/// A recording: number of full frames by time. It repeats after its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// Time since the start and number of frames, by increasing time.
    opportunities: Arc<[(Duration, u32)]>,
    period: Duration,
}

impl Trace {
    /// A recording from times at which a frame may depart, in order. The last time is the length of the
    /// recording. `None` without times, if they decrease, or if all are zero.
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
        // An opportunity at time zero coincides with the end of the previous round. In the first round, no
        // frame can use it.
        if let Some(&(Duration::ZERO, frames)) = opportunities.first() {
            opportunities.remove(0);
            if let Some((_, last)) = opportunities.last_mut() {
                *last = last.saturating_add(frames);
            }
        }
        Some(Self { opportunities: opportunities.into(), period })
    }

    /// The times at which a frame may depart, in order. [`Self::new`] makes the same recording from them.
    pub fn times(&self) -> impl Iterator<Item = Duration> + '_ {
        self.opportunities.iter().flat_map(|&(time, frames)| std::iter::repeat_n(time, frames as usize))
    }

    /// Mean rate in bit/s of full frames.
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

/// Position of a link in its recording.
#[derive(Debug)]
pub(crate) struct Cursor {
    trace: Trace,
    /// Time of the current opportunity, and its unused bytes.
    at: Instant,
    left: u64,
}

impl Cursor {
    pub(crate) fn new(trace: Trace) -> Self {
        Self { trace, at: Instant::ZERO, left: 0 }
    }

    /// Time of the next opportunity. Frames that arrive at the instant of an opportunity miss it.
    pub(crate) fn next(&self, now: Instant) -> Instant {
        self.trace.after(now).0
    }

    /// Opens the opportunity at `now`.
    pub(crate) fn claim(&mut self, now: Instant) {
        let before = Instant::from_nanos(now.as_nanos().saturating_sub(1));
        (self.at, self.left) = self.trace.after(before);
    }

    /// Whether a frame may depart at `now`.
    pub(crate) fn is_open(&self, now: Instant) -> bool {
        self.at == now && self.left > 0
    }

    /// Uses the open opportunity and later ones for `bytes`. Returns the departure time of the last byte.
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
