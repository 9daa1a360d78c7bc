//! FQ-CoDel (RFC 8290), as tc-fq_codel(8): one sub-queue per flow, served round robin by bytes, new flows
//! first, each under CoDel.
//!
//! Short flows thus do not wait behind long ones. Owns the sub-queues and the lists of new and old flows. A
//! flow is a frame label, usually one subflow.

use std::collections::VecDeque;

use super::codel::{CoDel, take};
use super::packet_fifo::PacketFifo;
use super::{CoDelLaw, Next, Packet, QueueDiscipline, Wire};
use crate::queue_limit::QueueLimit;

/// RFC 8290 section 5.2.1: a full queue drops half of the bytes of the longest sub-queue, but at most this
/// many packets.
const BATCH: usize = 64;

/// Parameters of FQ-CoDel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FqCoDel {
    /// CoDel per sub-queue; its limit is that of all sub-queues together.
    pub codel: CoDel,
    /// Number of sub-queues; labels are hashed to them.
    pub flows: u32,
    /// Bytes per flow and round.
    pub quantum: u32,
}

impl Default for FqCoDel {
    /// Defaults of tc: 10240 packets, 1024 sub-queues, 1514 bytes, 5 ms, 100 ms, marks.
    fn default() -> Self {
        let codel = CoDel { limit: QueueLimit::Packets(10_240), ecn: true, ..CoDel::default() };
        Self { codel, flows: 1024, quantum: 1514 }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    /// No packets.
    Idle,
    New,
    Old,
}

#[derive(Debug)]
struct Flow {
    packets: PacketFifo,
    law: CoDelLaw,
    credit: i64,
    turn: Turn,
}

/// An FQ-CoDel queue.
#[derive(Debug)]
pub struct FqCoDelQueue {
    settings: FqCoDel,
    /// Sub-queues, created at the first packet.
    flows: Vec<Flow>,
    /// Salt of the hash from labels to sub-queues.
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
            packets: PacketFifo::default(),
            law: CoDelLaw::new(target, interval, frame),
            credit: 0,
            turn: Turn::Idle,
        };
        self.flows.resize_with(self.settings.flows.max(1) as usize, flow);
    }

    /// Removes the first flow of a list, and appends it to the old flows or makes it idle.
    fn leave(&mut self, at: usize, is_new: bool, turn: Turn) {
        let list = if is_new { &mut self.new } else { &mut self.old };
        list.pop_front();
        self.flows[at].turn = turn;
        if turn == Turn::Old {
            self.old.push_back(at);
        }
    }

    /// Drops packets from the head of the sub-queue with the most bytes.
    #[cold]
    fn drop_of_longest(&mut self, wire: &mut Wire<'_>) {
        let waiting = self.new.iter().chain(&self.old);
        let Some(&longest) = waiting.max_by_key(|&&flow| (self.flows[flow].packets.bytes(), flow)) else {
            return;
        };
        let row = &mut self.flows[longest].packets;
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

/// RFC 8290 section 4.1.1 requires an unpredictable hash. Simulated flows do not attack, so SplitMix64 is
/// enough.
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
        flow.packets.push(packet);
        if flow.turn == Turn::Idle {
            // RFC 8290 section 4.1.2: an idle flow becomes new.
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
            let (packets, bytes) = (flow.packets.len(), flow.packets.bytes());
            let others = self.bytes - bytes;
            let packet = take(
                &self.settings.codel,
                &mut flow.law,
                &mut flow.packets,
                |row| others + row.bytes(),
                wire,
            );
            self.packets -= packets - flow.packets.len();
            self.bytes -= bytes - flow.packets.bytes();
            let Some(packet) = packet else {
                // RFC 8290 section 4.2: an empty new flow becomes old for one round, so that it cannot become
                // new again at once.
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
