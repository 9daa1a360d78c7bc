//! The control law of CoDel (RFC 8289): when the time that frames wait has stayed above a target for an interval, one is
//! dropped, and then one after another at distances that shrink.
//!
//! Owns the control state of one queue. Sees times only; its caller drops or marks.

use mptcp_clock::{Duration, Instant};

#[derive(Debug)]
pub(crate) struct CoDelLaw {
    target: Duration,
    interval: Duration,
    /// A backlog of no more than a full frame is never too long (RFC 8289 section 4.4: MAXPACKET).
    frame: u64,
    /// When the sojourn time will have been above target for an interval.
    above_at: Option<Instant>,
    dropping: bool,
    next_drop: Instant,
    count: u32,
    last_count: u32,
}

impl CoDelLaw {
    pub(crate) fn new(target: Duration, interval: Duration, frame: u32) -> Self {
        Self {
            target,
            interval,
            frame: u64::from(frame),
            above_at: None,
            dropping: false,
            next_drop: Instant::ZERO,
            count: 0,
            last_count: 0,
        }
    }

    /// Whether to drop the frame that leaves the queue at `now` after `sojourn`, with `backlog` bytes
    /// still behind it.
    pub(crate) fn drops(&mut self, now: Instant, sojourn: Duration, backlog: u64) -> bool {
        let too_long = self.too_long(now, sojourn, backlog);
        if !too_long {
            self.dropping = false;
            return false;
        }
        if self.dropping {
            if now < self.next_drop {
                return false;
            }
            self.count += 1;
            self.next_drop += self.spacing();
            return true;
        }
        self.dropping = true;
        let recent = now.since(self.next_drop) < self.interval * 16;
        let regained = self.count.saturating_sub(self.last_count);
        self.count = if regained > 1 && recent { regained } else { 1 };
        self.last_count = self.count;
        self.next_drop = now + self.spacing();
        true
    }

    /// Nothing waits any more.
    pub(crate) fn emptied(&mut self) {
        self.above_at = None;
        self.dropping = false;
    }

    fn too_long(&mut self, now: Instant, sojourn: Duration, backlog: u64) -> bool {
        if sojourn < self.target || backlog <= self.frame {
            self.above_at = None;
            return false;
        }
        let above_at = *self.above_at.get_or_insert(now + self.interval);
        now >= above_at
    }

    /// The control law: drops come closer by the square root of their number.
    fn spacing(&self) -> Duration {
        self.interval.mul_f64(1.0 / f64::from(self.count).sqrt())
    }
}

#[cfg(test)]
mod tests;
