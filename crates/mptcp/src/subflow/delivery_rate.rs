//! Delivery rate estimation (draft-cheng-iccrg-delivery-rate-estimation; draft-ietf-ccwg-bbr section 4.1).
//!
//! Rate-based controllers such as BBR get a sample with each acknowledgement. Owns a record of each
//! transmission in flight, only with such a controller. Segments sent before such a controller was set have
//! no record.

use std::collections::VecDeque;
use std::ops::Range;

use mptcp_clock::{Duration, Instant};

use crate::congestion::{Lost, Sample};

/// The capacity that an idle subflow keeps, records.
const MAX_IDLE_CAPACITY: usize = 4096;

/// A transmission: the draft's per-packet state.
#[derive(Clone, Copy, Debug)]
struct TransmissionRecord {
    start: u64,
    end: u64,
    sent_at: Instant,
    /// The send time of the last segment delivered before: the start of the interval by send times.
    first_sent_time: Instant,
    /// The bytes delivered before this transmission, and the time of the last delivery: the start of the
    /// interval by acknowledgements.
    delivered: u64,
    since: Instant,
    /// The bytes lost before this transmission.
    lost: u64,
    /// Bytes in flight, including this transmission.
    in_flight: u64,
    app_limited: bool,
    /// A retransmission, whose RTT is ambiguous (Karn).
    repeated: bool,
    /// The segment has arrived.
    done: bool,
}

/// Transmissions in flight and the delivery counters.
#[derive(Debug, Default)]
pub(crate) struct Rates {
    /// Sorted by offset.
    flight: VecDeque<TransmissionRecord>,
    now: Instant,
    delivered: u64,
    delivered_at: Instant,
    first_sent_at: Instant,
    lost: u64,
    /// The delivery count up to which the sender was application-limited; 0 if it is not.
    limited_to: u64,
    /// The delivery count up to which the window was full; 0 if it was not.
    full_to: u64,
    /// The latest transmission that the present acknowledgement delivered.
    newest: Option<TransmissionRecord>,
    delivered_before: u64,
    newly_lost: u64,
    losses: Vec<Lost>,
}

impl Rates {
    /// Starts a sample for an acknowledgement or a timeout.
    pub(crate) fn begin(&mut self, now: Instant) {
        self.now = now;
        self.delivered_before = self.delivered;
        self.newest = None;
    }

    /// Records the transmission of `[start, end)`. `in_flight` includes it.
    pub(crate) fn on_sent(&mut self, now: Instant, start: u64, end: u64, in_flight: u64) {
        let sent = self.transmission(now, start, end, in_flight, false);
        self.flight.push_back(sent);
    }

    /// Records the retransmission of `[start, end)`. `in_flight` includes it.
    pub(crate) fn on_repeated(&mut self, now: Instant, start: u64, end: u64, in_flight: u64) {
        for at in self.isolate(start, end) {
            let TransmissionRecord { start, end, .. } = self.flight[at];
            self.flight[at] = self.transmission(now, start, end, in_flight, true);
        }
    }

    fn transmission(
        &mut self,
        now: Instant,
        start: u64,
        end: u64,
        in_flight: u64,
        repeated: bool,
    ) -> TransmissionRecord {
        if in_flight <= end - start {
            // Nothing was in flight, so the interval starts here.
            (self.first_sent_at, self.delivered_at) = (now, now);
        }
        TransmissionRecord {
            start,
            end,
            sent_at: now,
            first_sent_time: self.first_sent_at,
            delivered: self.delivered,
            since: self.delivered_at,
            lost: self.lost,
            in_flight,
            app_limited: self.limited_to > 0,
            repeated,
            done: false,
        }
    }

    /// Records a SACK of `[start, end)`.
    pub(crate) fn on_reported(&mut self, start: u64, end: u64) {
        for at in self.isolate(start, end) {
            if !std::mem::replace(&mut self.flight[at].done, true) {
                let sent = self.flight[at];
                self.on_arrived(sent);
            }
        }
    }

    /// Records the acknowledgement of all data before `una`.
    pub(crate) fn on_acknowledged(&mut self, una: u64) {
        if self.flight.front().is_some_and(|first| first.start < una && una < first.end) {
            self.isolate(self.flight[0].start, una);
        }
        while let Some(first) = self.flight.front().copied().filter(|first| first.end <= una) {
            self.flight.pop_front();
            if !first.done {
                self.on_arrived(first);
            }
        }
        if self.flight.is_empty() {
            self.flight.shrink_to(MAX_IDLE_CAPACITY);
            self.losses.shrink_to(MAX_IDLE_CAPACITY);
        }
    }

    /// Updates the sample: the draft's `UpdateRateSample`.
    fn on_arrived(&mut self, sent: TransmissionRecord) {
        self.delivered += sent.end - sent.start;
        self.delivered_at = self.now;
        let newer = |before: &TransmissionRecord| (before.sent_at, before.end) < (sent.sent_at, sent.end);
        if self.newest.as_ref().is_none_or(newer) {
            self.newest = Some(sent);
            self.first_sent_at = sent.sent_at;
        }
    }

