//! What a subflow has sent and not yet had acknowledged (RFC 6675's scoreboard).
//!
//! Owns the segments in flight and the counts over them. Decides nothing.

use std::collections::VecDeque;

use bytes::Bytes;
use mptcp_clock::Instant;

/// A mapping that a segment is a part of: its first byte, as offsets, and all of its payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Whole {
    pub start: u64,
    pub data: u64,
    pub payload: Bytes,
}

/// One segment in flight.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    /// Offset of its first byte.
    pub start: u64,
    /// Connection-level offset of its first byte.
    pub data: u64,
    pub payload: Bytes,
    /// What was sent as one and is in parts now: each part carries the mapping of the whole, because one
    /// that differs is invalid while the first holds (RFC 8684 section 3.3.1).
    pub whole: Option<Box<Whole>>,
    pub sent_at: Instant,
    /// Carries the FIN after its payload.
    pub fin: bool,
    pub sacked: bool,
    pub lost: bool,
    /// A retransmission of it is in flight.
    pub resent: bool,
    /// Was ever retransmitted: gives no round-trip time (Karn).
    pub ever_resent: bool,
}

impl Sent {
    pub(crate) fn length(&self) -> u64 {
        self.payload.len() as u64 + u64::from(self.fin)
    }

    pub(crate) fn end(&self) -> u64 {
        self.start + self.length()
    }

    /// Remembers the mapping before a part is cut off.
    fn keep_whole(&mut self) {
        let Self { start, data, payload, .. } = self;
        let whole = || Box::new(Whole { start: *start, data: *data, payload: payload.clone() });
        self.whole.get_or_insert_with(whole);
    }
}

#[derive(Debug, Default)]
pub(crate) struct Scoreboard {
    pub queue: VecDeque<Sent>,
    /// Oldest offset not acknowledged.
    pub una: u64,
    /// Next offset to send.
    pub next: u64,
    pub sacked: u64,
    pub lost: u64,
    pub resent: u64,
    /// Right edge of everything acknowledged selectively.
    pub highest_sacked: u64,
    /// No lost segment stands before this position.
    pub hint: usize,
}

impl Scoreboard {
    /// RFC 6675's pipe: bytes believed to be in the network.
    pub(crate) fn in_flight(&self) -> u64 {
        (self.next - self.una + self.resent).saturating_sub(self.sacked + self.lost)
    }

    pub(crate) fn push(&mut self, sent: Sent) {
        self.next = sent.end();
        self.queue.push_back(sent);
    }

    /// Takes the first segment off when `ack` covers it whole.
    pub(crate) fn pop_acknowledged(&mut self, ack: u64) -> Option<Sent> {
        let sent = self.queue.pop_front_if(|sent| sent.end() <= ack)?;
        let length = sent.length();
        self.una = sent.end();
        self.hint = self.hint.saturating_sub(1);
        self.forget(&sent, length);
        Some(sent)
    }

    fn forget(&mut self, sent: &Sent, length: u64) {
        if sent.sacked {
            self.sacked -= length;
        }
        if sent.lost {
            self.lost -= length;
        }
        if sent.resent {
            self.resent -= length;
        }
    }

    /// The front segment is acknowledged in part: cuts that part off.
    pub(crate) fn trim_front(&mut self, ack: u64) {
        let Some(front) = self.queue.front_mut() else { return };
        if ack <= front.start || ack >= front.end() {
            return;
        }
        let cut = (ack - front.start).min(front.payload.len() as u64);
        front.keep_whole();
        front.payload = front.payload.slice(cut as usize..);
        front.start += cut;
        front.data += cut;
        self.una = front.start;
        self.sacked -= if front.sacked { cut } else { 0 };
        self.lost -= if front.lost { cut } else { 0 };
        self.resent -= if front.resent { cut } else { 0 };
    }

