//! Changes of a link while frames are on it: rate, delay, state.
//!
//! Departures are computed in advance, so a new rate must correct them. Owns these corrections.

use mptcp_clock::{Duration, Instant};

use super::{Departure, Direction, DropLog, Service};
use crate::frame::Cause;
use crate::parameters::Change;
use crate::rate::Rate;

impl<P> Direction<P> {
    /// Changes one parameter at `now`.
    pub(crate) fn change(&mut self, now: Instant, change: Change, drops: &mut DropLog<P>) {
        self.settle(now, drops);
        if matches!(change, Change::Rate(_) | Change::Open(_) | Change::Up(_)) {
            self.count_capacity(now);
        }
        match change {
            Change::Rate(rate) if !self.wireless => self.change_rate(now, rate),
            Change::Rate(_) | Change::Distance(_) | Change::StationRate(_) => {}
            Change::Delay(delay) => self.parameters.delay = delay,
            Change::Jitter(jitter) => self.parameters.jitter = jitter,
            Change::Loss(loss) => {
                self.parameters.loss = loss;
                self.loss.restart();
            }
            Change::Queue(limit) => self.parameters.queue = limit,
            Change::Longest(longest) => self.parameters.longest = longest,
            Change::Open(open) => self.parameters.up = open,
            Change::Up(up) => {
                self.parameters.up = up;
                if !up {
                    self.flush(now, drops);
                }
            }
        }
        self.measure_delay();
    }

    /// Recomputes the departures of all queued frames. The first one is in service: its sent bits count.
    fn change_rate(&mut self, now: Instant, rate: Option<Rate>) {
        let old = std::mem::replace(&mut self.parameters.rate, rate);
        let mut frames = self.frames.range_mut(self.in_flight..);
        if let Some((departs, _)) = frames.next() {
            let left = match (old, rate) {
                (Some(old), Some(new)) => old.carried_to(new, departs.since(now)),
                _ => Duration::ZERO,
            };
            *departs = now + left;
            self.line_free = *departs;
        }
        for (departs, frame) in frames {
            self.line_free += rate.map_or(Duration::ZERO, |rate| rate.serialisation(frame.bytes));
            *departs = self.line_free;
        }
        if self.frames.len() > self.in_flight {
            self.look();
        }
    }

    /// Drops all frames on the link.
    fn flush(&mut self, now: Instant, drops: &mut DropLog<P>) {
        self.counters.flushed_frames += self.frames.len() as u64;
        self.counters.backlog_bytes = 0;
        self.occupy(now);
        (self.line_free, self.last_arrival) = (now, now);
        for (index, (_, frame)) in self.frames.drain(..).enumerate() {
            if let Some(departures) = &mut self.departures
                && index >= self.in_flight
            {
                let (label, bytes) = (frame.label, frame.bytes);
                departures.push_back(Departure { at: now, label, bytes, service: Service::default() });
            }
            drops.record(now, self.id, Cause::Down, frame);
        }
        self.flush_managed(now, drops);
        self.forget_batch(now);
        self.in_flight = 0;
        self.due = Instant::FAR_FUTURE;
    }
}
