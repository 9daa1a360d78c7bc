//! The writing application and the end of the stream.
//!
//! Transmission reads this state to hold small segments back and to end the stream. Owns the state of the
//! writer (blocked, corked, closed) and of the DATA_FIN. Never stores written bytes (`send_buffer`).

use mptcp_clock::{Duration, Instant};

/// Unsent bytes below which any space wakes a blocked writer.
const LOW_UNSENT: u64 = 16_384;

/// The time since the last wake-up after which a writer counts as application-limited.
const APP_LIMITED_AFTER: Duration = Duration::from_millis(200);

/// The state of the writing application.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    closed: bool,
    is_blocked: bool,
    /// When the writer was last notified of space.
    woken_at: Option<Instant>,
    corked: bool,
    /// The last write announced more data (MSG_MORE).
    more: bool,
    pushing: bool,
}

impl Writer {
    /// Notes that no more data will be written.
    pub(crate) fn close(&mut self) {
        self.closed = true;
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Whether the writer waits for space.
    pub(crate) fn is_blocked(&self) -> bool {
        self.is_blocked
    }

    pub(crate) fn set_blocked(&mut self, waits: bool) {
        self.is_blocked = waits;
    }

    pub(crate) fn note_woken(&mut self, now: Instant) {
        self.woken_at = Some(now);
    }

    /// Whether the writer is application-limited: it is not blocked, was not blocked recently, and is not closed.
    #[inline(always)]
    pub(crate) fn is_app_limited(&self, now: Instant) -> bool {
        !self.is_blocked && self.is_unblocked_for_long(now)
    }

    #[cold]
    fn is_unblocked_for_long(&self, now: Instant) -> bool {
        !self.closed && self.woken_at.is_none_or(|woken| now.since(woken) >= APP_LIMITED_AFTER)
    }

    /// Decides whether to wake a waiting writer: when little is unsent, or a third of the buffer is free, as in Linux.
    /// `requires_third` excludes the first case. A woken writer no longer counts as blocked.
    pub(crate) fn wake(&mut self, unsent: u64, space: u64, buffer: u64, requires_third: bool) -> bool {
        let is_little_unsent = unsent < LOW_UNSENT && !requires_third;
        let wakes = self.is_blocked && space > 0 && (is_little_unsent || space >= buffer / 3);
        self.is_blocked &= !wakes;
        wakes
    }

    /// Whether `held` bytes in a buffer leave too little space to wake the writer.
    #[inline(always)]
    pub(crate) fn stays_blocked(&self, unsent: u64, held: u64, buffer: u64) -> bool {
        unsent >= LOW_UNSENT && buffer.saturating_sub(held) < buffer / 3
    }

    /// Whether small segments wait for more data: TCP_CORK or MSG_MORE.
    pub(crate) fn is_corked_or_more(&self) -> bool {
        self.corked || self.more
    }

    pub(crate) fn set_more(&mut self, more: bool) {
        self.more = more;
    }

    /// Sets Linux's TCP_CORK.
    pub(crate) fn set_cork(&mut self, corked: bool) {
        self.corked = corked;
    }

    /// Whether waiting data is sent once despite Nagle and cork.
    pub(crate) fn is_pushing(&self) -> bool {
        self.pushing
    }

    pub(crate) fn set_pushing(&mut self, pushing: bool) {
        self.pushing = pushing;
    }
}

/// The state of this host's DATA_FIN (RFC 8684 section 3.3.3).
#[derive(Debug, Default)]
pub(crate) struct DataFin {
    sent: bool,
    acknowledged: bool,
    /// Slots of the subflows that have yet to carry the DATA_FIN, in reverse order.
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

    /// Sends the DATA_FIN on these subflows, the last one first.
    pub(crate) fn send_on(&mut self, subflows: impl Iterator<Item = usize>) {
        self.sent = true;
        self.due.clear();
        self.due.extend(subflows);
    }

    /// Takes the next subflow that has to carry the DATA_FIN.
    pub(crate) fn next(&mut self) -> Option<usize> {
        self.due.pop()
    }

    pub(crate) fn forget_due(&mut self) {
        self.due.clear();
    }
}
