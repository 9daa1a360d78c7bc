//! The sending side of the byte stream: what was written and is under way, who writes, how it ends.
//!
//! Owns the writer's wishes and the DATA_FIN; the bytes themselves are `send_buffer`'s.

use mptcp_clock::{Duration, Instant};

/// Unsent bytes below which a waiting writer is woken for any room at all.
const LOW_UNSENT: u64 = 16_384;

/// A writer that has not waited for room for so long writes as it goes.
const APP_LIMITED_AFTER: Duration = Duration::from_millis(200);

/// The application as a writer.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    closed: bool,
    waits: bool,
    /// When it was last told that it waits no longer.
    woken: Option<Instant>,
    corked: bool,
    /// It said that more follows at once.
    more: bool,
    pushing: bool,
}

impl Writer {
    /// It writes no more.
    pub(crate) fn close(&mut self) {
        self.closed = true;
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Whether it waits for room.
    pub(crate) fn is_blocked(&self) -> bool {
        self.waits
    }

    pub(crate) fn set_blocked(&mut self, waits: bool) {
        self.waits = waits;
    }

    pub(crate) fn note_woken(&mut self, now: Instant) {
        self.woken = Some(now);
    }

    /// Whether it writes as it goes: it has not waited for room of late, and may go on.
    #[inline(always)]
    pub(crate) fn is_app_limited(&self, now: Instant) -> bool {
        !self.waits && self.is_unblocked_for_long(now)
    }

    #[cold]
    fn is_unblocked_for_long(&self, now: Instant) -> bool {
        !self.closed && self.woken.is_none_or(|woken| now.since(woken) >= APP_LIMITED_AFTER)
    }

    /// Whether one that waits is told of the room there is: when little is left to send, or when a third
    /// of the buffer is free, as in Linux. It waits no more then.
    /// `patient` where it is the third alone.
    pub(crate) fn wake(&mut self, unsent: u64, room: u64, buffer: u64, patient: bool) -> bool {
        let little = unsent < LOW_UNSENT && !patient;
        let wakes = self.waits && room > 0 && (little || room >= buffer / 3);
        self.waits &= !wakes;
        wakes
    }

    /// Whether one that waits is not told of the room that `held` bytes leave in a buffer.
    #[inline(always)]
    pub(crate) fn stays_blocked(&self, unsent: u64, held: u64, buffer: u64) -> bool {
        unsent >= LOW_UNSENT && buffer.saturating_sub(held) < buffer / 3
    }

    /// Small segments wait for more: it is corked, or has said so.
    pub(crate) fn is_corked_or_more(&self) -> bool {
        self.corked || self.more
    }

    pub(crate) fn set_more(&mut self, more: bool) {
        self.more = more;
    }

    /// Linux's TCP_CORK.
    pub(crate) fn set_cork(&mut self, corked: bool) {
        self.corked = corked;
    }

    /// What waits goes all the same, once.
    pub(crate) fn is_pushing(&self) -> bool {
        self.pushing
    }

    pub(crate) fn set_pushing(&mut self, pushing: bool) {
        self.pushing = pushing;
    }
}

/// The end of our stream (RFC 8684 section 3.3.3).
#[derive(Debug, Default)]
pub(crate) struct DataFin {
    sent: bool,
    acknowledged: bool,
    /// Subflows that are yet to carry it, the last one first.
    due: Vec<usize>,
}

impl DataFin {
    pub(crate) fn is_sent(&self) -> bool {
        self.sent
    }

    pub(crate) fn is_acknowledged(&self) -> bool {
        self.acknowledged
    }

    pub(crate) fn acknowledge(&mut self) {
        self.acknowledged = true;
    }

    /// It goes on these subflows, the last one first.
    pub(crate) fn send_on(&mut self, subflows: impl Iterator<Item = usize>) {
        self.sent = true;
        self.due.clear();
        self.due.extend(subflows);
    }

    /// The next subflow to carry it.
    pub(crate) fn next(&mut self) -> Option<usize> {
        self.due.pop()
    }

    pub(crate) fn forget_due(&mut self) {
        self.due.clear();
    }
}
