//! The receiving half of a subflow: order, duplicates, SACK blocks, and when to acknowledge.
//!
//! Owns the subflow's out-of-order queue. Offsets count from the peer's initial sequence number:
//! 0 is the SYN, 1 the first byte. Knows nothing of data sequence numbers.

use arrayvec::ArrayVec;
use bytes::{Buf, Bytes};
use mptcp_clock::{Duration, Instant};

use crate::memory::{Inserted, Reassembly, most_pieces};

/// How long an acknowledgement may wait: Linux's minimum (RFC 9293 section 3.8.6.3 allows 500 ms).
pub(crate) const DELAYED_ACK: Duration = Duration::from_millis(40);
/// Segments acknowledged at once at the start, so that slow start is not slowed.
const QUICK_ACKS: u32 = 16;

/// How far beyond the last payload that is here a segment may begin whose options count, bytes: a host that cannot see the
/// connection hits this range with one of 65,536 segments.
const NEAR: u64 = 65_535;
/// A subflow is stuck after so many refusals of its next payload, which span at least this time: a sender with Linux's timeout of
/// 200 ms has then retransmitted it three times (RFC 6298 section 5.5).
const MAX_REFUSALS: u32 = 3;
const REFUSED_FOR: Duration = Duration::from_secs(1);

/// Refusals of the next payload of a subflow while the stream made no progress.
#[derive(Clone, Copy, Debug)]
struct Refusals {
    /// The offset that the stream waits for.
    stuck_at: u64,
    since: Instant,
    count: u32,
}

/// Whether the host's own data is likely to carry an acknowledgement (Linux's pingpong mode, RFC 9293 section 3.8.6.3).
#[derive(Clone, Copy, Debug, Default)]
struct Answers {
    /// [`crate::LinuxCompat::pingpong`].
    counted: bool,
    expected: bool,
    /// When data arrived last in order.
    received_at: Instant,
}

/// A range of offsets, `[left, right)`.
pub(crate) type Range = (u64, u64);

/// What became of a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    InOrder,
    OutOfOrder,
    Duplicate,
    /// There is no place for it.
    Refused,
}

#[derive(Debug)]
pub(crate) struct Receiver {
    /// Next offset expected.
    next: u64,
    queue: Reassembly,
    /// Blocks to report, the latest first (RFC 2018 section 4).
    recent: ArrayVec<Range, 4>,
    /// A duplicate to report once (RFC 2883).
    duplicate: Option<Range>,
    /// Offset of the peer's FIN.
    fin: Option<u64>,
    /// Payload bytes since the last acknowledgement left.
    unacknowledged: u64,
    /// The largest payload seen, up to `mss`: what counts as a full segment.
    negotiated_mss: u64,
    /// What a frame can bring; a device may hand over several in one segment.
    mss: u64,
    /// Of these, something ended what was written, or looked so.
    pushed: bool,
    quick: u32,
    ack_now: bool,
    delay: bool,
    /// More than a full segment is enough for an acknowledgement, as for Linux; without, two are (RFC 9293 section 3.8.6.3).
    eager: bool,
    deadline: Instant,
    answers: Answers,
    /// Offset behind the last payload that was near when it arrived: one far ahead in the window makes nothing near.
    reach: u64,
    refusals: Option<Refusals>,
}

impl Receiver {
    /// `buffer` is the receive buffer; payload is slices of blocks of `block` bytes (0: it has memory of its own).
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

    /// The SYN has come: offset 0 is used.
    pub(crate) fn synchronised(&mut self) {
        self.next = 1;
    }

    /// The SYN carried data.
    pub(crate) fn skip(&mut self, length: u64) {
        self.next += length;
    }

    /// Whether a segment at `start` is so near to what is here that it is hardly a guess: its options count.
    #[inline]
    pub(crate) fn is_near(&self, start: u64) -> bool {
        start <= self.next.max(self.reach) + NEAR
    }

    /// The next payload found no space, while the stream waits for its offset `stuck_at`. Returns whether the subflow is stuck.
    #[cold]
    pub(crate) fn note_refusal(&mut self, now: Instant, stuck_at: u64) -> bool {
        let refusals = self.refusals.filter(|refusals| refusals.stuck_at == stuck_at);
        let mut refusals = refusals.unwrap_or(Refusals { stuck_at, since: now, count: 0 });
        refusals.count += 1;
        self.refusals = Some(refusals);
        refusals.count >= MAX_REFUSALS && now.since(refusals.since) >= REFUSED_FOR
    }

    /// What waits out of order.
    pub(crate) fn queue(&self) -> &Reassembly {
        &self.queue
    }

    /// Over: nothing is waited for any more.
    pub(crate) fn clear(&mut self) {
        self.queue.clear();
        self.recent.clear();
        self.duplicate = None;
    }

