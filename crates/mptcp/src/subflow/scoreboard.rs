//! The scoreboard of a subflow (RFC 6675): the segments that were sent and are not yet acknowledged.
//!
//! The sender reads here the bytes in flight and the next segment to retransmit. Owns the segments, their
//! counters, and indices by offset, SACK report, loss and retransmission time. No operation visits the
//! whole flight, except after a timeout or an undone loss. The sender decides that a segment is lost.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use bytes::Bytes;
use mptcp_clock::Instant;

use crate::subflow::delivery_rate::Rates;

/// The capacity that an idle subflow keeps, in segments.
const MAX_IDLE_CAPACITY: usize = 4096;
/// The maximum number of segments that [`Scoreboard::gap_before`] visits.
const NEAR: usize = 64;

#[derive(Debug, Default)]
pub(crate) struct Scoreboard {
    pub queue: VecDeque<SentSegment>,
    /// The oldest unacknowledged offset.
    pub una: u64,
    /// The next offset to send.
    pub next: u64,
    /// Bytes reported by SACK, bytes marked lost, and bytes whose retransmission is in flight.
    pub sacked: u64,
    pub lost: u64,
    pub retransmitted: u64,
    /// Bytes marked lost so far, with repeated marks, and the start of the segment that was marked last.
    pub marked: u64,
    pub last_marked: u64,
    /// Disjoint ranges of segments with a SACK, by start.
    ranges: BTreeMap<u64, u64>,
    /// Starts of lost segments that were not retransmitted.
    waiting: BTreeSet<u64>,
    /// Retransmitted segments in flight, by send time and end.
    again: BTreeSet<(Instant, u64)>,
    /// Every segment below this offset was reported, retransmitted or marked lost.
    pub settled: u64,
    /// The records of transmissions; `None` if the congestion controller uses no rate samples.
    pub rates: Option<Box<Rates>>,
    /// The ends of the last two segments smaller than the MSS, the latest first.
    small_ends: [u64; 2],
}

impl Scoreboard {
    /// Creates an empty scoreboard with `next` as the first offset to send.
    pub(crate) fn starting_at(next: u64) -> Self {
        Self { next, ..Self::default() }
    }

    /// Bytes in flight: RFC 6675's pipe.
    pub(crate) fn in_flight(&self) -> u64 {
        (self.next - self.una + self.retransmitted).saturating_sub(self.sacked + self.lost)
    }

    /// The segment in flight that contains the last byte before the offset `end`.
    pub(crate) fn outstanding(&self, end: u64) -> Option<&SentSegment> {
        let at = self.first_not(self.guess(end), |sent| sent.end() < end);
        self.queue.get(at).filter(|sent| sent.start < end)
    }

