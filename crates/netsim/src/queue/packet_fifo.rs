//! A FIFO of packets with their total length in bytes, from which the disciplines build their queues.
//!
//! Makes no decisions.

use std::collections::VecDeque;

use mptcp_clock::{Duration, Instant};

use super::Packet;

#[derive(Debug, Default)]
pub(super) struct PacketFifo {
    packets: VecDeque<Packet>,
    bytes: u64,
}

impl PacketFifo {
    pub(super) fn push(&mut self, packet: Packet) {
        self.bytes += u64::from(packet.bytes);
        self.packets.push_back(packet);
    }

    pub(super) fn pop(&mut self) -> Option<Packet> {
        let packet = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.bytes);
        Some(packet)
    }

    pub(super) fn first(&self) -> Option<&Packet> {
        self.packets.front()
    }

    pub(super) fn len(&self) -> usize {
        self.packets.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Queueing delay of the first packet.
    pub(super) fn waited(&self, now: Instant) -> Duration {
        self.first().map_or(Duration::ZERO, |first| now.since(first.arrived))
    }

    pub(super) fn clear(&mut self) {
        self.packets.clear();
        self.bytes = 0;
    }
}
