//! One direction of a subflow, as its sender sees it: data in flight, losses, round trips, and the rate of its path.
//!
//! A capture is rarely made at the sender. The caller therefore delays acknowledgements by the round trip between the
//! capture and the sender. Data and acknowledgements then have the same distance in time as at the sender.

use std::collections::VecDeque;

use super::one_way::OneWay;
use super::path_rate::PathRate;
use super::round_trips::RoundTrips;
use super::sequence::Extender;
use super::totals::{LossEpisode, Totals};
use super::transmissions::{LogIndex, Transmissions};
use crate::capture::PacketRef;

/// Entries that one segment examines, at most.
const MOST_WORK: usize = 4096;
/// Loss episodes that are remembered, at most.
const MOST_LOSSES: usize = 1024;
/// Segments without gap in the order of the network that follow a lost one (RFC 5681 section 3.2: three duplicates).
const REORDERING: u64 = 3;
/// Segment size where no handshake was captured, bytes.
const DEFAULT_MSS: u64 = 1400;

/// A segment in flight.
#[derive(Clone, Debug)]
struct Sent {
    start: u64,
    end: u64,
    /// Time of the first and last transmission, ns.
    first: u64,
    last: u64,
    transmissions: u32,
    sacked: bool,
    /// Bytes of it that were selectively acknowledged, if not all of them were: a frame that the network card splits.
    partly: u64,
    /// Not in flight: presumed lost, and not retransmitted yet.
    is_lost: bool,
    /// Never captured: lost before the capture, or by it.
    is_hole: bool,
    /// Number of the first byte at the data level.
    data: Option<u64>,
    /// Its last transmission.
    log: Option<LogIndex>,
    /// Time in queues of the segment before a hole, s.
    queueing: f64,
}

/// The kind of a data segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SentKind {
    /// Bytes sent for the first time on this subflow.
    pub(crate) new: u64,
    /// Whether any byte was sent before on this subflow.
    pub(crate) is_retransmission: bool,
    /// Whether it fills a gap in the captured data.
    pub(crate) fills_hole: bool,
}

/// Data that an acknowledgement newly covers, at the data level.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delivered {
    pub(crate) data: u64,
    pub(crate) length: u64,
}

/// One direction of a subflow.
#[derive(Clone, Debug)]
pub(crate) struct Half {
    numbers: Option<Extender>,
    /// Highest sequence number sent, and the lowest one not acknowledged.
    next: u64,
    acknowledged: u64,
    sent: VecDeque<Sent>,
    /// Segments in flight that are remembered, at most.
    most: usize,
    /// Blocks of the last acknowledgement, whose segments are marked.
    blocks: [(u64, u64); 4],
    flight: u64,
    highest_sacked: u64,
    /// Segments below this number were examined for losses.
    examined: u64,
    /// Loss recovery ends here.
    recovery_point: u64,
    pub(crate) window_scale: Option<u8>,
    pub(crate) mss: Option<u16>,
    largest_payload: u64,
    /// Data that was acknowledged and not yet replaced by new data, bytes.
    credit: u64,
    /// Most data in flight since the last loss, and ever, bytes.
    peak: u64,
    most_flight: u64,
    pub(crate) totals: Totals,
    pub(crate) round_trips: RoundTrips,
    rate: PathRate,
    one_way: OneWay,
    pub(crate) losses: Vec<LossEpisode>,
    pub(crate) loss_episodes: u64,
    pub(crate) transmissions: Transmissions,
    /// Time of the last loss episode, ns, and the data in flight before it, bytes.
    last_loss: Option<(u64, u64)>,
    /// Time of the last acknowledgement that arrived, and of the last data sent, ns.
    pub(crate) last_progress: u64,
    pub(crate) last_sent: u64,
    /// The packets of both.
    pub(crate) progress_packet: PacketRef,
    pub(crate) sent_packet: PacketRef,
    /// Least time between data and its acknowledgement at the capture, s.
    pub(crate) reordering_window: f64,
    /// Whether RTTs come from echoed timestamps: far from the sender, acknowledgements follow the data at once.
    pub(crate) uses_echoes: bool,
    /// Time and packet of the acknowledgement with the longest RTT.
    pub(crate) largest_rtt: Option<(u64, PacketRef)>,
    largest: f64,
}

