//! Strict priority, as tc-prio(8): a band is served when all higher bands are empty.
//!
//! Owns one queue per band. The caller assigns frame classes to bands, so a link can prefer some subflows.

use std::ops::Range;
use std::sync::Arc;

use super::packet_fifo::PacketFifo;
use super::{Next, Packet, QueueDiscipline, Wire};
use crate::queue_limit::QueueLimit;

/// Parameters of the priority queue.
#[derive(Clone, Debug, PartialEq)]
pub struct Prio {
    /// Disjoint ranges of classes, sorted by start, with their band. Band 0 has the highest priority. Other
    /// classes share the last band.
    pub bands: Arc<[(Range<u32>, usize)]>,
    /// Limit per band.
    pub limit: QueueLimit,
}

/// A priority queue.
#[derive(Debug)]
pub struct PrioQueue {
    settings: Prio,
    rows: Vec<PacketFifo>,
}

impl PrioQueue {
    /// An empty queue.
    #[must_use]
    pub fn new(settings: Prio) -> Self {
        let last = settings.bands.iter().map(|(_, band)| band + 1).max().unwrap_or(0);
        let mut rows = Vec::new();
        rows.resize_with(last + 1, PacketFifo::default);
        Self { settings, rows }
    }
}

impl QueueDiscipline for PrioQueue {
    fn enqueue(&mut self, packet: Packet, wire: &mut Wire<'_>) {
        let last = self.rows.len() - 1;
        let class = packet.label >> 8;
        let after = self.settings.bands.partition_point(|(classes, _)| classes.start <= class);
        let found = after.checked_sub(1).map(|at| &self.settings.bands[at]);
        let band = found.filter(|(classes, _)| classes.contains(&class)).map_or(last, |(_, band)| *band);
        let row = &mut self.rows[band];
        if self.settings.limit.fits(row.len(), row.bytes(), packet.bytes, wire.rate) {
            row.push(packet);
        } else {
            wire.drop_full(packet);
        }
    }

    fn dequeue(&mut self, _wire: &mut Wire<'_>) -> Next {
        self.rows.iter_mut().find_map(PacketFifo::pop).map_or(Next::Nothing, Next::Packet)
    }

    fn clear(&mut self) {
        self.rows.iter_mut().for_each(PacketFifo::clear);
    }
}
