//! Which buffer is full where a sender reports that one is.
//!
//! Owns one rule: a sender with unsent data waits for the receive window, and one that has sent all that its application could write
//! waits for the send buffer. Senders report [`PathLimit::ReceiveWindow`] for both where the peer holds early data.

use std::collections::BTreeMap;

use mptcp::observe::PathLimit;
use mptcp_clock::{Duration, Instant};

/// A subflow: the flow, and the subflow's number in its connection as far as a frame's label tells it.
pub(super) type Key = (u16, u8);

/// What a sender reported last of a subflow.
#[derive(Clone, Copy, Debug)]
struct Held {
    path: u16,
    limit: PathLimit,
    since: Instant,
    /// How long the send buffer was full where the receive window was reported.
    send_buffer: Duration,
}

/// See the top of the file.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    held: BTreeMap<Key, Held>,
    /// By flow: nothing is left unsent.
    sent_all: BTreeMap<u16, bool>,
}

impl Buffers {
    /// A sender reports that `limit` holds a subflow back from `at` on; returns the limit that really does.
    pub(super) fn report(&mut self, at: Instant, subflow: Key, path: u16, limit: PathLimit) -> PathLimit {
        let sent_all = self.has_sent_all(subflow.0);
        let fresh = Held { path, limit, since: at, send_buffer: Duration::ZERO };
        let held = self.held.entry(subflow).or_insert(fresh);
        held.settle(at, sent_all);
        (held.path, held.limit) = (path, limit);
        held.real(sent_all)
    }

    /// The connection of `flow` has so many bytes left to send from `at` on; returns the subflows that another limit holds back now.
    pub(super) fn note_unsent(&mut self, at: Instant, flow: u16, unsent: u64) -> Vec<(Key, u16, PathLimit)> {
        let (before, now) = (self.has_sent_all(flow), unsent == 0);
        self.sent_all.insert(flow, now);
        let own = self.held.range_mut((flow, 0)..=(flow, u8::MAX));
        let changed = own.filter(|(_, held)| before != now && held.limit == PathLimit::ReceiveWindow);
        changed
            .map(|(key, held)| {
                held.settle(at, before);
                (*key, held.path, held.real(now))
            })
            .collect()
    }

    /// How long until `until` the send buffer held a path back where the receive window was reported.
    pub(super) fn send_buffer(&self, flow: u16, path: u16, until: Instant) -> Duration {
        let own = self.held.range((flow, 0)..=(flow, u8::MAX)).map(|(_, held)| *held);
        own.filter(|held| held.path == path).fold(Duration::ZERO, |sum, mut held| {
            held.settle(until, self.has_sent_all(flow));
            sum + held.send_buffer
        })
    }

    fn has_sent_all(&self, flow: u16) -> bool {
        self.sent_all.get(&flow).copied().unwrap_or(false)
    }
}

impl Held {
    fn settle(&mut self, at: Instant, sent_all: bool) {
        if self.real(sent_all) != self.limit {
            self.send_buffer += at.since(self.since);
        }
        self.since = at;
    }

    fn real(&self, sent_all: bool) -> PathLimit {
        if sent_all && self.limit == PathLimit::ReceiveWindow { PathLimit::SendBuffer } else { self.limit }
    }
}