impl Default for Half {
    fn default() -> Self {
        Self {
            numbers: None,
            next: 0,
            acknowledged: 0,
            sent: VecDeque::new(),
            most: 1,
            blocks: [(0, 0); 4],
            flight: 0,
            highest_sacked: 0,
            examined: 0,
            recovery_point: 0,
            window_scale: None,
            mss: None,
            largest_payload: 0,
            credit: 0,
            peak: 0,
            most_flight: 0,
            totals: Totals::default(),
            round_trips: RoundTrips::default(),
            rate: PathRate::default(),
            one_way: OneWay::default(),
            losses: Vec::new(),
            loss_episodes: 0,
            transmissions: Transmissions::default(),
            last_loss: None,
            last_progress: 0,
            last_sent: 0,
            progress_packet: PacketRef::default(),
            sent_packet: PacketRef::default(),
            reordering_window: 0.0,
            uses_echoes: false,
            largest_rtt: None,
            largest: 0.0,
        }
    }
}

impl Half {
    /// A direction that remembers at most `most` segments in flight.
    pub(crate) fn new(most: usize) -> Self {
        Self { most, transmissions: Transmissions::new(most), ..Self::default() }
    }

    /// Starts the numbers at the SYN, whose first data byte is 1.
    pub(crate) fn start(&mut self, initial: u32) {
        if self.numbers.is_none() {
            self.numbers = Some(Extender::new(initial, 0));
            (self.next, self.acknowledged, self.examined) = (1, 1, 1);
        }
    }

    /// The number of a byte relative to the SYN. Without a captured SYN, numbers start at an arbitrary value.
    pub(crate) fn extend(&mut self, number: u32) -> Option<u64> {
        const MIDDLE: u64 = 1 << 32;
        if self.numbers.is_none() {
            self.numbers = Some(Extender::new(number, MIDDLE));
            (self.next, self.acknowledged, self.examined) = (MIDDLE, MIDDLE, MIDDLE);
        }
        self.numbers.as_mut()?.extend(number)
    }

    /// Maximum payload of a packet, bytes.
    pub(crate) fn segment_size(&self) -> u64 {
        match self.mss {
            // Timestamps take 12 bytes of each segment, and a DSS option about 20.
            Some(mss) => u64::from(mss).saturating_sub(12).max(200),
            None if self.largest_payload > 0 => self.largest_payload.min(DEFAULT_MSS),
            None => DEFAULT_MSS,
        }
    }

    pub(crate) const fn flight(&self) -> u64 {
        self.flight
    }

    pub(crate) const fn credit(&self) -> u64 {
        self.credit
    }

    /// Most data in flight, bytes.
    pub(crate) const fn most_flight(&self) -> u64 {
        self.most_flight
    }

    pub(crate) const fn peak(&self) -> u64 {
        self.peak
    }

    /// Whether data is outstanding.
    pub(crate) fn is_outstanding(&self) -> bool {
        self.sent.front().is_some()
    }

    /// Time at which the oldest data in flight was first sent, ns.
    pub(crate) fn oldest(&self) -> Option<u64> {
        self.sent.iter().take(MOST_WORK).find(|one| !one.sacked).map(|one| one.first)
    }

    /// Whether the oldest data was sent more than once.
    pub(crate) fn oldest_is_retransmitted(&self) -> bool {
        self.sent
            .iter()
            .take(MOST_WORK)
            .find(|one| !one.sacked)
            .is_some_and(|one| one.transmissions > 1 || one.is_hole)
    }

    /// Whether the last loss still keeps the congestion window small. Reno needs a round trip for each segment of half of
    /// the window (RFC 5681), and coupled controllers longer; this allows twice that.
    pub(crate) fn is_after_loss(&self, now: u64) -> bool {
        let Some(last) = self.last_loss else { return false };
        let (time, flight) = last;
        let round_trip = self.round_trips.smoothed.unwrap_or(0.3);
        let horizon = (flight / self.segment_size() + 10) as f64 * round_trip;
        (now.saturating_sub(time) as f64) < horizon * 1e9
    }

    /// Whether a loss is being repaired.
    pub(crate) const fn is_in_recovery(&self) -> bool {
        self.acknowledged < self.recovery_point
    }

