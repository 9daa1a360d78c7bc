//! Measures the iterations of the driver loop, which delay the reading of packets, and sets the wake-ups.
//!
//! The loop passes packets between devices and simulated links. Owns the measurement. An iteration starts at
//! its due time, not at the actual wake-up, so its duration includes stalls of the process or machine. Reads
//! no clock.

use mptcp_clock::{Duration, Instant};

use crate::lateness::{Lateness, Spread};

/// Maximum sleep, which detects stalls without events.
const TICK: Duration = Duration::from_millis(5);

#[derive(Debug, Default)]
pub(crate) struct Turns {
    lengths: Lateness,
    begun: Instant,
    wake: Instant,
}

impl Turns {
    /// Ends an iteration at `now`. Returns the start of the next one: `now` if a device may have `more`
    /// packets, otherwise `due`, but at most 5 ms later.
    pub(crate) fn end(&mut self, now: Instant, due: Option<Instant>, more: bool) -> Instant {
        self.lengths.count(now.since(self.begun));
        let tick = now + TICK;
        self.wake = if more { now } else { due.map_or(tick, |due| due.min(tick)) };
        self.wake
    }

    /// Begins an iteration at `now`, after a device or the timer has woken the loop.
    pub(crate) fn begin(&mut self, now: Instant) {
        self.begun = now.min(self.wake);
    }

    pub(crate) fn spread(&self) -> Spread {
        self.lengths.spread()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    #[test]
    fn a_stall_in_the_sleep_is_a_long_turn() {
        for due in [None, Some(ms(1)), Some(ms(10_000))] {
            let mut turns = Turns::default();
            let wake = turns.end(ms(0), due, false);
            assert!(wake <= ms(5), "a stall stays hidden for at most a tick");
            // Stopped for 400 ms, regardless of the wake-up.
            turns.begin(ms(400));
            turns.end(ms(400), None, false);
            assert!(turns.spread().max >= Duration::from_millis(395), "{due:?}");
        }
    }

    #[test]
    fn who_is_woken_in_time_is_not_late() {
        let mut turns = Turns::default();
        for turn in 0..1000 {
            let now = ms(4 * turn);
            turns.begin(now);
            turns.end(now, Some(now + Duration::from_millis(4)), turn % 2 == 0);
        }
        let spread = turns.spread();
        assert_eq!(spread.count, 1000);
        // A device with more packets was due at once, but was read after 4 ms.
        assert_eq!(spread.max, Duration::from_millis(4));
        assert_eq!(spread.p50, Duration::ZERO);
    }
}
