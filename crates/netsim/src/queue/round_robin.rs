//! Round robin over sub-queues: deficit round robin (Shreedhar and Varghese, SIGCOMM 1995), or one packet
//! each. Sub-queues are per flow or per incoming link, so each gets its turn. Empty ones are skipped.
//!
//! Owns the sub-queues and the order of the non-empty ones.

use std::collections::{BTreeMap, VecDeque};

use super::packet_fifo::PacketFifo;
use super::{Next, Packet, QueueDiscipline, Wire};
use crate::queue_limit::QueueLimit;

/// The classification of packets into sub-queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// By label.
    Flow,
    /// By incoming link; packets of the node itself have a sub-queue of their own.
    Port,
}

/// Parameters of round robin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundRobin {
    /// Classification.
    pub by: By,
    /// Limit per sub-queue.
    pub limit: QueueLimit,
    /// Bytes per sub-queue and round; `None` for one packet of any length.
    pub quantum: Option<u32>,
}

#[derive(Debug, Default)]
struct Place {
    packets: PacketFifo,
    credit: i64,
}

/// A round-robin queue.
#[derive(Debug)]
pub struct RoundRobinQueue {
    settings: RoundRobin,
    rows: BTreeMap<u32, Place>,
    /// Non-empty sub-queues in the order of service.
    waiting: VecDeque<u32>,
}

impl RoundRobinQueue {
    /// An empty queue.
    #[must_use]
    pub fn new(settings: RoundRobin) -> Self {
        Self { settings, rows: BTreeMap::new(), waiting: VecDeque::new() }
    }
}

impl QueueDiscipline for RoundRobinQueue {
    fn enqueue(&mut self, packet: Packet, wire: &mut Wire<'_>) {
        let key = match self.settings.by {
            By::Flow => packet.label,
            By::Port => packet.port.map_or(0, |port| port.0 + 1),
        };
        let place = self.rows.entry(key).or_default();
        if !self.settings.limit.fits(place.packets.len(), place.packets.bytes(), packet.bytes, wire.rate) {
            return wire.drop_full(packet);
        }
        if place.packets.is_empty() {
            place.credit = i64::from(self.settings.quantum.unwrap_or(0));
            self.waiting.push_back(key);
        }
        place.packets.push(packet);
    }

    fn dequeue(&mut self, _wire: &mut Wire<'_>) -> Next {
        while let Some(&key) = self.waiting.front() {
            let Some(place) = self.rows.get_mut(&key) else {
                self.waiting.pop_front();
                continue;
            };
            let Some(first) = place.packets.first() else {
                self.waiting.pop_front();
                continue;
            };
            if let Some(quantum) = self.settings.quantum {
                let needed = i64::from(first.bytes);
                if place.credit < needed {
                    // The round of this sub-queue ends; unused credit carries over.
                    place.credit += i64::from(quantum.max(1));
                    self.waiting.rotate_left(1);
                    continue;
                }
                place.credit -= needed;
            }
            let Some(packet) = place.packets.pop() else { continue };
            if place.packets.is_empty() {
                self.waiting.pop_front();
                self.rows.remove(&key);
            } else if self.settings.quantum.is_none() {
                self.waiting.rotate_left(1);
            }
            return Next::Packet(packet);
        }
        Next::Nothing
    }

    fn clear(&mut self) {
        *self = Self::new(self.settings);
    }
}

#[cfg(test)]
mod tests;