    /// Whether the peer's FIN and everything before it are here.
    pub(crate) fn finished(&self) -> bool {
        self.fin.is_some_and(|fin| self.next > fin)
    }

    /// Whether a FIN of the peer's has come, with or without all before it.
    #[inline]
    pub(crate) fn has_fin(&self) -> bool {
        self.fin.is_some()
    }

    /// Whether payload at `start` is next, and nothing waits behind it.
    #[inline]
    pub(crate) fn takes_at_once(&self, start: u64) -> bool {
        start == self.next && self.queue.is_empty() && self.fin.is_none()
    }

    /// Takes the `length` bytes that are next.
    #[inline(always)]
    pub(crate) fn take_next(&mut self, now: Instant, length: u64) {
        self.negotiated_mss = self.negotiated_mss.max(length.min(self.mss));
        self.next += length;
        self.note_in_order(now, length);
    }

    /// Takes a payload at `start`; hands what is now in order to `deliver`.
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
            // RFC 9293 section 3.10.7.4: nothing follows a FIN.
            self.ack_now = true;
            return Arrival::Refused;
        }
        if self.fin.is_some_and(|fin| end > fin) {
            // There is more: that was not the end.
            self.forget_fin();
        }
        if start > self.next {
            self.answers.expected = false;
            let arrival = self.enqueue(start, payload);
            self.ack_now = true;
            return arrival;
        }
        // A FIN that overtook the last data waits alone.
        let is_cwnd_limited = !self.queue.is_empty() || self.fin == Some(end);
        if start < self.next {
            payload.advance((self.next - start) as usize);
            self.report_duplicate((start, self.next));
        }
        deliver(self.next, payload);
        self.next = end;
        if is_cwnd_limited {
            self.drain(&mut deliver);
            // RFC 5681 section 4.2: at once when a gap is filled, even in part.
            self.ack_now = true;
        }
        self.note_in_order(now, length);
        Arrival::InOrder
    }

    /// Takes a FIN at `offset`.
    pub(crate) fn on_fin(&mut self, offset: u64) {
        self.ack_now = true;
        // One that would stand before data already taken is no end of this stream; of others the last one counts.
        if self.finished() || offset < self.next {
            return;
        }
        self.forget_fin();
        self.fin = Some(offset);
        if self.next == offset {
            self.next += 1;
        } else {
            // One that comes alone is reported as well: it is a range without data.
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
            // Not reported: the peer sends it again.
            return Arrival::Refused;
        }
        if self.is_near(start) {
            self.reach = self.reach.max(end);
        }
        // RFC 2883 section 4.2.3: what of it is here already.
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

    /// What came last is the first of the blocks (RFC 2018 section 4), with what lies beside it.
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

    /// What has to come beside a full segment for an acknowledgement (net/ipv4/tcp_input.c, `__tcp_ack_snd_check`).
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

    /// SACK blocks to send, at most `room` of them, a duplicate first (RFC 2883 section 4). The number of a FIN behind a block's data is
    /// in it, and one that came alone is a block (RFC 2018 section 3): what brought it has arrived whole.
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

    /// Something should be told, and may wait for other news: as long as a delayed acknowledgement.
    pub(crate) fn acknowledge_soon(&mut self, now: Instant) {
        self.deadline = self.deadline.min(now + DELAYED_ACK);
    }

    /// Whether something came in order that was not acknowledged yet.
    pub(crate) fn owes_acknowledgement(&self) -> bool {
        self.unacknowledged > 0
    }

    /// A segment that was pushed or not, of `length` bytes, has come. One that is small looks like the end of something.
    pub(crate) fn note_push(&mut self, pushed: bool, length: u64) {
        self.pushed |= pushed || length < self.negotiated_mss;
    }

    /// All that has come was read: an end is acknowledged at once (net/ipv4/tcp.c, `__tcp_cleanup_rbuf`).
    pub(crate) fn on_all_read(&mut self) {
        let owes = self.pushed && self.unacknowledged > 0 && self.queue.is_empty();
        self.ack_now |= owes && !self.answers.expected;
    }

    pub(crate) fn wants_ack(&self) -> bool {
        self.ack_now
    }

    /// An acknowledgement leaves with this segment.
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
        // No answer carried it.
        self.answers.expected = false;
    }

    /// Acknowledgements wait for the application's answers, where these follow soon.
    pub(crate) fn expect_answers(&mut self) {
        self.answers.counted = true;
    }

    /// The handshake is over, which counts as an arrival (net/ipv4/tcp_input.c, `tcp_finish_connect`).
    pub(crate) fn opened(&mut self, now: Instant) {
        self.answers.received_at = now;
    }

    /// The host sends data.
    #[inline]
    pub(crate) fn data_sent(&mut self, now: Instant) {
        self.answers.expected |= self.answers.counted && now.since(self.answers.received_at) < DELAYED_ACK;
    }
}
