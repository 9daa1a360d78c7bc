//! FQ-CoDel (RFC 8290), as tc-fq_codel(8): a row for each flow, served in turn by bytes, new flows first, each under CoDel.
//!
//! Owns the rows and the two lists of those that wait for their turn. A flow is what has one label.

use std::collections::VecDeque;

use super::codel::{CoDel, take};
use super::row::Row;
use super::{CoDelLaw, Next, Packet, QueueDiscipline, Wire};
use crate::queue_limit::QueueLimit;

/// RFC 8290 section 5.2.1: when it is full, so many packets of the longest row are dropped at once, or half of it.
const BATCH: usize = 64;

/// What can be set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FqCoDel {
    /// Of each row; its limit is that of all rows together.
    pub codel: CoDel,
    /// Rows; labels share them by a hash.
    pub flows: u32,
    /// Bytes that a flow sends in its turn.
    pub quantum: u32,
}

impl Default for FqCoDel {
    /// tc's: 10240 packets, 1024 rows, 1514 bytes, 5 ms, 100 ms, marks.
    fn default() -> Self {
        let codel = CoDel { limit: QueueLimit::Packets(10_240), ecn: true, ..CoDel::default() };
        Self { codel, flows: 1024, quantum: 1514 }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    /// It has nothing.
    Idle,
    New,
    Old,
}

#[derive(Debug)]
struct Flow {
    row: Row,
    law: CoDelLaw,
    credit: i64,
    turn: Turn,
}

/// A queue under it.
#[derive(Debug)]
pub struct FqCoDelQueue {
    settings: FqCoDel,
    /// Made when the first packet comes.
    flows: Vec<Flow>,
    /// Which labels share a row is drawn with them.
    salt: u64,
    new: VecDeque<usize>,
    old: VecDeque<usize>,
    packets: usize,
    bytes: u64,
}

impl FqCoDelQueue {
    /// An empty queue.
    #[must_use]
    pub fn new(settings: FqCoDel) -> Self {
        let (new, old) = (VecDeque::new(), VecDeque::new());
        Self { settings, flows: Vec::new(), salt: 0, new, old, packets: 0, bytes: 0 }
    }

    fn flow_of(&self, label: u32) -> usize {
        (spread(u64::from(label) ^ self.salt) % self.flows.len() as u64) as usize
    }

    #[cold]
    fn make_flows(&mut self, wire: &mut Wire<'_>) {
        let CoDel { target, interval, frame, .. } = self.settings.codel;
        self.salt = wire.random.next_u64();
        let flow = || Flow {
            row: Row::default(),
            law: CoDelLaw::new(target, interval, frame),
            credit: 0,
            turn: Turn::Idle,
        };
        self.flows.resize_with(self.settings.flows.max(1) as usize, flow);
    }

    /// Takes the first flow of a list away, to the end of the old ones or to rest.
    fn leave(&mut self, at: usize, is_new: bool, turn: Turn) {
        let list = if is_new { &mut self.new } else { &mut self.old };
        list.pop_front();
        self.flows[at].turn = turn;
        if turn == Turn::Old {
            self.old.push_back(at);
        }
    }

    /// Drops from the head of the row that holds most bytes.
    #[cold]
    fn drop_of_longest(&mut self, wire: &mut Wire<'_>) {
        let waiting = self.new.iter().chain(&self.old);
        let Some(&longest) = waiting.max_by_key(|&&flow| (self.flows[flow].row.bytes(), flow)) else {
            return;
        };
        let row = &mut self.flows[longest].row;
        let (enough, before) = (row.bytes() / 2, row.bytes());
        for _ in 0..BATCH {
            let Some(packet) = row.pop() else { break };
            self.packets -= 1;
            wire.drop_full(packet);
            if before - row.bytes() >= enough {
                break;
            }
        }
        self.bytes -= before - row.bytes();
    }
}

/// RFC 8290 section 4.1.1 asks for a hash that nobody can guess; here nobody tries, so mixing is enough (SplitMix64's).
fn spread(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

impl QueueDiscipline for FqCoDelQueue {
    fn enqueue(&mut self, packet: Packet, wire: &mut Wire<'_>) {
        if self.flows.is_empty() {
            self.make_flows(wire);
        }
        let limit = self.settings.codel.limit;
        let fits = limit.fits(self.packets, self.bytes, packet.bytes, wire.rate);
        let at = self.flow_of(packet.label);
        self.packets += 1;
        self.bytes += u64::from(packet.bytes);
        let flow = &mut self.flows[at];
        flow.row.push(packet);
        if flow.turn == Turn::Idle {
            // RFC 8290 section 4.1.2: a flow that had nothing is new.
            flow.turn = Turn::New;
            flow.credit = i64::from(self.settings.quantum);
            self.new.push_back(at);
        }
        if !fits {
            self.drop_of_longest(wire);
        }
    }

    fn dequeue(&mut self, wire: &mut Wire<'_>) -> Next {
        loop {
            let Some(&at) = self.new.front().or_else(|| self.old.front()) else { return Next::Nothing };
            let is_new = !self.new.is_empty();
            let flow = &mut self.flows[at];
            if flow.credit <= 0 {
                flow.credit += i64::from(self.settings.quantum);
                self.leave(at, is_new, Turn::Old);
                continue;
            }
            let (packets, bytes) = (flow.row.len(), flow.row.bytes());
            let others = self.bytes - bytes;
            let packet =
                take(&self.settings.codel, &mut flow.law, &mut flow.row, |row| others + row.bytes(), wire);
            self.packets -= packets - flow.row.len();
            self.bytes -= bytes - flow.row.bytes();
            let Some(packet) = packet else {
                // RFC 8290 section 4.2: a new flow with nothing left waits once among the old ones, so that it cannot come
                // back as new at once.
                let turn = if is_new && !self.old.is_empty() { Turn::Old } else { Turn::Idle };
                self.leave(at, is_new, turn);
                continue;
            };
            flow.credit -= i64::from(packet.bytes);
            return Next::Packet(packet);
        }
    }

    fn clear(&mut self) {
        *self = Self::new(self.settings);
    }
}

#[cfg(test)]
mod tests;
