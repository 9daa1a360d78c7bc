//! What a subflow has sent and not yet had acknowledged (RFC 6675's scoreboard).
//!
//! Owns the segments in flight, the counts over them, and orders in which they are found: by offset, by what was
//! reported, lost or sent again. Nothing here walks the whole flight, but what a timeout asks for. Decides
//! nothing.
//!
//! Reports on segments: selective acknowledgements in, and what they tell of the other segments.
//!
//! One segment in flight.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use bytes::Bytes;
use mptcp_clock::Instant;

use crate::subflow::delivery_rate::Rates;

/// Places for segments that an idle subflow keeps.
const MAX_IDLE_CAPACITY: usize = 4096;
/// Segments that are looked at for a gap.
const NEAR: usize = 64;

#[derive(Debug, Default)]
pub(crate) struct Scoreboard {
    pub queue: VecDeque<SentSegment>,
    /// Oldest offset not acknowledged.
    pub una: u64,
    /// Next offset to send.
    pub next: u64,
    pub sacked: u64,
    pub lost: u64,
    pub retransmitted: u64,
    /// Bytes that were found lost so far, each time, and where the last of them began.
    pub marked: u64,
    pub last_marked: u64,
    /// Ranges of segments that were acknowledged selectively, by their starts; they do not touch.
    ranges: BTreeMap<u64, u64>,
    /// Starts of segments that are lost and were not sent again.
    waiting: BTreeSet<u64>,
    /// Segments that were sent again and may arrive yet, by time and end.
    again: BTreeSet<(Instant, u64)>,
    /// Below it each segment was reported, sent again or found lost.
    pub settled: u64,
    /// What is remembered of each transmission, where the controller works by the rate at which they arrive.
    pub rates: Option<Box<Rates>>,
    /// Offsets behind the last two segments that were smaller than the MSS, the latest first.
    small_ends: [u64; 2],
}

impl Scoreboard {
    /// With nothing in flight, and `next` to be sent first.
    pub(crate) fn starting_at(next: u64) -> Self {
        Self { next, ..Self::default() }
    }

    /// RFC 6675's pipe: bytes believed to be in the network.
    pub(crate) fn in_flight(&self) -> u64 {
        (self.next - self.una + self.retransmitted).saturating_sub(self.sacked + self.lost)
    }

    /// The segment in flight whose last byte is before the offset `end`.
    pub(crate) fn outstanding(&self, end: u64) -> Option<&SentSegment> {
        let at = self.first_not(self.guess(end), |sent| sent.end() < end);
        self.queue.get(at).filter(|sent| sent.start < end)
    }

    /// The last segment before the offset `end` that was lost, whether it has been sent again or not: what has arrived behind it waits
    /// there. The nearest [`NEAR`] are looked at.
    pub(crate) fn gap_before(&self, end: u64) -> Option<&SentSegment> {
        if self.lost == 0 && self.retransmitted == 0 {
            return None;
        }
        let behind = self.first_not(self.guess(end), |sent| sent.end() < end).min(self.queue.len());
        let mut at = behind;
        while behind - at < NEAR {
            let sent = self.queue.get(at.checked_sub(1)?)?;
            if sent.sacked {
                // All of a range at once.
                let (from, _) = self.ranges.range(..=sent.start).next_back()?;
                at = self.first_not(self.guess(*from), |sent| sent.start < *from).min(at - 1);
            } else if sent.lost || sent.retransmitted {
                return Some(sent);
            } else {
                at -= 1;
            }
        }
        None
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, sent: SentSegment) {
        self.next = sent.end();
        self.queue.push_back(sent);
    }

    /// Takes the first segment off when `ack` covers it whole, and shows it to `look` before.
    #[inline]
    pub(crate) fn take_acknowledged(&mut self, ack: u64, mut look: impl FnMut(&SentSegment)) -> bool {
        let Some(sent) = self.queue.front().filter(|sent| sent.end() <= ack) else { return false };
        look(sent);
        self.una = sent.end();
        if sent.sacked || sent.lost || sent.retransmitted {
            self.forget_first();
        }
        self.queue.pop_front();
        true
    }

    #[inline(never)]
    fn forget_first(&mut self) {
        let Some(sent) = self.queue.front() else { return };
        let length = sent.length();
        if sent.sacked {
            self.sacked -= length;
        }
        if sent.lost {
            self.lost -= length;
            self.waiting.remove(&sent.start);
        }
        if sent.retransmitted {
            self.retransmitted -= length;
            self.again.remove(&(sent.sent_at, sent.end()));
        }
    }

