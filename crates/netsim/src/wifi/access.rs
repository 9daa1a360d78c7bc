//! When a station may send: the distributed coordination function (IEEE 802.11-2016, section 10.3).
//!
//! Owns one contender's backoff. Knows nothing of frames, and nobody else: it is told when the
//! medium becomes busy and when it is idle again.

use mptcp_clock::{Duration, Instant, Rng};

use super::parameters::{CellParameters, Countdown};
use super::phy::Phy;

#[derive(Clone, Debug)]
pub(crate) struct Access {
    /// Transmissions that it senses, its own included.
    busy: u32,
    /// Slots still to count from `start` on.
    slots: u32,
    /// While idle: when counting began or will begin, DIFS or EIFS after the medium fell idle.
    start: Instant,
    /// When it will send; [`Instant::FAR_FUTURE`] if it has nothing to send, or must wait for silence.
    pub(crate) fires: Instant,
    /// Whether it has something to send.
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

    /// There is something to send from `now` on. A frame that finds the medium idle, and no backoff
    /// left from the last one, goes at once.
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

    /// There is nothing to send any more.
    pub(crate) fn rest(&mut self) {
        self.pending = false;
        self.fires = Instant::FAR_FUTURE;
    }

    /// A transmission that it senses, or its own, begins at `now`.
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

    /// A transmission that it sensed ends at `now`; it may count again after `wait` of silence.
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

    /// Its transmission is over, before the medium is released. `settled` if the next one is for
    /// another frame, `again` if there is one.
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

    /// It begins to send: the backoff is used up.
    pub(crate) fn begin(&mut self) {
        self.slots = 0;
        self.drawn = false;
    }
}

#[cfg(test)]
mod tests;