    /// The last lost segment before the offset `end`, even if it was retransmitted: later data waits for it.
    /// `None` if there is none among the [`NEAR`] segments visited.
    pub(crate) fn gap_before(&self, end: u64) -> Option<&SentSegment> {
        if self.lost == 0 && self.retransmitted == 0 {
            return None;
        }
        let behind = self.first_not(self.guess(end), |sent| sent.end() < end).min(self.queue.len());
        let mut at = behind;
        while behind - at < NEAR {
            let sent = self.queue.get(at.checked_sub(1)?)?;
            if sent.sacked {
                // Skips the whole range.
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

    /// Removes the first segment if `ack` covers it, after `look` was called with it. Returns whether it was.
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

    /// Removes the SACK ranges below `una`.
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

    /// Cuts the acknowledged part off the first segment.
    #[inline(never)]
    pub(crate) fn trim_front(&mut self, ack: u64) {
        let Some(front) = self.queue.front_mut() else { return };
        if ack <= front.start || ack >= front.end() {
            return;
        }
        let cut = (ack - front.start).min(front.payload.len() as u64);
        front.keep_original_mapping();
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

    /// Splits the segment at a position: the first part keeps `length` bytes of payload.
    pub(crate) fn split(&mut self, at: usize, length: u64) {
        let Some(first) = self.queue.get_mut(at) else { return };
        if length == 0 || length >= first.payload.len() as u64 {
            return;
        }
        first.keep_original_mapping();
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

    /// Splits a large segment into frames of `mss` bytes if a SACK block begins or ends within it. All frames are
    /// split, because more reports will follow. Never exceeds `most` segments.
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

    /// The position of the first segment that ends after `offset`.
    pub(crate) fn position(&self, offset: u64) -> usize {
        self.first_not(self.guess(offset), |sent| sent.end() <= offset)
    }

    /// The approximate position of `offset`, exact for segments of equal size.
    fn guess(&self, offset: u64) -> usize {
        let within = offset.saturating_sub(self.una).min(self.next - self.una);
        // On overflow the estimate is bad, but still valid.
        (within.saturating_mul(self.queue.len() as u64) / (self.next - self.una).max(1)) as usize
    }

    /// The position of the first segment for which `before` is false, in a partitioned queue. Like
    /// [`VecDeque::partition_point`], but starts at an estimate, because segments are far apart in memory.
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

    /// Marks segments lost that end at or before `to`, were sent only once and were not reported. Returns
    /// whether any segment was marked.
    pub(crate) fn settle(&mut self, to: u64) -> bool {
        let mut any_lost = false;
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
                any_lost = true;
            }
        }
        self.settled = to;
        any_lost
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
        let was_lost = std::mem::replace(&mut sent.lost, true);
        if !was_lost {
            self.lost += length;
        }
        if retransmitted || !was_lost {
            (self.marked, self.last_marked) = (self.marked + length, sent.start);
        }
        self.waiting.insert(sent.start);
        if let Some(rates) = self.rates.as_mut().filter(|_| retransmitted || !was_lost) {
            rates.on_lost(sent.start, sent.end());
        }
    }

    pub(crate) fn mark_retransmitted(&mut self, at: usize, now: Instant) {
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

    /// Discards all SACK information (RFC 2018 section 8).
    pub(crate) fn clear_sack(&mut self) {
        self.queue.iter_mut().for_each(|sent| sent.sacked = false);
        self.ranges.clear();
        self.sacked = 0;
    }

    /// Removes all segments at the end of the subflow.
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

    /// Marks all segments that no SACK block reported as lost, after a timeout.
    pub(crate) fn mark_all_lost(&mut self) {
        for at in 0..self.queue.len() {
            self.mark_lost(at);
        }
        self.settled = self.next;
    }

    /// Calls `lose`, which marks segments lost, without reporting these losses to the congestion controller.
    pub(crate) fn without_rates(&mut self, lose: impl FnOnce(&mut Self)) {
        let rates = self.rates.take();
        lose(self);
        self.rates = rates;
    }

    /// Removes loss marks after a spurious loss. If the retransmission of a segment was marked lost too, only
    /// that second mark is removed. RACK can detect the loss again by time; `settle` would skip the segment.
    pub(crate) fn undo_loss_marks(&mut self) {
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

    /// The position of the first lost segment that was not retransmitted.
    pub(crate) fn next_lost(&self) -> Option<usize> {
        self.waiting.first().map(|&start| self.position(start))
    }

    /// Notes that the segment that ends at `end` is smaller than the MSS.
    #[inline]
    pub(crate) fn on_small_segment(&mut self, end: u64) {
        self.small_ends = [end, self.small_ends[0]];
    }

    /// The number of segments in flight among the last two smaller than the MSS.
    pub(crate) fn small_in_flight(&self) -> usize {
        self.small_ends.iter().filter(|&&end| end > self.una).count()
    }
}

impl Scoreboard {
    /// Processes a SACK block `[left, right)`. Calls `news` for each segment inside it that was not reported before.
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

    /// The start of the highest SACK range down to which at least `bytes` were reported. `None` for fewer.
    pub(crate) fn reported_above(&self, bytes: u64) -> Option<u64> {
        let mut above = 0;
        let mut ranges = self.ranges.iter().rev();
        ranges.find_map(|(start, end)| {
            above += end - start;
            (above >= bytes).then_some(*start)
        })
    }

    /// The send time and end of the oldest retransmission in flight, if older than `mark`.
    pub(crate) fn first_retransmission(&self, mark: (Instant, u64)) -> Option<(Instant, u64)> {
        self.again.first().copied().filter(|first| *first < mark)
    }

    /// The send time of the latest retransmission in flight that is older than `mark`.
    pub(crate) fn last_retransmission(&self, mark: (Instant, u64)) -> Option<Instant> {
        self.again.range(..mark).next_back().map(|(sent_at, _)| *sent_at)
    }

    /// The send time of the last segment before position `at` that was sent once and may still arrive.
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

/// A mapping of which a segment carries a part: subflow and data offset of the first byte, and the payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OriginalMapping {
    pub start: u64,
    pub data: u64,
    pub payload: Bytes,
}

/// A segment in flight.
#[derive(Clone, Debug)]
pub(crate) struct SentSegment {
    /// The subflow offset of the first byte.
    pub start: u64,
    /// The data offset of the first byte.
    pub data: u64,
    pub payload: Bytes,
    /// The mapping with which the data was first sent, if the segment is a part of it; otherwise `None`. Each
    /// part repeats this mapping: a different one would be invalid (RFC 8684 section 3.3.1).
    pub whole: Option<Box<OriginalMapping>>,
    /// The time of the last transmission.
    pub sent_at: Instant,
    pub first_sent_at: Instant,
    /// The segment has a FIN after its payload.
    pub fin: bool,
    pub sacked: bool,
    pub lost: bool,
    /// A retransmission is in flight.
    pub retransmitted: bool,
    /// The segment was retransmitted at least once, so it gives no RTT sample (Karn's algorithm).
    pub ever_retransmitted: bool,
}

impl SentSegment {
    pub(crate) fn length(&self) -> u64 {
        self.payload.len() as u64 + u64::from(self.fin)
    }

    pub(crate) fn end(&self) -> u64 {
        self.start + self.length()
    }

    /// Stores the complete mapping before a part is cut off the segment.
    pub(crate) fn keep_original_mapping(&mut self) {
        let Self { start, data, payload, .. } = self;
        let whole = || Box::new(OriginalMapping { start: *start, data: *data, payload: payload.clone() });
        self.whole.get_or_insert_with(whole);
    }
}