    /// Takes a segment with payload. `data` is its number at the data level.
    pub(crate) fn sent(
        &mut self,
        start: u64,
        length: u64,
        data: Option<u64>,
        time: u64,
        packet: PacketRef,
        is_pushed: bool,
    ) -> SentKind {
        let end = start.saturating_add(length);
        self.totals.segments += 1;
        self.largest_payload = self.largest_payload.max(length);
        if is_pushed && !length.is_multiple_of(self.segment_size()) && length < self.largest_payload.min(1200)
        {
            self.totals.short_segments += 1;
        }
        let before = std::mem::replace(&mut self.last_sent, time);
        self.sent_packet = packet;
        let mut kind = SentKind::default();
        let known = self.next;
        if start < known {
            let seen = self.sent_again(start, end.min(known), data, time, packet);
            (kind.is_retransmission, kind.fills_hole) = seen;
        }
        if end > known {
            let begin = start.max(known);
            if begin > known {
                self.note_hole(known, begin, time, before);
            }
            kind.new = end - begin;
            let data = data.map(|data| data.saturating_add(begin - start));
            let log = self.transmissions.add(time, kind.new, false);
            self.push(Sent {
                start: begin,
                end,
                first: time,
                last: time,
                transmissions: 1,
                sacked: false,
                partly: 0,
                is_lost: false,
                is_hole: false,
                data,
                log,
                queueing: 0.0,
            });
            self.next = end;
            self.totals.new_bytes += kind.new;
            self.flight += kind.new;
            self.peak = self.peak.max(self.flight);
            self.most_flight = self.most_flight.max(self.flight);
        }
        self.credit = self.credit.saturating_sub(length);
        kind
    }

    fn push(&mut self, one: Sent) {
        if self.sent.len() >= self.most
            && let Some(dropped) = self.sent.pop_front()
            && !dropped.sacked
            && !dropped.is_lost
            && !dropped.is_hole
        {
            self.flight = self.flight.saturating_sub(dropped.end - dropped.start);
        }
        self.sent.push_back(one);
    }

    /// Data that the capture has not seen when later data passes; `before` is the time of the segment before it, ns.
    fn note_hole(&mut self, start: u64, end: u64, time: u64, before: u64) {
        // A full bucket drops the end of a burst, and the next burst comes much later.
        let log = self.transmissions.add(before, end - start, true);
        let queueing = self.queueing();
        self.transmissions.set_queueing(log, queueing);
        let hole = Sent {
            start,
            end,
            first: time,
            last: time,
            transmissions: 0,
            sacked: false,
            partly: 0,
            is_lost: false,
            is_hole: true,
            data: None,
            log,
            queueing,
        };
        self.push(hole);
    }

    /// Index of the first segment that ends after `at`.
    fn index_after(&self, at: u64) -> usize {
        self.sent.partition_point(|one| one.end <= at)
    }

