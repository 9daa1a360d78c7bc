//! Drop-tail as a queue discipline, for links that replay a recording. Plain wires need no discipline: their
//! departures are computed on arrival. Owns one queue.

use super::packet_fifo::PacketFifo;
use super::{Next, Packet, QueueDiscipline, Wire};
use crate::queue_limit::QueueLimit;

/// A drop-tail queue.
#[derive(Debug)]
pub struct DropTailQueue {
    limit: QueueLimit,
    packets: PacketFifo,
}

impl DropTailQueue {
    /// An empty queue.
    #[must_use]
    pub fn new(limit: QueueLimit) -> Self {
        Self { limit, packets: PacketFifo::default() }
    }
}

impl QueueDiscipline for DropTailQueue {
    fn enqueue(&mut self, packet: Packet, wire: &mut Wire<'_>) {
        if self.limit.fits(self.packets.len(), self.packets.bytes(), packet.bytes, wire.rate) {
            self.packets.push(packet);
        } else {
            wire.drop_full(packet);
        }
    }

    fn dequeue(&mut self, _wire: &mut Wire<'_>) -> Next {
        self.packets.pop().map_or(Next::Nothing, Next::Packet)
    }

    fn clear(&mut self) {
        self.packets.clear();
    }
}
