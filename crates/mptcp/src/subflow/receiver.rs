//! The receiving half of a subflow: it orders payload, detects duplicates, and decides when to acknowledge
//! with which SACK blocks.
//!
//! Owns the subflow's out-of-order queue. Offsets count from the peer's initial sequence number: 0 is the SYN, 1 the
//! first byte. Never handles data sequence numbers.

use arrayvec::ArrayVec;
use bytes::{Buf, Bytes};
use mptcp_clock::{Duration, Instant};

use crate::memory::{Inserted, Reassembly, most_pieces};

/// The maximum delay of an acknowledgement: Linux's minimum (RFC 9293 section 3.8.6.3 permits 500 ms).
pub(crate) const DELAYED_ACK: Duration = Duration::from_millis(40);
/// Segments that are acknowledged without delay at the start, so that slow start is not delayed.
const QUICK_ACKS: u32 = 16;

/// The maximum distance from received data at which a segment's options are processed, bytes. An off-path host hits
/// this range with one of 65,536 segments.
const NEAR: u64 = 65_535;
/// The number and the duration of refusals after which a subflow is stuck. With Linux's minimum RTO of 200 ms, the
/// sender has then retransmitted the payload three times (RFC 6298 section 5.5).
const MAX_REFUSALS: u32 = 3;
const REFUSED_FOR: Duration = Duration::from_secs(1);

/// Refusals of a subflow's next payload without progress of the stream.
#[derive(Clone, Copy, Debug)]
struct Refusals {
    /// The data offset that the stream waits for.
    stuck_at: u64,
    since: Instant,
    count: u32,
}

/// Whether this host's data is likely to carry acknowledgements (Linux's pingpong mode, RFC 9293 section 3.8.6.3).
#[derive(Clone, Copy, Debug, Default)]
struct Answers {
    /// [`crate::LinuxCompat::pingpong`].
    counted: bool,
    expected: bool,
    /// The time of the last in-order data.
    received_at: Instant,
}

/// A range of offsets, `[left, right)`.
pub(crate) type Range = (u64, u64);

/// The result of a payload's reception.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    InOrder,
    OutOfOrder,
    Duplicate,
    /// There is no space for the payload.
    Refused,
}

#[derive(Debug)]
pub(crate) struct Receiver {
    /// The next offset expected.
    next: u64,
    queue: Reassembly,
    /// The blocks to report, the latest first (RFC 2018 section 4).
    recent: ArrayVec<Range, 4>,
    /// A duplicate to report once (RFC 2883).
    duplicate: Option<Range>,
    /// The offset of the peer's FIN.
    fin: Option<u64>,
    /// Payload bytes since the last acknowledgement.
    unacknowledged: u64,
    /// The largest payload received, up to `mss`: the size of a full segment.
    negotiated_mss: u64,
    /// The payload of a full frame. A device may merge several frames into one segment.
    mss: u64,
    /// Unacknowledged data includes the end of a write: a segment with PSH, or one smaller than a full segment.
    pushed: bool,
    quick: u32,
    ack_now: bool,
    delay: bool,
    /// More than one full segment causes an acknowledgement, as in Linux. Otherwise two full segments do (RFC
    /// 9293 section 3.8.6.3).
    eager: bool,
    deadline: Instant,
    answers: Answers,
    /// The highest end of out-of-order payload that passed `is_near` when it arrived.
    reach: u64,
    refusals: Option<Refusals>,
}

impl Receiver {
    /// Creates a receiver. `buffer` is the receive buffer in bytes. Payload is kept in blocks of `block` bytes; 0 means
    /// separate allocations.
    pub(crate) fn new(delay: bool, eager: bool, mss: u16, buffer: u64, block: u64) -> Self {
        Self {
            next: 0,
            queue: Reassembly::new(most_pieces(buffer), block),
            recent: ArrayVec::new(),
            duplicate: None,
            fin: None,
            unacknowledged: 0,
            negotiated_mss: 1,
            mss: mss.into(),
            pushed: false,
            quick: QUICK_ACKS,
            ack_now: false,
            delay,
            eager,
            deadline: Instant::FAR_FUTURE,
            answers: Answers::default(),
            reach: 0,
            refusals: None,
        }
    }

    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Notes the SYN, which has offset 0.
    pub(crate) fn synchronised(&mut self) {
        self.next = 1;
    }

    /// Skips the data of the SYN.
    pub(crate) fn skip(&mut self, length: u64) {
        self.next += length;
    }

    /// Whether a segment at `start` is close enough to received data for its options to be processed. It is then
    /// unlikely to be forged.
    #[inline]
    pub(crate) fn is_near(&self, start: u64) -> bool {
        start <= self.next.max(self.reach) + NEAR
    }

