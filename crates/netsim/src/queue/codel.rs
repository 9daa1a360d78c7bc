//! CoDel (RFC 8289), as tc-codel(8): drops or marks packets to hold the queueing delay near a target.
//!
//! Owns one queue of packets. `codel_law` has the control law.

use mptcp_clock::Duration;

use super::packet_fifo::PacketFifo;
use super::{CoDelLaw, Next, Packet, QueueDiscipline, Wire};
use crate::queue_limit::QueueLimit;

/// Parameters of CoDel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoDel {
    /// Limit of the queue, beyond which arriving packets are dropped.
    pub limit: QueueLimit,
    /// Acceptable queueing delay.
    pub target: Duration,
    /// Time for which the delay may exceed the target: about the largest RTT of the flows.
    pub interval: Duration,
    /// Marks ECN-capable packets instead of dropping them.
    pub ecn: bool,
    /// A full frame of the link, bytes: a backlog of this size is always acceptable.
    pub frame: u32,
    /// Marks all packets with a longer queueing delay, independent of the control law; `None` marks none.
    pub ce_threshold: Option<Duration>,
}

impl Default for CoDel {
    /// Defaults of tc: 1000 packets, 5 ms, 100 ms, no marks.
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

/// A CoDel queue.
#[derive(Debug)]
pub struct CoDelQueue {
    settings: CoDel,
    packets: PacketFifo,
    law: CoDelLaw,
}

impl CoDelQueue {
    /// An empty queue.
    #[must_use]
    pub fn new(settings: CoDel) -> Self {
        Self {
            settings,
            packets: PacketFifo::default(),
            law: CoDelLaw::new(settings.target, settings.interval, settings.frame),
        }
    }
}

impl QueueDiscipline for CoDelQueue {
    fn enqueue(&mut self, packet: Packet, wire: &mut Wire<'_>) {
        if self.settings.limit.fits(self.packets.len(), self.packets.bytes(), packet.bytes, wire.rate) {
            self.packets.push(packet);
        } else {
            wire.drop_full(packet);
        }
    }

    fn dequeue(&mut self, wire: &mut Wire<'_>) -> Next {
        let behind = |row: &PacketFifo| row.bytes();
        take(&self.settings, &mut self.law, &mut self.packets, behind, wire)
            .map_or(Next::Nothing, Next::Packet)
    }

    fn clear(&mut self) {
        self.packets.clear();
        self.law = CoDelLaw::new(self.settings.target, self.settings.interval, self.settings.frame);
    }
}

/// The next packet that the control law passes (RFC 8289 section 5.6). `backlog` returns the bytes behind a
/// removed packet. With at most a full frame behind it, no packet is dropped.
pub(super) fn take(
    settings: &CoDel,
    law: &mut CoDelLaw,
    row: &mut PacketFifo,
    backlog: impl Fn(&PacketFifo) -> u64,
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