    /// Takes data below `next`; returns whether it is a retransmission, and whether it fills a hole.
    fn sent_again(
        &mut self,
        start: u64,
        end: u64,
        data: Option<u64>,
        time: u64,
        packet: PacketRef,
    ) -> (bool, bool) {
        let size = self.segment_size();
        let segments = (end - start).div_ceil(size);
        let log = self.transmissions.add(time, end - start, false);
        let mut index = self.index_after(start);
        let (mut is_again, mut fills_hole) = (false, false);
        if start < self.acknowledged {
            // The receiver had it.
            self.totals.needless_bytes += end.min(self.acknowledged) - start;
            is_again = true;
        }
        let limit = index + MOST_WORK;
        while index < self.sent.len().min(limit) && self.sent[index].start < end {
            let one = &mut self.sent[index];
            if one.is_hole {
                let waited = time.saturating_sub(one.first) as f64 / 1e9;
                let is_late = waited < self.reordering_window;
                let rest = (one.start < start || one.end > end).then(|| one.clone());
                fills_hole = true;
                one.is_hole = false;
                one.transmissions = 1;
                if is_late {
                    self.transmissions.set_lost(one.log, false);
                    self.totals.reordered += 1;
                } else {
                    one.transmissions = 2;
                    is_again = true;
                }
                (one.first, one.last) = (time, time);
                let length = one.end - one.start;
                let newly = one.end.min(end) - one.start.max(start);
                self.totals.new_bytes += newly;
                if let Some(whole) = rest {
                    // Only a part of the hole arrived; the other parts stay holes.
                    index = self.split(index, &whole, start, end);
                }
                let part = &mut self.sent[index];
                part.data = data.map(|data| data.saturating_add(part.start - start));
                if !self.sent[index].sacked {
                    self.flight += newly.min(length);
                }
                if is_again {
                    let one = &mut self.sent[index];
                    let (start, queueing) = (one.start, one.queueing);
                    if !std::mem::take(&mut one.is_lost) {
                        self.note_loss(segments, time, packet, false, start, queueing);
                    }
                }
            } else {
                is_again = true;
                let waited = time.saturating_sub(one.last);
                one.transmissions += 1;
                one.last = time;
                let (was_lost, sacked) = (one.is_lost, one.sacked);
                let earlier = std::mem::replace(&mut one.log, log);
                let (first, length) = (one.start, one.end - one.start);
                one.is_lost = false;
                let smoothed = self.round_trips.smoothed.unwrap_or(0.0);
                // RFC 6298 allows no timer below the smoothed RTT, and Linux none below 200 ms.
                let by_timer = !was_lost && waited as f64 / 1e9 > 0.19 + smoothed;
                if by_timer {
                    self.totals.timeouts += 1;
                }
                if was_lost && !sacked {
                    self.flight += length;
                } else if !was_lost && !sacked {
                    self.transmissions.set_lost(earlier, true);
                    let queueing = self.queueing();
                    self.note_loss(
                        segments.min(length.div_ceil(size)),
                        time,
                        packet,
                        by_timer,
                        first,
                        queueing,
                    );
                }
            }
            index += 1;
        }
        if is_again {
            self.totals.retransmissions += segments;
            self.totals.retransmitted_bytes += end - start;
        }
        (is_again, fills_hole)
    }

    /// Splits a hole at `index`. Returns the index of the part in `[start, end)`.
    fn split(&mut self, index: usize, whole: &Sent, start: u64, end: u64) -> usize {
        let (low, high) = (whole.start.max(start), whole.end.min(end));
        (self.sent[index].start, self.sent[index].end) = (low, high);
        if whole.end > high && self.sent.len() < self.most {
            self.sent.insert(index + 1, Sent { start: high, ..whole.clone() });
        }
        if whole.start < low && self.sent.len() < self.most {
            self.sent.insert(index, Sent { end: low, ..whole.clone() });
            return index + 1;
        }
        index
    }

    /// Time in queues of the segment before a loss, s.
    fn queueing(&self) -> f64 {
        let queueing = self.round_trips.queueing();
        // Few echoes arrive, and the one-way delay does not show a queue that never drains.
        self.one_way.queueing().filter(|_| self.uses_echoes).map_or(queueing, |one| one.max(queueing))
    }

    fn note_loss(
        &mut self,
        segments: u64,
        time: u64,
        packet: PacketRef,
        by_timer: bool,
        start: u64,
        queueing: f64,
    ) {
        self.totals.lost += segments;
        if start >= self.recovery_point {
            self.recovery_point = self.next;
            self.loss_episodes += 1;
            self.last_loss = Some((time, self.peak));
            if self.losses.len() < MOST_LOSSES {
                self.losses.push(LossEpisode {
                    time,
                    queueing,
                    flight: self.peak,
                    segments: 0,
                    by_timer,
                    packet,
                });
            }
            self.credit = 0;
            self.peak = self.flight;
        }
        if let Some(last) = self.losses.last_mut() {
            last.segments += segments;
        }
    }