    /// All before `una` is acknowledged: reports about it say nothing more.
    pub(crate) fn trim_ranges(&mut self) {
        if self.queue.is_empty() {
            self.queue.shrink_to(MAX_IDLE_CAPACITY);
        }
        while let Some(first) = self.ranges.first_entry().filter(|entry| *entry.key() < self.una) {
            let end = first.remove();
            if end > self.una {
                self.ranges.insert(self.una, end);
            }
        }
    }

    /// The front segment is acknowledged in part: cuts that part off.
    #[inline(never)]
    pub(crate) fn trim_front(&mut self, ack: u64) {
        let Some(front) = self.queue.front_mut() else { return };
        if ack <= front.start || ack >= front.end() {
            return;
        }
        let cut = (ack - front.start).min(front.payload.len() as u64);
        front.keep_whole();
        if front.lost && !front.retransmitted {
            self.waiting.remove(&front.start);
            self.waiting.insert(front.start + cut);
        }
        front.payload = front.payload.slice(cut as usize..);
        front.start += cut;
        front.data += cut;
        self.una = front.start;
        self.sacked -= if front.sacked { cut } else { 0 };
        self.lost -= if front.lost { cut } else { 0 };
        self.retransmitted -= if front.retransmitted { cut } else { 0 };
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
        if first.retransmitted {
            self.again.insert((first.sent_at, first.end()));
        } else if first.lost {
            self.waiting.insert(second.start);
        }
        self.queue.insert(at + 1, second);
    }

    /// A block of a selective acknowledgement begins or ends within a large segment: that becomes frames of `mss` bytes, all of
    /// them at once, because others of its frames will be reported too. Not where there would be more than `most` segments.
    pub(crate) fn split_near(&mut self, offset: u64, mss: u64, most: usize) {
        let at = self.position(offset);
        let Some(sent) = self.queue.get(at).filter(|sent| sent.payload.len() as u64 > mss) else { return };
        let frames = (sent.payload.len() as u64).div_ceil(mss);
        if offset <= sent.start || self.queue.len() + frames as usize > most {
            return;
        }
        let mut behind = self.queue.split_off(at + 1);
        for frame in 0..frames as usize - 1 {
            self.split(at + frame, mss);
        }
        self.queue.append(&mut behind);
    }

    /// Position of the first segment that ends behind `offset`.
    pub(crate) fn position(&self, offset: u64) -> usize {
        self.first_not(self.guess(offset), |sent| sent.end() <= offset)
    }

    /// About where `offset` is, as if all segments were equally long, which most are.
    fn guess(&self, offset: u64) -> usize {
        let within = offset.saturating_sub(self.una).min(self.next - self.una);
        // Where the product is too large it is a bad guess, and no more.
        (within.saturating_mul(self.queue.len() as u64) / (self.next - self.una).max(1)) as usize
    }

