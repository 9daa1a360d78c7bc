//! CoDel (RFC 8289), as tc-codel(8).
//!
//! Owns one row of packets. The control law is `codel_law`'s.

use mptcp_clock::Duration;

use super::row::Row;
use super::{CoDelLaw, Next, Packet, QueueDiscipline, Wire};
use crate::queue_limit::QueueLimit;

/// What can be set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoDel {
    /// More than this is dropped at the tail.
    pub limit: QueueLimit,
    /// How long packets may wait.
    pub target: Duration,
    /// For how long they may wait longer: a round trip of the slowest flows.
    pub interval: Duration,
    /// Mark what may be marked, instead of dropping it.
    pub ecn: bool,
    /// A full frame of the line, bytes: no more than one may always wait.
    pub frame: u32,
    /// Mark all that waited longer than this, whatever the law says.
    pub ce_threshold: Option<Duration>,
}

impl Default for CoDel {
    /// tc's: 1000 packets, 5 ms, 100 ms, no marks.
    fn default() -> Self {
        Self {
            limit: QueueLimit::Packets(1000),
            target: Duration::from_millis(5),
            interval: Duration::from_millis(100),
            ecn: false,
            frame: 1514,
            ce_threshold: None,
        }
    }
}

/// A queue under it.
#[derive(Debug)]
pub struct CoDelQueue {
    settings: CoDel,
    row: Row,
    law: CoDelLaw,
}

impl CoDelQueue {
    /// An empty queue.
    #[must_use]
    pub fn new(settings: CoDel) -> Self {
        Self {
            settings,
            row: Row::default(),
            law: CoDelLaw::new(settings.target, settings.interval, settings.frame),
        }
    }
}

impl QueueDiscipline for CoDelQueue {
    fn enqueue(&mut self, packet: Packet, wire: &mut Wire<'_>) {
        if self.settings.limit.fits(self.row.len(), self.row.bytes(), packet.bytes, wire.rate) {
            self.row.push(packet);
        } else {
            wire.drop_full(packet);
        }
    }

    fn dequeue(&mut self, wire: &mut Wire<'_>) -> Next {
        let behind = |row: &Row| row.bytes();
        take(&self.settings, &mut self.law, &mut self.row, behind, wire).map_or(Next::Nothing, Next::Packet)
    }

    fn clear(&mut self) {
        self.row.clear();
        self.law = CoDelLaw::new(self.settings.target, self.settings.interval, self.settings.frame);
    }
}

/// The next packet of a row that the law lets through (RFC 8289 section 5.6). `backlog` says how many bytes wait behind a
/// packet that has been taken: with less than a full frame nothing is dropped.
pub(super) fn take(
    settings: &CoDel,
    law: &mut CoDelLaw,
    row: &mut Row,
    backlog: impl Fn(&Row) -> u64,
    wire: &mut Wire<'_>,
) -> Option<Packet> {
    while let Some(mut packet) = row.pop() {
        let waited = wire.now.since(packet.arrived);
        let signals = law.drops(wire.now, waited, backlog(row));
        if signals && !(settings.ecn && wire.mark(&mut packet)) {
            wire.drop_early(packet);
            continue;
        }
        if settings.ce_threshold.is_some_and(|threshold| waited > threshold) {
            wire.mark(&mut packet);
        }
        return Some(packet);
    }
    // RFC 8289 section 5.6: an empty queue leaves the dropping state.
    law.emptied();
    None
}

#[cfg(test)]
mod tests;