    /// Records the loss of `[start, end)`.
    #[cold]
    pub(crate) fn on_lost(&mut self, start: u64, end: u64) {
        self.newly_lost += end - start;
        for at in self.isolate(start, end) {
            let sent = self.flight[at];
            let bytes = sent.end - sent.start;
            self.lost += bytes;
            self.losses.push(Lost {
                now: self.now,
                bytes,
                in_flight_at_send: sent.in_flight,
                lost: self.lost - sent.lost,
                total_delivered: self.delivered,
                app_limited: sent.app_limited,
                // Set by the caller that reports the loss.
                selective: true,
            });
        }
    }

    /// Takes the losses since the last call. `None` if there are none.
    pub(crate) fn take_losses(&mut self) -> Option<Vec<Lost>> {
        (!self.losses.is_empty()).then(|| std::mem::take(&mut self.losses))
    }

    /// Removes the losses since the last [`Self::take_losses`], because they are no sign of congestion.
    #[cold]
    pub(crate) fn forget_losses(&mut self) {
        let bytes = self.losses.drain(..).map(|lost| lost.bytes).sum::<u64>();
        self.lost = self.lost.saturating_sub(bytes);
        self.newly_lost = self.newly_lost.saturating_sub(bytes);
    }

    /// Returns the memory from [`Self::take_losses`].
    pub(crate) fn return_losses(&mut self, mut losses: Vec<Lost>) {
        losses.clear();
        self.losses = losses;
    }

    /// Clears the count of new losses after a timeout: as in Linux, samples count only losses that an
    /// acknowledgement revealed.
    #[cold]
    pub(crate) fn on_timeout(&mut self) {
        self.newly_lost = 0;
    }

    /// Marks the data in flight, and data sent until it arrives, as application-limited.
    pub(crate) fn note_limited(&mut self, in_flight: u64) {
        self.limited_to = (self.delivered + in_flight).max(1);
    }

    pub(crate) fn delivered(&self) -> u64 {
        self.delivered
    }

    pub(crate) fn is_limited(&self) -> bool {
        self.limited_to > 0
    }

    /// Marks the window as full until the data in flight has arrived.
    pub(crate) fn note_full(&mut self, in_flight: u64) {
        self.full_to = self.delivered + in_flight;
    }

    /// Generates a rate sample: the draft's `GenerateRateSample`. The caller adds its knowledge of the path.
    pub(crate) fn sample(&mut self, min_rtt: Option<Duration>) -> Sample {
        if self.delivered > self.limited_to {
            self.limited_to = 0;
        }
        let mut sample = Sample {
            now: self.now,
            total_delivered: self.delivered,
            newly_delivered: self.delivered - self.delivered_before,
            newly_lost: std::mem::take(&mut self.newly_lost),
            window_limited: self.full_to > 0 && self.delivered <= self.full_to,
            ..Sample::default()
        };
        let Some(newest) = self.newest.take() else { return sample };
        let interval =
            newest.sent_at.since(newest.first_sent_time).max(self.delivered_at.since(newest.since));
        sample.delivered = self.delivered - newest.delivered;
        sample.delivered_before = Some(newest.delivered);
        sample.lost = self.lost - newest.lost;
        sample.in_flight_at_send = newest.in_flight;
        sample.app_limited = newest.app_limited;
        sample.rtt = (!newest.repeated).then(|| self.now.since(newest.sent_at));
        let is_valid = !interval.is_zero() && min_rtt.is_none_or(|least| interval >= least);
        sample.rate = is_valid.then(|| sample.delivered as f64 / interval.as_secs_f64());
        sample
    }

    pub(crate) fn clear(&mut self) {
        self.flight = VecDeque::new();
        self.losses = Vec::new();
    }

    /// The records that make up `[start, end)`, split at its ends.
    fn isolate(&mut self, start: u64, end: u64) -> Range<usize> {
        let first = self.flight.partition_point(|sent| sent.end <= start);
        let first = first + usize::from(self.cut(first, start));
        let mut last = first;
        while self.flight.get(last).is_some_and(|sent| sent.start < end) {
            self.cut(last, end);
            last += 1;
        }
        first..last
    }

    /// Splits record number `at` if `offset` lies within that record. Returns whether it did.
    fn cut(&mut self, at: usize, offset: u64) -> bool {
        let Some(sent) = self.flight.get_mut(at).filter(|sent| sent.start < offset && offset < sent.end)
        else {
            return false;
        };
        let second = TransmissionRecord { start: offset, ..*sent };
        sent.end = offset;
        self.flight.insert(at + 1, second);
        true
    }
}

#[cfg(test)]
mod tests;
