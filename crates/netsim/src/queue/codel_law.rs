//! The control law of CoDel (RFC 8289). If the queueing delay exceeds the target for an interval, one packet
//! is dropped, then more at decreasing distances.
//!
//! CoDel, FQ-CoDel and the WiFi interface queue use it. Owns the control state of one queue. Sees only
//! delays and the backlog; the caller drops or marks.

use mptcp_clock::{Duration, Instant};

#[derive(Debug)]
pub(crate) struct CoDelLaw {
    target: Duration,
    interval: Duration,
    /// A backlog of one full frame is always acceptable (MAXPACKET in RFC 8289 section 4.4).
    frame: u64,
    /// Time at which the delay will have exceeded the target for an interval; `None` below the target.
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

    /// Whether to drop the frame that is dequeued at `now` after a queueing delay of `sojourn`, with `backlog`
    /// bytes behind it.
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

    /// Leaves the dropping state, because the queue is empty.
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

    /// Time between drops, proportional to the inverse square root of their number.
    fn spacing(&self) -> Duration {
        self.interval.mul_f64(1.0 / f64::from(self.count).sqrt())
    }
}

#[cfg(test)]
mod tests;
