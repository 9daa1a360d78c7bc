//! The sending side of the byte stream: what was written and is under way, who writes, how it ends.
//!
//! Owns the writer's wishes and the DATA_FIN; the bytes themselves are `send_buffer`'s.

use mptcp_clock::{Duration, Instant};

use crate::connection::stream::send_buffer::SendBuffer;

/// Unsent bytes below which a waiting writer is woken for any room at all.
const LOW_UNSENT: u64 = 16_384;

/// A writer that has not waited for room for so long writes as it goes.
const APP_LIMITED_AFTER: Duration = Duration::from_millis(200);

#[derive(Debug, Default)]
pub(crate) struct SendStream {
    pub(crate) buffer: SendBuffer,
    pub(crate) writer: Writer,
    pub(crate) fin: DataFin,
    /// The size that M3 last gave the buffer, bytes.
    pub(crate) tuned: u64,
    /// All that is under way from this offset of the stream on goes again, as Linux has it.
    pub(crate) again: Option<u64>,
    /// Data-level timeouts in a row, at most 255, since this offset was the first that was not acknowledged.
    pub(crate) late: (u64, u8),
    /// Bytes that a further subflow carried, and those of them that M1 gave it.
    pub(crate) reinjected: u64,
    pub(crate) opportunistic: u64,
    /// Those of M1's that were copied before they were late.
    pub(crate) copied: u64,
    pub(crate) receipt_query: ReceiptQuery,
}

/// Whether the peer was asked if it lacks data that its only subflow has acknowledged, since some was acknowledged last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ReceiptQuery {
    #[default]
    None,
    Asked,
    Answered,
}

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
    pub(crate) fn waits(&self) -> bool {
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
    pub(crate) fn streams(&self, now: Instant) -> bool {
        !self.waits && self.has_settled(now)
    }

    #[cold]
    fn has_settled(&self, now: Instant) -> bool {
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
    pub(crate) fn needs_more(&self, unsent: u64, held: u64, buffer: u64) -> bool {
        unsent >= LOW_UNSENT && buffer.saturating_sub(held) < buffer / 3
    }

    /// Small segments wait for more: it is corked, or has said so.
    pub(crate) fn holds_back(&self) -> bool {
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