    /// Takes an acknowledgement with SACK blocks at the time at which the sender gets it. `report` is called for newly
    /// acknowledged data. Returns whether it acknowledged anything new.
    pub(crate) fn acknowledged(
        &mut self,
        number: u32,
        blocks: impl Iterator<Item = (u32, u32)>,
        time: u64,
        packet: PacketRef,
        report: &mut impl FnMut(Delivered),
    ) -> bool {
        let Some(number) = self.extend_existing(number) else { return false };
        let before = self.totals.delivered;
        let was_outstanding = self.is_outstanding();
        let mut sample: Option<f64> = None;
        let mut last_in_order = None;
        let mut newest = None;
        if number > self.next {
            // Acknowledged, but never captured. A FIN counts one.
            let missing = number - self.next;
            if missing > 1 {
                self.totals.uncaptured += missing;
            }
            self.next = number;
        }
        if number > self.acknowledged {
            self.acknowledged = number;
            while let Some(front) = self.sent.front_mut() {
                if front.end > number {
                    if front.start < number {
                        let length = number - front.start;
                        Self::deliver(front, front.start, number, &mut self.flight, &mut self.totals, report);
                        front.data = front.data.map(|data| data.saturating_add(length));
                        front.start = number;
                    }
                    break;
                }
                let (start, end) = (front.start, front.end);
                newest = (front.transmissions == 1 && !front.sacked).then_some(front.last);
                Self::deliver(front, start, end, &mut self.flight, &mut self.totals, report);
                if front.transmissions == 1 && !front.sacked {
                    sample = Some(time.saturating_sub(front.last) as f64 / 1e9);
                    last_in_order = front.log;
                }
                self.sent.pop_front();
            }
        }
        let is_several = self.totals.delivered - before > self.segment_size();
        let in_order = sample.filter(|_| !self.uses_echoes);
        let is_prompt = in_order.is_none_or(|sample| self.round_trips.in_order(sample, is_several));
        if in_order.is_some() && is_prompt {
            self.transmissions.set_queueing(last_in_order, self.round_trips.queueing());
        }
        let mut taken = [(0, 0); 4];
        for (slot, (left, right)) in blocks.take(4).enumerate() {
            if let Some((left, right)) = self.extend_existing(left).zip(self.extend_existing(right))
                && left < right
                && right <= self.next
                && left >= self.acknowledged
            {
                taken[slot] = (left, right);
                // Segments in blocks of the last acknowledgement are marked.
                let known = self.blocks.iter().find(|(start, end)| *start <= left && left < *end);
                let from = known.map_or(left, |(_, end)| *end);
                if from < right {
                    self.sack((left, right), from, time, &mut sample, report);
                }
            }
        }
        self.blocks = taken;
        self.find_losses(time, packet);
        let newly = self.totals.delivered - before;
        if let Some(sample) = sample
            && !self.uses_echoes
        {
            self.round_trips.add(sample, newly.max(1));
            self.note_largest(sample, time, packet);
        }
        if newly > 0 || !was_outstanding {
            (self.last_progress, self.progress_packet) = (time, packet);
        }
        if newly > 0 {
            // The time of a delayed acknowledgement is not that of its data.
            self.rate.paired(time, newest.filter(|_| is_prompt), newly);
            if !self.is_in_recovery() {
                self.credit += newly;
            }
            self.rate.delivered(time, self.totals.delivered, self.segment_size());
        }
        newly > 0
    }

    fn extend_existing(&mut self, number: u32) -> Option<u64> {
        // An acknowledgement before any data states where the data will start.
        self.extend(number)
    }

    fn deliver(
        one: &mut Sent,
        start: u64,
        end: u64,
        flight: &mut u64,
        totals: &mut Totals,
        report: &mut impl FnMut(Delivered),
    ) {
        if one.sacked {
            return;
        }
        let length = end - start;
        if one.is_hole {
            return;
        }
        if !one.is_lost {
            *flight = flight.saturating_sub(length);
        }
        totals.delivered += length;
        if let Some(data) = one.data {
            report(Delivered { data: data.saturating_add(start - one.start), length });
        }
    }

    /// Marks the segments of a block that end after `from`; the earlier ones are marked.
    fn sack(
        &mut self,
        (left, right): (u64, u64),
        from: u64,
        time: u64,
        sample: &mut Option<f64>,
        report: &mut impl FnMut(Delivered),
    ) {
        let mut index = self.index_after(from);
        let limit = index + MOST_WORK;
        while index < self.sent.len().min(limit) && self.sent[index].start < right {
            let one = &mut self.sent[index];
            if one.start < left || one.end > right {
                one.partly = one.partly.max(one.end.min(right) - one.start.max(left));
            } else if !one.sacked {
                let (start, end) = (one.start, one.end);
                Self::deliver(one, start, end, &mut self.flight, &mut self.totals, report);
                if one.transmissions == 1 && !one.is_hole {
                    let round_trip = time.saturating_sub(one.last) as f64 / 1e9;
                    *sample = Some(round_trip);
                    if !self.uses_echoes
                        && let Some(base) = self.round_trips.base
                    {
                        self.transmissions.set_queueing(one.log, round_trip - base);
                    }
                }
                one.sacked = true;
                one.is_lost = false;
            }
            index += 1;
        }
        self.highest_sacked = self.highest_sacked.max(right);
    }