    /// Makes two segments of the one at this position: the first keeps `length` bytes of payload.
    pub(crate) fn split(&mut self, at: usize, length: u64) {
        let Some(first) = self.queue.get_mut(at) else { return };
        if length == 0 || length >= first.payload.len() as u64 {
            return;
        }
        first.keep_whole();
        let mut second = first.clone();
        first.payload.truncate(length as usize);
        first.fin = false;
        second.payload = second.payload.slice(length as usize..);
        second.start += length;
        second.data += length;
        self.queue.insert(at + 1, second);
        self.hint = self.hint.min(at);
    }

    /// A block of a selective acknowledgement begins or ends at `offset`: a large segment that holds it
    /// becomes two, at the boundary of frames of `mss` bytes before or after it.
    pub(crate) fn split_near(&mut self, offset: u64, mss: u64, after: bool) {
        let at = self.queue.partition_point(|sent| sent.end() <= offset);
        let Some(sent) = self.queue.get(at).filter(|sent| sent.payload.len() as u64 > mss) else { return };
        let within = offset.saturating_sub(sent.start);
        let frames = if after { within.div_ceil(mss) } else { within / mss };
        self.split(at, frames * mss);
    }

    /// Whether any of the connection's bytes in `[from, to)` is in flight here.
    pub(crate) fn holds(&self, from: u64, to: u64) -> bool {
        self.queue.iter().any(|sent| sent.data < to && from < sent.data + sent.payload.len() as u64)
    }

    /// Positions of the segments that lie wholly in `[left, right)`.
    pub(crate) fn positions(&self, left: u64, right: u64) -> std::ops::Range<usize> {
        let from = self.queue.partition_point(|sent| sent.start < left);
        let to = self.queue.partition_point(|sent| sent.end() <= right);
        from..to.max(from)
    }

    /// Returns whether it was news.
    pub(crate) fn mark_sacked(&mut self, at: usize) -> bool {
        let sent = &mut self.queue[at];
        if sent.sacked {
            return false;
        }
        let length = sent.length();
        self.sacked += length;
        if std::mem::take(&mut sent.lost) {
            self.lost -= length;
        }
        if std::mem::take(&mut sent.resent) {
            self.resent -= length;
        }
        sent.sacked = true;
        self.highest_sacked = self.highest_sacked.max(sent.end());
        true
    }

    pub(crate) fn mark_lost(&mut self, at: usize) {
        let sent = &mut self.queue[at];
        if sent.sacked {
            return;
        }
        let length = sent.length();
        if std::mem::take(&mut sent.resent) {
            self.resent -= length;
        }
        if !std::mem::replace(&mut sent.lost, true) {
            self.lost += length;
        }
        self.hint = self.hint.min(at);
    }

    pub(crate) fn mark_resent(&mut self, at: usize, now: Instant) {
        let sent = &mut self.queue[at];
        sent.sent_at = now;
        sent.ever_resent = true;
        if !std::mem::replace(&mut sent.resent, true) {
            self.resent += sent.length();
        }
    }

    /// What was acknowledged selectively counts no more (RFC 2018 section 8).
    pub(crate) fn forget_reports(&mut self) {
        self.queue.iter_mut().for_each(|sent| sent.sacked = false);
        self.sacked = 0;
    }

    /// Over: nothing is in flight any more.
    pub(crate) fn clear(&mut self) {
        self.queue.clear();
        if self.una > 0 {
            self.una = self.next;
        }
        (self.sacked, self.lost, self.resent, self.hint) = (0, 0, 0, 0);
    }

    /// A timeout: nothing that was not acknowledged selectively is still under way.
    pub(crate) fn mark_all_lost(&mut self) {
        for at in 0..self.queue.len() {
            self.mark_lost(at);
        }
    }

    /// Position of the first lost segment that was not sent again.
    pub(crate) fn next_lost(&mut self) -> Option<usize> {
        if self.lost == 0 {
            return None;
        }
        while let Some(sent) = self.queue.get(self.hint) {
            if sent.lost && !sent.resent {
                return Some(self.hint);
            }
            self.hint += 1;
        }
        None
    }
}