    /// Notes that the next payload was refused while the stream waits for `stuck_at`. Returns whether the subflow is
    /// stuck.
    #[cold]
    pub(crate) fn note_refusal(&mut self, now: Instant, stuck_at: u64) -> bool {
        let refusals = self.refusals.filter(|refusals| refusals.stuck_at == stuck_at);
        let mut refusals = refusals.unwrap_or(Refusals { stuck_at, since: now, count: 0 });
        refusals.count += 1;
        self.refusals = Some(refusals);
        refusals.count >= MAX_REFUSALS && now.since(refusals.since) >= REFUSED_FOR
    }

    /// Data that waits out of order.
    pub(crate) fn queue(&self) -> &Reassembly {
        &self.queue
    }

    /// Drops all waiting data at the end of the subflow.
    pub(crate) fn clear(&mut self) {
        self.queue.clear();
        self.recent.clear();
        self.duplicate = None;
    }

    /// Whether the peer's FIN and all data before it have arrived.
    pub(crate) fn finished(&self) -> bool {
        self.fin.is_some_and(|fin| self.next > fin)
    }

    /// Whether a FIN has arrived, possibly out of order.
    #[inline]
    pub(crate) fn has_fin(&self) -> bool {
        self.fin.is_some()
    }

    /// Whether payload at `start` is next and no data waits out of order.
    #[inline]
    pub(crate) fn takes_at_once(&self, start: u64) -> bool {
        start == self.next && self.queue.is_empty() && self.fin.is_none()
    }

    /// Accepts the next `length` bytes.
    #[inline(always)]
    pub(crate) fn take_next(&mut self, now: Instant, length: u64) {
        self.negotiated_mss = self.negotiated_mss.max(length.min(self.mss));
        self.next += length;
        self.note_in_order(now, length);
    }

    /// Processes payload at `start`. Calls `deliver` with data that is now in order.
    pub(crate) fn on_data(
        &mut self,
        now: Instant,
        start: u64,
        mut payload: Bytes,
        mut deliver: impl FnMut(u64, Bytes),
    ) -> Arrival {
        let length = payload.len() as u64;
        let end = start + length;
        self.negotiated_mss = self.negotiated_mss.max(length.min(self.mss));
        if end <= self.next {
            self.report_duplicate((start, end));
            return Arrival::Duplicate;
        }
        if self.finished() {
            // RFC 9293 section 3.10.7.4: no data follows a FIN.
            self.ack_now = true;
            return Arrival::Refused;
        }
        if self.fin.is_some_and(|fin| end > fin) {
            // Data beyond the FIN shows that the FIN was not the end.
            self.forget_fin();
        }
        if start > self.next {
            self.answers.expected = false;
            let arrival = self.enqueue(start, payload);
            self.ack_now = true;
            return arrival;
        }
        // A FIN that overtook the last data is not in the queue.
        let fills_gap = !self.queue.is_empty() || self.fin == Some(end);
        if start < self.next {
            payload.advance((self.next - start) as usize);
            self.report_duplicate((start, self.next));
        }
        deliver(self.next, payload);
        self.next = end;
        if fills_gap {
            self.drain(&mut deliver);
            // RFC 5681 section 4.2: a filled gap is acknowledged at once.
            self.ack_now = true;
        }
        self.note_in_order(now, length);
        Arrival::InOrder
    }

    /// Processes a FIN at `offset`.
    pub(crate) fn on_fin(&mut self, offset: u64) {
        self.ack_now = true;
        // A FIN before received data is invalid. Of several FINs the last one is valid.
        if self.finished() || offset < self.next {
            return;
        }
        self.forget_fin();
        self.fin = Some(offset);
        if self.next == offset {
            self.next += 1;
        } else {
            // A FIN without its preceding data is reported as an empty range.
            self.note_recent((offset, offset));
        }
    }

    #[cold]
    fn forget_fin(&mut self) {
        self.fin = None;
        self.recent.retain(|block| block.0 < block.1);
    }

    #[inline(never)]
    fn drain(&mut self, deliver: &mut impl FnMut(u64, Bytes)) {
        while let Some((start, mut payload)) = self.queue.take(self.next) {
            let end = start + payload.len() as u64;
            if end > self.next {
                payload.advance((self.next - start) as usize);
                deliver(self.next, payload);
                self.next = end;
            }
        }
        if self.fin == Some(self.next) {
            self.next += 1;
        }
        let next = self.next;
        self.recent.retain(|block| block.1 > next);
    }