    /// Position of the first segment that is not as `before` says, where all that are stand first: as
    /// [`VecDeque::partition_point`], from a guess on, because segments are large and far apart in memory.
    pub(crate) fn first_not(&self, guess: usize, before: impl Fn(&SentSegment) -> bool) -> usize {
        let length = self.queue.len();
        let guess = guess.min(length);
        let (mut low, mut high, mut step) = (guess, guess, 1);
        while low > 0 && !before(&self.queue[low - 1]) {
            high = low - 1;
            low = low.saturating_sub(step);
            step *= 2;
        }
        if low == guess {
            while high < length && before(&self.queue[high]) {
                low = high + 1;
                high = (high + step).min(length);
                step *= 2;
            }
        }
        while low < high {
            let middle = low + (high - low) / 2;
            if before(&self.queue[middle]) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Marks all segments lost that end at `to` or before, were sent once and not reported; returns whether there are any.
    pub(crate) fn settle(&mut self, to: u64) -> bool {
        let mut any = false;
        if to <= self.settled {
            return false;
        }
        for at in self.position(self.settled)..self.queue.len() {
            let sent = &self.queue[at];
            if sent.end() > to {
                break;
            }
            if !sent.sacked && !sent.lost && !sent.ever_retransmitted {
                self.mark_lost(at);
                any = true;
            }
        }
        self.settled = to;
        any
    }

    pub(crate) fn mark_lost(&mut self, at: usize) {
        let sent = &mut self.queue[at];
        if sent.sacked {
            return;
        }
        let length = sent.length();
        let retransmitted = std::mem::take(&mut sent.retransmitted);
        if retransmitted {
            self.retransmitted -= length;
            self.again.remove(&(sent.sent_at, sent.end()));
        }
        let before = std::mem::replace(&mut sent.lost, true);
        if !before {
            self.lost += length;
        }
        if retransmitted || !before {
            (self.marked, self.last_marked) = (self.marked + length, sent.start);
        }
        self.waiting.insert(sent.start);
        if let Some(rates) = self.rates.as_mut().filter(|_| retransmitted || !before) {
            rates.on_lost(sent.start, sent.end());
        }
    }

    pub(crate) fn mark_resent(&mut self, at: usize, now: Instant) {
        let sent = &mut self.queue[at];
        self.waiting.remove(&sent.start);
        if std::mem::replace(&mut sent.retransmitted, true) {
            self.again.remove(&(sent.sent_at, sent.end()));
        } else {
            self.retransmitted += sent.length();
        }
        sent.sent_at = now;
        sent.ever_retransmitted = true;
        self.again.insert((now, sent.end()));
    }

    /// What was acknowledged selectively counts no more (RFC 2018 section 8).
    pub(crate) fn forget_reports(&mut self) {
        self.queue.iter_mut().for_each(|sent| sent.sacked = false);
        self.ranges.clear();
        self.sacked = 0;
    }

    /// Over: nothing is in flight any more.
    pub(crate) fn clear(&mut self) {
        self.queue = VecDeque::new();
        if self.una > 0 {
            self.una = self.next;
        }
        self.ranges.clear();
        self.waiting.clear();
        self.again.clear();
        (self.sacked, self.lost, self.retransmitted) = (0, 0, 0);
        if let Some(rates) = &mut self.rates {
            rates.clear();
        }
    }

    /// A timeout: nothing that was not acknowledged selectively is still under way.
    pub(crate) fn mark_all_lost(&mut self) {
        for at in 0..self.queue.len() {
            self.mark_lost(at);
        }
        self.settled = self.next;
    }

    /// What `lose` marks lost says nothing of congestion: it is not told on.
    pub(crate) fn without_rates(&mut self, lose: impl FnOnce(&mut Self)) {
        let rates = self.rates.take();
        lose(self);
        self.rates = rates;
    }

    /// Nothing was lost: what seemed so is under way, and may be found lost again. Of a segment that went again, and seemed lost
    /// once more, that is the last transmission: RACK finds it by its time, while `settle` passes over it.
    pub(crate) fn reset_retries(&mut self) {
        for sent in self.queue.iter_mut().filter(|sent| sent.lost) {
            if sent.ever_retransmitted && !sent.retransmitted {
                sent.retransmitted = true;
                self.retransmitted += sent.length();
                self.again.insert((sent.sent_at, sent.end()));
            } else {
                sent.lost = false;
                self.lost -= sent.length();
            }
        }
        self.waiting.clear();
        self.settled = self.una;
    }

    /// Position of the first lost segment that was not sent again.
    pub(crate) fn next_lost(&self) -> Option<usize> {
        self.waiting.first().map(|&start| self.position(start))
    }

    /// The segment that ends at the offset `end` is smaller than the MSS.
    #[inline]
    pub(crate) fn on_small_segment(&mut self, end: u64) {
        self.small_ends = [end, self.small_ends[0]];
    }

    /// How many of the last two segments smaller than the MSS are in flight.
    pub(crate) fn small_in_flight(&self) -> usize {
        self.small_ends.iter().filter(|&&end| end > self.una).count()
    }
}

impl Scoreboard {
    /// Takes a report that `[left, right)` has arrived; `news` is told of each segment that lies wholly in it and was not
    /// reported before.
    pub(crate) fn report(&mut self, left: u64, right: u64, mut news: impl FnMut(&SentSegment)) {
        let before = self.ranges.range(..=left).next_back().filter(|(_, end)| **end > left);
        let mut from = before.map_or(left, |(_, end)| *end);
        while from < right {
            let next = self.ranges.range(from..right).next().map(|(start, end)| (*start, *end));
            let to = next.map_or(right, |(start, _)| start);
            let first = self.first_not(self.guess(from), |sent| sent.start < from);
            let last = self.first_not(first, |sent| sent.end() <= to);
            for at in first..last {
                if !self.queue[at].sacked {
                    news(&self.queue[at]);
                    self.mark_sacked(at);
                }
            }
            if first < last {
                let range = (self.queue[first].start, self.queue[last - 1].end());
                self.add_range(range.0, range.1);
            }
            let Some((_, end)) = next else { break };
            from = end;
        }
    }

    fn add_range(&mut self, mut start: u64, mut end: u64) {
        if let Some((&before, &to)) = self.ranges.range(..=start).next_back()
            && to >= start
        {
            start = before;
            end = end.max(to);
        }
        while let Some((&next, &to)) = self.ranges.range(start..=end).next() {
            self.ranges.remove(&next);
            end = end.max(to);
        }
        self.ranges.insert(start, end);
    }

    fn mark_sacked(&mut self, at: usize) {
        let sent = &mut self.queue[at];
        let length = sent.length();
        self.sacked += length;
        if std::mem::take(&mut sent.lost) {
            self.lost -= length;
            self.waiting.remove(&sent.start);
        }
        if std::mem::take(&mut sent.retransmitted) {
            self.retransmitted -= length;
            self.again.remove(&(sent.sent_at, sent.end()));
        }
        sent.sacked = true;
        if let Some(rates) = &mut self.rates {
            rates.on_reported(sent.start, sent.end());
        }
    }

    /// The offset above which `bytes` were reported, where a reported range begins.
    pub(crate) fn reported_above(&self, bytes: u64) -> Option<u64> {
        let mut above = 0;
        let mut ranges = self.ranges.iter().rev();
        ranges.find_map(|(start, end)| {
            above += end - start;
            (above >= bytes).then_some(*start)
        })
    }

    /// The segment that was sent again first, of those sent before `mark`: when, and its end.
    pub(crate) fn first_reinjection(&self, mark: (Instant, u64)) -> Option<(Instant, u64)> {
        self.again.first().copied().filter(|first| *first < mark)
    }

    /// The one of those that was sent last.
    pub(crate) fn last_again(&self, mark: (Instant, u64)) -> Option<Instant> {
        self.again.range(..mark).next_back().map(|(sent_at, _)| *sent_at)
    }

    /// When the last segment before position `at` was sent that was sent once and may still arrive.
    pub(crate) fn last_pending(&self, mut at: usize) -> Option<Instant> {
        loop {
            at = at.checked_sub(1)?;
            let sent = &self.queue[at];
            if sent.end() <= self.settled {
                return None;
            }
            if sent.sacked {
                let (&start, _) = self.ranges.range(..=sent.start).next_back()?;
                at = self.position(start);
            } else if !sent.ever_retransmitted && !sent.lost {
                return Some(sent.sent_at);
            }
        }
    }
}

/// A mapping that a segment is a part of: its first byte, as offsets, and all of its payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OriginalMapping {
    pub start: u64,
    pub data: u64,
    pub payload: Bytes,
}

/// One segment in flight.
#[derive(Clone, Debug)]
pub(crate) struct SentSegment {
    /// Offset of its first byte.
    pub start: u64,
    /// Connection-level offset of its first byte.
    pub data: u64,
    pub payload: Bytes,
    /// What was sent as one and is in parts now: each part carries the mapping of the whole, because one
    /// that differs is invalid while the first holds (RFC 8684 section 3.3.1).
    pub whole: Option<Box<OriginalMapping>>,
    pub sent_at: Instant,
    pub first_sent_at: Instant,
    /// Carries the FIN after its payload.
    pub fin: bool,
    pub sacked: bool,
    pub lost: bool,
    /// A retransmission of it is in flight.
    pub retransmitted: bool,
    /// Was ever retransmitted: gives no round-trip time (Karn).
    pub ever_retransmitted: bool,
}

impl SentSegment {
    pub(crate) fn length(&self) -> u64 {
        self.payload.len() as u64 + u64::from(self.fin)
    }

    pub(crate) fn end(&self) -> u64 {
        self.start + self.length()
    }

    /// Remembers the mapping before a part is cut off.
    pub(crate) fn keep_whole(&mut self) {
        let Self { start, data, payload, .. } = self;
        let whole = || Box::new(OriginalMapping { start: *start, data: *data, payload: payload.clone() });
        self.whole.get_or_insert_with(whole);
    }
}
