//! Medium access of one contender: the distributed coordination function (IEEE 802.11-2016, section 10.3).
//!
//! A contender is a station, access point or background station that wants the medium. Owns its backoff,
//! which decides when it sends. The caller reports when the medium becomes busy and idle. Knows no frames.

use mptcp_clock::{Duration, Instant, Rng};

use super::parameters::{CellParameters, Countdown};
use super::phy::Phy;

#[derive(Clone, Debug)]
pub(crate) struct Access {
    /// Number of transmissions that the contender senses, including its own.
    busy: u32,
    /// Remaining backoff slots from `start` on.
    slots: u32,
    /// While idle: start of the countdown, DIFS or EIFS after the medium became idle.
    start: Instant,
    /// Time of the next transmission; [`Instant::FAR_FUTURE`] without a frame, or while the medium is busy.
    pub(crate) fires: Instant,
    /// Whether the contender has a frame to send.
    pending: bool,
    /// Whether a backoff was drawn since the last transmission.
    drawn: bool,
    every_slot: bool,
    window: u32,
    narrow: u32,
    wide: u32,
    slot: Duration,
}

impl Access {
    pub(crate) fn new(cell: &CellParameters, phy: &Phy, now: Instant) -> Self {
        Self {
            busy: 0,
            slots: 0,
            start: now + phy.difs,
            fires: Instant::FAR_FUTURE,
            pending: false,
            drawn: false,
            every_slot: cell.countdown == Countdown::EverySlot,
            window: cell.cw_min,
            narrow: cell.cw_min,
            wide: cell.cw_max,
            slot: phy.slot,
        }
    }

    /// The contender has a frame to send from `now` on. It sends at once if the medium is idle and no backoff
    /// remains.
    pub(crate) fn want(&mut self, now: Instant, stream: &mut Rng) {
        if self.pending {
            return;
        }
        self.pending = true;
        if self.busy > 0 {
            if self.slots == 0 {
                self.draw(stream);
            }
            return;
        }
        self.fires = self.start + self.slot * u64::from(self.slots);
        if self.fires < now {
            (self.fires, self.start, self.slots) = (now, now, 0);
        }
        self.drawn &= self.slots > 0;
    }

    /// The contender has no more frames.
    pub(crate) fn rest(&mut self) {
        self.pending = false;
        self.fires = Instant::FAR_FUTURE;
    }

    /// A transmission that the contender senses, or its own, starts at `now`.
    #[inline]
    pub(crate) fn seize(&mut self, now: Instant, stream: &mut Rng) {
        self.busy += 1;
        if self.busy > 1 {
            return;
        }
        if self.slots > 0 && now >= self.start {
            let passed = now.since(self.start).as_nanos() / self.slot.as_nanos() + u64::from(self.every_slot);
            self.slots = u64::from(self.slots).saturating_sub(passed) as u32;
        } else if self.pending && self.slots == 0 && !self.drawn && self.fires > now {
            self.draw(stream);
        }
        self.fires = Instant::FAR_FUTURE;
    }

    /// A sensed transmission ends at `now`. The countdown resumes after `wait` of idle medium.
    #[inline]
    pub(crate) fn release(&mut self, now: Instant, wait: Duration) {
        self.busy -= 1;
        if self.busy == 0 {
            self.start = now + wait;
            if self.pending {
                self.fires = self.start + self.slot * u64::from(self.slots);
            }
        }
    }

    /// The contender's transmission is over, before the medium is released. `settled` means that the frame
    /// was acknowledged or given up, `again` that there is another frame.
    pub(crate) fn sent(&mut self, settled: bool, again: bool, stream: &mut Rng) {
        self.window = if settled {
            self.narrow
        } else {
            self.window.saturating_mul(2).saturating_add(1).min(self.wide)
        };
        self.pending = again;
        self.draw(stream);
    }

    fn draw(&mut self, stream: &mut Rng) {
        self.slots = stream.below(u64::from(self.window) + 1) as u32;
        self.drawn = true;
    }

    /// The contender starts to send, with its backoff used up.
    pub(crate) fn begin(&mut self) {
        self.slots = 0;
        self.drawn = false;
    }
}

#[cfg(test)]
mod tests;