    /// Presumes lost data that lies far enough below selectively acknowledged data (RFC 6675 section 4).
    fn find_losses(&mut self, time: u64, packet: PacketRef) {
        let size = self.segment_size();
        let bound = self.highest_sacked.saturating_sub(REORDERING * size);
        let from = self.examined.max(self.acknowledged);
        if bound <= from {
            return;
        }
        let mut index = self.index_after(from);
        let mut lost = 0;
        let mut first = None;
        while index < self.sent.len() && self.sent[index].end <= bound {
            let one = &mut self.sent[index];
            if !one.sacked && !one.is_lost && one.transmissions <= 1 {
                one.is_lost = true;
                self.transmissions.set_lost(one.log, true);
                if !one.is_hole {
                    self.flight = self.flight.saturating_sub(one.end - one.start);
                }
                lost += (one.end - one.start).saturating_sub(one.partly).div_ceil(size);
                first.get_or_insert(one.start);
            }
            index += 1;
        }
        self.examined = bound;
        if let Some(start) = first {
            self.note_loss(lost, time, packet, false, start, self.queueing());
        }
    }

    /// Takes the arrival of a segment of this many bytes at a capture far from the sender.
    pub(crate) fn measure_arrival(&mut self, time: u64, stamp: u32, bytes: u64) {
        self.rate.arrived(time, stamp, bytes);
        self.one_way.take(time, stamp);
    }

    /// Time that the path needs for one segment, ns; 0 while it is unknown.
    pub(crate) const fn spacing(&self) -> u64 {
        self.rate.spacing()
    }

    /// Whether the rate of the path is known: segments were sent faster than the path carries them.
    pub(crate) fn has_measured_capacity(&self) -> bool {
        let trips = &self.round_trips;
        let queueing =
            trips.distribution.quantile(0.5).zip(trips.base).map_or(0.0, |(median, base)| median - base);
        let base = trips.base.unwrap_or(0.0);
        // A few segments wait for delayed acknowledgements, which is no queue.
        let is_busy = self.most_flight > 6 * self.segment_size();
        let has_queue = is_busy && queueing > 0.002 + base / 10.0;
        self.rate.has_pairs(self.segment_size()) || has_queue
    }

    /// The rate of the path while it was busy, bytes/s; None if too little was acknowledged.
    pub(crate) fn capacity(&self) -> Option<f64> {
        self.rate.capacity(self.segment_size())
    }

    fn note_largest(&mut self, sample: f64, time: u64, packet: PacketRef) {
        if sample > self.largest {
            self.largest = sample;
            self.largest_rtt = Some((time, packet));
        }
    }

    /// Takes an RTT that the echo of a timestamp shows.
    pub(crate) fn echoed(&mut self, sample: f64, time: u64, packet: PacketRef) {
        if !self.uses_echoes {
            self.uses_echoes = true;
        }
        // One sample in a round trip may miss the peak of the queue.
        let before = self.round_trips.last.filter(|_| self.round_trips.distribution.total() > 0.0);
        // One sample comes in each round trip, so each stands for its own time.
        self.round_trips.add(sample, (sample * 1e6) as u64 + 1);
        self.note_largest(sample, time, packet);
        self.round_trips.last = Some(before.map_or(sample, |before| f64::midpoint(before, sample)));
    }

    /// Takes the RTT of the handshake, which is the base RTT until a lower one is seen.
    pub(crate) fn shake(&mut self, sample: f64) {
        let trips = &mut self.round_trips;
        trips.base = Some(trips.base.map_or(sample, |base| base.min(sample)));
        trips.smoothed.get_or_insert(sample);
    }

    /// Acknowledgements at the capture are no round trips, because it is far from the sender.
    pub(crate) const fn use_echoes(&mut self) {
        self.uses_echoes = true;
    }

    /// Highest sequence number sent, relative to the SYN.
    pub(crate) const fn next(&self) -> u64 {
        self.next
    }
}
