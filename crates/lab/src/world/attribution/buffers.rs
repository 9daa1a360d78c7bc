//! The times for which full buffers blocked a connection and its subflows.
//!
//! Attribution divides the capacity of a path among the causes that used it or left it unused. Full buffers
//! are such causes: the send buffer of the sender, and the receive window of its peer.
//!
//! Owns one rule: the receive window is full if it has no space for a segment, and the send buffer is full if
//! no data is unsent. If the peer buffers out-of-order data, senders report [`PathLimit::ReceiveWindow`] even
//! for a full send buffer. If both are full, senders report only one of them. This module corrects such
//! reports. A hold is the limit of a subflow after the correction.

use std::collections::{BTreeMap, BTreeSet};

use mptcp::observe::PathLimit;
use mptcp::{ConnectionInfo, Limit};
use mptcp_clock::{Duration, Instant};

/// A subflow: the flow, and the subflow number. The label of a frame, which the network sees, contains both.
pub(super) type Key = (u16, u8);

/// The limit of a subflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hold {
    /// The reported limit, or the buffer that is full.
    Sender(PathLimit),
    /// Both buffers are full: enlarging only one would not help.
    BothBuffers,
}

/// The full buffers of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::world) struct Full {
    send: bool,
    receive: bool,
}

/// Times for which only the send buffer, only the receive window, or both were full.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::world) struct FullTimes {
    pub(in crate::world) send_buffer: Duration,
    pub(in crate::world) receive_window: Duration,
    pub(in crate::world) both: Duration,
}

/// The last report of a sender about a subflow.
#[derive(Clone, Copy, Debug)]
struct Held {
    path: u16,
    limit: PathLimit,
    since: Instant,
    /// Times for which full buffers blocked the subflow while their oldest data was on it.
    times: FullTimes,
}

/// The buffers of a flow: current state, and times.
#[derive(Clone, Copy, Debug)]
struct Known {
    full: Full,
    /// Whether a full buffer blocks the connection of the flow.
    waits: bool,
    since: Instant,
    times: FullTimes,
}

/// Full buffers of all flows.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    held: BTreeMap<Key, Held>,
    flows: BTreeMap<u16, Known>,
    /// Flows whose data has all arrived: their times have stopped.
    stopped: BTreeSet<u16>,
}

impl Full {
    /// The full buffers of a connection at its sender.
    pub(in crate::world) fn of(info: &ConnectionInfo) -> Self {
        let open = info.subflows.iter().filter(|subflow| subflow.closed_at.is_none());
        let segment = open.map(|subflow| subflow.mss).min().unwrap_or(1).max(1);
        let outstanding = info.bytes_sent.saturating_sub(info.bytes_acked);
        Self {
            send: info.bytes_written.saturating_sub(info.bytes_sent) < segment,
            receive: info.peer_window < outstanding + segment,
        }
    }
}

impl FullTimes {
    fn add(&mut self, full: Full, time: Duration) {
        match full {
            Full { send: true, receive: true } => self.both += time,
            Full { send: true, receive: false } => self.send_buffer += time,
            Full { send: false, receive: true } => self.receive_window += time,
            Full { send: false, receive: false } => {}
        }
    }

    /// Fractions of `life` for which each buffer was full, 0 to 1.
    pub(in crate::world) fn shares(&self, life: Duration) -> Vec<(&'static str, f64)> {
        let share = |time: Duration| time.as_secs_f64() / life.as_secs_f64().max(1e-9);
        let times = [
            ("send_buffer", self.send_buffer),
            ("receive_window", self.receive_window),
            ("both_buffers", self.both),
        ];
        times.map(|(name, time)| (name, share(time))).into()
    }

    fn sum(self, other: Self) -> Self {
        Self {
            send_buffer: self.send_buffer + other.send_buffer,
            receive_window: self.receive_window + other.receive_window,
            both: self.both + other.both,
        }
    }
}

impl Buffers {
    /// Handles a report that `limit` blocks a subflow from `at` on. Returns the actual limit.
    pub(super) fn report(&mut self, at: Instant, subflow: Key, path: u16, limit: PathLimit) -> Hold {
        if self.stopped.contains(&subflow.0) {
            return Hold::Sender(limit);
        }
        let full = self.full(subflow.0);
        let fresh = Held { path, limit, since: at, times: FullTimes::default() };
        let held = self.held.entry(subflow).or_insert(fresh);
        held.settle(at, full);
        (held.path, held.limit) = (path, limit);
        held.real(full)
    }

