//! Rows that take turns: deficit round robin (Shreedhar and Varghese, SIGCOMM 1995), or one packet each; by flow or by the port
//! at which a packet came. Work-conserving: a row that has nothing loses its turn.
//!
//! Owns the rows and the order of those that have something.

use std::collections::{BTreeMap, VecDeque};

use super::row::Row;
use super::{Next, Packet, QueueDiscipline, Wire};
use crate::queue_limit::QueueLimit;

/// What has a row of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// Packets of one label.
    Flow,
    /// Packets that came by one link; the node's own are one more.
    Port,
}

/// What can be set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turns {
    /// Who takes turns.
    pub by: By,
    /// Of each row.
    pub limit: QueueLimit,
    /// Bytes in a turn; `None`: one packet, whatever its length.
    pub quantum: Option<u32>,
}

#[derive(Debug, Default)]
struct Place {
    row: Row,
    credit: i64,
}

/// A queue under it.
#[derive(Debug)]
pub struct TurnsQueue {
    settings: Turns,
    rows: BTreeMap<u32, Place>,
    /// Rows with packets, the next one first.
    waiting: VecDeque<u32>,
}

impl TurnsQueue {
    /// An empty queue.
    #[must_use]
    pub fn new(settings: Turns) -> Self {
        Self { settings, rows: BTreeMap::new(), waiting: VecDeque::new() }
    }
}

impl QueueDiscipline for TurnsQueue {
    fn enqueue(&mut self, packet: Packet, wire: &mut Wire<'_>) {
        let key = match self.settings.by {
            By::Flow => packet.label,
            By::Port => packet.port.map_or(0, |port| port.0 + 1),
        };
        let place = self.rows.entry(key).or_default();
        if !self.settings.limit.fits(place.row.len(), place.row.bytes(), packet.bytes, wire.rate) {
            return wire.drop_full(packet);
        }
        if place.row.is_empty() {
            place.credit = i64::from(self.settings.quantum.unwrap_or(0));
            self.waiting.push_back(key);
        }
        place.row.push(packet);
    }

    fn dequeue(&mut self, _wire: &mut Wire<'_>) -> Next {
        while let Some(&key) = self.waiting.front() {
            let Some(place) = self.rows.get_mut(&key) else {
                self.waiting.pop_front();
                continue;
            };
            let Some(first) = place.row.first() else {
                self.waiting.pop_front();
                continue;
            };
            if let Some(quantum) = self.settings.quantum {
                let needed = i64::from(first.bytes);
                if place.credit < needed {
                    // Its turn is over; the next one is larger by what was left.
                    place.credit += i64::from(quantum.max(1));
                    self.waiting.rotate_left(1);
                    continue;
                }
                place.credit -= needed;
            }
            let Some(packet) = place.row.pop() else { continue };
            if place.row.is_empty() {
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
