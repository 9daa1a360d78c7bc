//! Which buffers are full where a sender reports that one is.
//!
//! Owns one rule: the receive window is full where it has no space for a segment, and the send buffer is full where nothing is left
//! unsent. Senders report [`PathLimit::ReceiveWindow`] for both where the peer holds early data, and one of them where both are full.

use std::collections::{BTreeMap, BTreeSet};

use mptcp::observe::PathLimit;
use mptcp::{ConnectionInfo, Limit};
use mptcp_clock::{Duration, Instant};

/// A subflow: the flow, and the subflow's number in its connection as far as a frame's label tells it.
pub(super) type Key = (u16, u8);

/// The limit of a subflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hold {
    /// The limit that its sender reported, or the buffer that really is full.
    Sender(PathLimit),
    /// The send buffer and the receive window are full: a larger one of them alone would not help.
    BothBuffers,
}

/// The buffers of a connection that are full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::world) struct Full {
    send: bool,
    receive: bool,
}

/// Time in which the send buffer alone, the receive window alone, or both were full.
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
    /// How long it was held back by full buffers whose oldest data was its own.
    times: FullTimes,
}

/// The buffers of a flow: which are full, and for how long they were.
#[derive(Clone, Copy, Debug)]
struct Known {
    full: Full,
    /// A full buffer holds its connection back.
    waits: bool,
    since: Instant,
    times: FullTimes,
}

/// See the top of the file.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    held: BTreeMap<Key, Held>,
    flows: BTreeMap<u16, Known>,
    /// Flows of which all data has arrived: nothing counts of them.
    stopped: BTreeSet<u16>,
}

impl Full {
    /// Those of a connection at its sender.
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

    /// By buffer: the part of `life`.
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
    /// A sender reports that `limit` holds a subflow back from `at` on; returns what really does.
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

    /// A sender reports that `limit` holds the connection of `flow` back from `at` on.
    pub(super) fn block(&mut self, at: Instant, flow: u16, limit: Limit) {
        if self.stopped.contains(&flow) {
            return;
        }
        let known = self.flows.entry(flow).or_insert_with(|| Known::new(at));
        known.settle(at);
        known.waits = matches!(limit, Limit::SendBuffer | Limit::ReceiveWindow | Limit::HeadOfLine);
    }

    /// The flows that full buffers hold back.
    pub(super) fn waiting(&self) -> impl Iterator<Item = u16> + '_ {
        self.flows.iter().filter(|(_, known)| known.waits).map(|(flow, _)| *flow)
    }

    /// These buffers of `flow` are full from `at` on; returns the subflows that something else holds back now.
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

    /// How long until `until` full buffers held a path back whose oldest data was on it.
    pub(super) fn of_path(&self, flow: u16, path: u16, until: Instant) -> FullTimes {
        let own = self.held.range((flow, 0)..=(flow, u8::MAX)).map(|(_, held)| *held);
        own.filter(|held| held.path == path).fold(FullTimes::default(), |sum, mut held| {
            held.settle(until, self.full(flow));
            sum.sum(held.times)
        })
    }

    /// How long until `until` full buffers held the connection of `flow` back.
    pub(super) fn of_flow(&self, flow: u16, until: Instant) -> FullTimes {
        self.flows.get(&flow).map_or_else(FullTimes::default, |known| {
            let mut known = *known;
            known.settle(until);
            known.times
        })
    }

    /// All data of `flow` has arrived at `at`: later times do not count.
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

    /// Forgets how long buffers of `flow` were full up to `at`, when its warm-up ended.
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
            // There is data, and space for it: the scheduler waits.
            Full { send: false, receive: false } => Hold::Sender(PathLimit::Scheduler),
        }
    }
}