    /// Handles a report that `limit` blocks the connection of `flow` from `at` on.
    pub(super) fn block(&mut self, at: Instant, flow: u16, limit: Limit) {
        if self.stopped.contains(&flow) {
            return;
        }
        let known = self.flows.entry(flow).or_insert_with(|| Known::new(at));
        known.settle(at);
        known.waits = matches!(limit, Limit::SendBuffer | Limit::ReceiveWindow | Limit::HeadOfLine);
    }

    /// Whether full buffers block a flow.
    pub(super) fn is_waiting(&self, flow: u16) -> bool {
        self.flows.get(&flow).is_some_and(|known| known.waits)
    }

    /// Updates the full buffers of `flow` at `at`. Returns the subflows whose limit changes.
    pub(super) fn note_full(&mut self, at: Instant, flow: u16, full: Full) -> Vec<(Key, u16, Hold)> {
        let before = self.full(flow);
        let known = self.flows.entry(flow).or_insert_with(|| Known::new(at));
        known.settle(at);
        known.full = full;
        let own = self.held.range_mut((flow, 0)..=(flow, u8::MAX));
        let changed = own.filter(|(_, held)| held.real(before) != held.real(full));
        changed
            .map(|(key, held)| {
                held.settle(at, before);
                (*key, held.path, held.real(full))
            })
            .collect()
    }

    /// Times until `until` for which full buffers blocked a path while their oldest data was on it.
    pub(super) fn of_path(&self, flow: u16, path: u16, until: Instant) -> FullTimes {
        let own = self.held.range((flow, 0)..=(flow, u8::MAX)).map(|(_, held)| *held);
        own.filter(|held| held.path == path).fold(FullTimes::default(), |sum, mut held| {
            held.settle(until, self.full(flow));
            sum.sum(held.times)
        })
    }

    /// Times until `until` for which full buffers blocked the connection of `flow`.
    pub(super) fn of_flow(&self, flow: u16, until: Instant) -> FullTimes {
        self.flows.get(&flow).map_or_else(FullTimes::default, |known| {
            let mut known = *known;
            known.settle(until);
            known.times
        })
    }

    /// All data of `flow` arrived at `at`: stops its times.
    pub(super) fn stop(&mut self, at: Instant, flow: u16) {
        let full = self.full(flow);
        for (_, held) in self.held.range_mut((flow, 0)..=(flow, u8::MAX)) {
            held.settle(at, full);
            held.limit = PathLimit::Idle;
        }
        if let Some(known) = self.flows.get_mut(&flow) {
            known.settle(at);
            known.waits = false;
        }
        self.stopped.insert(flow);
    }

    /// Resets the times of `flow` at `at`, the start of its measured time.
    pub(super) fn count_anew(&mut self, at: Instant, flow: u16) {
        let full = self.full(flow);
        for (_, held) in self.held.range_mut((flow, 0)..=(flow, u8::MAX)) {
            held.settle(at, full);
            held.times = FullTimes::default();
        }
        if let Some(known) = self.flows.get_mut(&flow) {
            known.settle(at);
            known.times = FullTimes::default();
        }
    }

    fn full(&self, flow: u16) -> Full {
        self.flows.get(&flow).map_or_else(Full::default, |known| known.full)
    }
}

impl Known {
    fn new(at: Instant) -> Self {
        Self { full: Full::default(), waits: false, since: at, times: FullTimes::default() }
    }

    fn settle(&mut self, at: Instant) {
        if self.waits {
            self.times.add(self.full, at.since(self.since));
        }
        self.since = at;
    }
}

impl Held {
    fn is_full(&self) -> bool {
        matches!(self.limit, PathLimit::ReceiveWindow | PathLimit::SendBuffer)
    }

    fn settle(&mut self, at: Instant, full: Full) {
        if self.is_full() {
            self.times.add(full, at.since(self.since));
        }
        self.since = at;
    }

    fn real(&self, full: Full) -> Hold {
        match full {
            _ if !self.is_full() => Hold::Sender(self.limit),
            Full { send: true, receive: true } => Hold::BothBuffers,
            Full { send: true, receive: false } => Hold::Sender(PathLimit::SendBuffer),
            Full { send: false, receive: true } => Hold::Sender(PathLimit::ReceiveWindow),
            // There is data and space: the scheduler is the limit.
            Full { send: false, receive: false } => Hold::Sender(PathLimit::Scheduler),
        }
    }
}