    #[inline(never)]
    fn enqueue(&mut self, start: u64, payload: Bytes) -> Arrival {
        let end = start + payload.len() as u64;
        let inserted = self.queue.insert(start, payload);
        if inserted == Inserted::Refused {
            // No SACK block reports this payload, so the peer retransmits it.
            return Arrival::Refused;
        }
        if self.is_near(start) {
            self.reach = self.reach.max(end);
        }
        // RFC 2883 section 4.2.3: the part that was received before.
        let known = |block: &Range| (block.0.max(start), block.1.min(end));
        let known = self.recent.iter().map(known).find(|known| known.0 < known.1);
        self.note_recent((start, end));
        if inserted == Inserted::Known {
            self.report_duplicate((start, end));
            return Arrival::Duplicate;
        }
        if let Some(known) = known {
            self.report_duplicate(known);
        }
        Arrival::OutOfOrder
    }

    /// Adds the latest block at the front (RFC 2018 section 4), merged with adjacent ones.
    fn note_recent(&mut self, mut merged: Range) {
        self.recent.retain(|block| {
            let touches = block.0 <= merged.1 && merged.0 <= block.1;
            if touches {
                merged = (merged.0.min(block.0), merged.1.max(block.1));
            }
            !touches
        });
        if self.recent.is_full() {
            self.recent.pop();
        }
        self.recent.insert(0, merged);
    }

    fn report_duplicate(&mut self, range: Range) {
        self.answers.expected = false;
        self.duplicate = Some(range);
        self.ack_now = true;
    }

    /// Bytes beyond a full segment that cause an acknowledgement (net/ipv4/tcp_input.c, `__tcp_ack_snd_check`).
    fn more(&self) -> u64 {
        if self.eager { 1 } else { self.negotiated_mss }
    }

    fn note_in_order(&mut self, now: Instant, length: u64) {
        self.unacknowledged += length;
        self.answers.received_at = now;
        if self.quick > 0 && !self.answers.expected {
            self.quick -= 1;
            self.ack_now = true;
        } else if !self.delay || self.unacknowledged >= self.negotiated_mss + self.more() {
            self.ack_now = true;
        } else if self.deadline == Instant::FAR_FUTURE {
            self.deadline = now + DELAYED_ACK;
        }
    }

    /// The SACK blocks to send, at most `room`, a duplicate first (RFC 2883 section 4). A FIN extends its block by one
    /// number, or is a block of its own (RFC 2018 section 3).
    pub(crate) fn blocks(&self, room: usize) -> ArrayVec<Range, 4> {
        let recent = self.recent.iter().map(|&(start, end)| (start, end + u64::from(self.fin == Some(end))));
        self.duplicate.into_iter().chain(recent).take(room.min(4)).collect()
    }

    pub(crate) fn has_blocks(&self) -> bool {
        self.duplicate.is_some() || !self.recent.is_empty()
    }

    pub(crate) fn acknowledge_now(&mut self) {
        self.ack_now = true;
    }

    /// Requests an acknowledgement within the time of a delayed one.
    pub(crate) fn acknowledge_soon(&mut self, now: Instant) {
        self.deadline = self.deadline.min(now + DELAYED_ACK);
    }

    /// Whether data was received in order and not acknowledged.
    pub(crate) fn has_delayed_ack(&self) -> bool {
        self.unacknowledged > 0
    }

    /// Notes whether a segment ends a write: `pushed`, or smaller than a full segment.
    pub(crate) fn note_push(&mut self, pushed: bool, length: u64) {
        self.pushed |= pushed || length < self.negotiated_mss;
    }

    /// Acknowledges the end of a write at once after all data was read (net/ipv4/tcp.c, `__tcp_cleanup_rbuf`).
    pub(crate) fn on_all_read(&mut self) {
        let owes = self.pushed && self.unacknowledged > 0 && self.queue.is_empty();
        self.ack_now |= owes && !self.answers.expected;
    }

    pub(crate) fn wants_ack(&self) -> bool {
        self.ack_now
    }

    /// Notes that an acknowledgement is sent.
    pub(crate) fn acknowledged(&mut self) {
        self.ack_now = false;
        self.pushed = false;
        self.unacknowledged = 0;
        self.duplicate = None;
        self.deadline = Instant::FAR_FUTURE;
    }

    pub(crate) fn deadline(&self) -> Instant {
        self.deadline
    }

    pub(crate) fn on_deadline(&mut self) {
        self.deadline = Instant::FAR_FUTURE;
        self.ack_now = true;
        // No data of this host carried the acknowledgement.
        self.answers.expected = false;
    }

    /// Delays acknowledgements while the application is likely to answer (pingpong mode).
    pub(crate) fn expect_answers(&mut self) {
        self.answers.counted = true;
    }

    /// Notes the end of the handshake, which counts as received data (net/ipv4/tcp_input.c, `tcp_finish_connect`).
    pub(crate) fn opened(&mut self, now: Instant) {
        self.answers.received_at = now;
    }

    /// Notes that this host sends data.
    #[inline]
    pub(crate) fn data_sent(&mut self, now: Instant) {
        self.answers.expected |= self.answers.counted && now.since(self.answers.received_at) < DELAYED_ACK;
    }
}
