//! Drop-tail as a discipline: for lines whose frames leave when a trace says so. A plain wire needs none.
//!
//! Owns one row.

use super::row::Row;
use super::{Next, Packet, QueueDiscipline, Wire};
use crate::queue_limit::QueueLimit;

/// A queue that drops what finds it full.
#[derive(Debug)]
pub struct DropTailQueue {
    limit: QueueLimit,
    row: Row,
}

impl DropTailQueue {
    /// An empty queue.
    #[must_use]
    pub fn new(limit: QueueLimit) -> Self {
        Self { limit, row: Row::default() }
    }
}

impl QueueDiscipline for DropTailQueue {
    fn enqueue(&mut self, packet: Packet, wire: &mut Wire<'_>) {
        if self.limit.fits(self.row.len(), self.row.bytes(), packet.bytes, wire.rate) {
            self.row.push(packet);
        } else {
            wire.drop_full(packet);
        }
    }

    fn dequeue(&mut self, _wire: &mut Wire<'_>) -> Next {
        self.row.pop().map_or(Next::Nothing, Next::Packet)
    }

    fn clear(&mut self) {
        self.row.clear();
    }
}
