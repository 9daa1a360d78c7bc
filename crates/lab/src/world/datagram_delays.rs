//! Delay and loss of the datagrams of a UDP flow, for its summary.
//!
//! Owns the send times of outstanding datagrams. A datagram that arrives after its send time was discarded
//! counts as lost.

use std::collections::VecDeque;

use hdrhistogram::Histogram;
use mptcp_clock::{Duration, Instant};

use crate::measurements::DatagramSummary;

/// Maximum number of send times.
const MOST: usize = 1 << 16;
/// Datagram numbers wrap at this value.
pub(super) const NUMBERS: u32 = 1 << 30;
/// Significant digits of delays: an error below 1%, in 16 KB for delays up to minutes.
const DIGITS: u8 = 2;

/// Delays and losses of one flow.
#[derive(Debug)]
pub(super) struct DatagramDelays {
    /// Datagrams sent before this time are excluded.
    counts_from: Instant,
    deadline: Option<Duration>,
    /// Send times of outstanding datagrams; `None` for those that arrived.
    sent: VecDeque<Option<Instant>>,
    /// Number of the first datagram in `sent`.
    first: u32,
    /// Delays in nanoseconds.
    delays: Histogram<u32>,
    late: u64,
    /// Number of datagrams whose send time was discarded.
    forgotten: u64,
    last_delay: Option<Duration>,
    /// Interarrival jitter, s (RFC 3550 section 6.4.1).
    jitter: f64,
}

impl DatagramDelays {
    pub(super) fn new(deadline: Option<Duration>, counts_from: Instant) -> Self {
        // Histograms support up to five digits.
        let delays = Histogram::new(DIGITS).unwrap_or_else(|_| unreachable!("digits"));
        Self {
            counts_from,
            deadline,
            sent: VecDeque::new(),
            first: 0,
            delays,
            late: 0,
            forgotten: 0,
            last_delay: None,
            jitter: 0.0,
        }
    }

    /// Records a sent datagram. Returns its number, below [`NUMBERS`].
    pub(super) fn send(&mut self, now: Instant) -> u32 {
        if self.sent.len() == MOST {
            self.forget_first();
        }
        let number = (self.first + self.sent.len() as u32) % NUMBERS;
        self.sent.push_back(Some(now));
        number
    }

    fn forget_first(&mut self) {
        if self.sent.pop_front().flatten().is_some_and(|at| at >= self.counts_from) {
            self.forgotten += 1;
        }
        self.first = (self.first + 1) % NUMBERS;
    }

    /// Records an arrival. Copies of datagrams that arrived earlier are ignored.
    pub(super) fn arrive(&mut self, now: Instant, number: u32) {
        let at = (number + NUMBERS - self.first) % NUMBERS;
        let Some(sent) = self.sent.get_mut(at as usize).and_then(Option::take) else { return };
        while self.sent.front().is_some_and(Option::is_none) {
            self.forget_first();
        }
        if sent >= self.counts_from {
            self.count(now.since(sent));
        }
    }

    fn count(&mut self, delay: Duration) {
        // The histogram resizes itself. Delays within a run never exceed its range.
        let _ = self.delays.record(delay.as_nanos());
        self.late += u64::from(self.deadline.is_some_and(|deadline| delay > deadline));
        if let Some(last) = self.last_delay.replace(delay) {
            let difference = (delay.as_secs_f64() - last.as_secs_f64()).abs();
            self.jitter += (difference - self.jitter) / 16.0;
        }
    }

    /// The summary at the end; `None` if all datagrams are excluded.
    pub(super) fn summary(&self, end: Instant) -> Option<DatagramSummary> {
        let arrived = self.delays.len();
        let missing = |younger_than: Duration| {
            let counts =
                |at: &&Instant| **at >= self.counts_from && (arrived == 0 || end.since(**at) > younger_than);
            self.forgotten + self.sent.iter().flatten().filter(counts).count() as u64
        };
        // Datagrams sent within the maximum delay before the end may still be in flight.
        let lost = missing(Duration::from_nanos(self.delays.max()));
        if arrived + lost == 0 {
            return None;
        }
        let quantile = |share| self.delays.value_at_quantile(share) as f64 / 1e9;
        let late = self.deadline.map(|deadline| {
            let overdue = missing(deadline);
            (self.late + overdue) as f64 / (arrived + overdue).max(1) as f64
        });
        Some(DatagramSummary {
            loss: lost as f64 / (arrived + lost) as f64,
            latency: (arrived > 0).then(|| [0.5, 0.95, 0.99].map(quantile)),
            jitter: (arrived > 1).then_some(self.jitter),
            late,
        })
    }
}
