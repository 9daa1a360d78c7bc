//! Changes of the one-way delay, from the timestamps of segments that arrive far from their sender.
//!
//! The difference between the time of arrival and the sender's timestamp is the delay plus a constant, because the clocks are
//! not synchronised. Above its minimum, the difference is the delay in queues.

/// Ticks per second of the only clock with a resolution that suffices: Linux, FreeBSD and macOS count milliseconds.
const TICKS: f64 = 1000.0;
/// Time after which the rate of the clock is known, ns: a queue of 0.2 s changes it by less than half.
const LEARNING: u64 = 500_000_000;
/// A minimum lasts for one to two of these times, ns. Clocks that differ by 50 ppm drift by 1 ms in it.
const WINDOW: u64 = 10_000_000_000;

/// Changes of the one-way delay.
#[derive(Clone, Debug, Default)]
pub(super) struct OneWay {
    first: Option<(u64, u32)>,
    /// Start of the window, ns, and the minima of this window and of the one before, ms.
    window: u64,
    least: [Option<f64>; 2],
    /// Delay of the last segment above the minimum, s.
    queueing: Option<f64>,
}

impl OneWay {
    /// Takes the arrival of a segment, ns, and its timestamp.
    pub(super) fn take(&mut self, time: u64, stamp: u32) {
        let &mut (start, first) = self.first.get_or_insert((time, stamp));
        let ticks = f64::from(stamp.wrapping_sub(first).cast_signed());
        let took = time.saturating_sub(start);
        let difference = took as f64 / 1e9 * TICKS - ticks;
        if time.saturating_sub(self.window) > WINDOW {
            self.least = [None, self.least[0]];
            self.window = time;
        }
        self.least[0] = Some(self.least[0].map_or(difference, |least| least.min(difference)));
        let is_known = took > LEARNING && (ticks / TICKS - took as f64 / 1e9).abs() < 0.5 * took as f64 / 1e9;
        let least = self.least.into_iter().flatten().reduce(f64::min);
        self.queueing = least.filter(|_| is_known).map(|least| (difference - least) / TICKS);
    }

    /// Time in queues of the last segment, s; None while the clock is unknown.
    pub(super) const fn queueing(&self) -> Option<f64> {
        self.queueing
    }
}
