//! Floods of many similar packets, to find costs that grow with their number.
//!
//! Owns the floods of random cases. Such a case is a simulated attack whose steps random bytes control;
//! `Arena` holds its state. `attacks` has similar floods with fixed sizes.

use bytes::Bytes;
use mptcp_clock::Duration;
use mptcp_wire::{Flags, MpPrio, MptcpOption, Segment, Seq};

use super::Arena;
use crate::peer::{BLOCK, Peer};

/// Maximum packets of a burst.
const MOST: u64 = 2_048;

impl Arena<'_> {
    /// Sends a burst; the case's bytes choose its type and length.
    pub(super) fn burst(&mut self) {
        let kind = self.draw.byte() % 24;
        let count = self.draw.scaled(11).min(MOST);
        self.tell(|| format!("burst {kind}, {count} packets"));
        match kind {
            0 => self.each(count, |arena, i| {
                let (peer, host) = arena.numbered_pair(i);
                let mut syn = Segment::new(peer, host);
                (syn.flags, syn.sequence) = (Flags::SYN, Seq::new(i as u32));
                Some(syn)
            }),
            1 => self.each(count, |arena, i| {
                let (peer, host) = arena.numbered_pair(i);
                let mut stray = Segment::new(peer, (host.ip(), 9).into());
                (stray.flags, stray.acknowledgment) = (Flags::ACK, Seq::new(i as u32));
                Some(stray)
            }),
            2 => {
                let link = self.peer.links.len().checked_sub(1);
                self.each(count.min(300), |arena, _| {
                    let (peer, host) = arena.fresh_pair();
                    link.map(|link| arena.peer.join(arena.now, link, peer, host).1)
                });
            }
            3 => self.each(count.min(300), |arena, _| {
                let (peer, host) = arena.fresh_pair();
                let (id, syn) = arena.peer.call(arena.now, peer, host);
                arena.deliver(syn);
                arena.settle();
                Some(arena.peer.reset(arena.now, id))
            }),
            _ => {
                if let Some(id) = self.open_flow() {
                    self.burst_on(id, kind, count);
                }
            }
        }
    }

    fn numbered_pair(&mut self, i: u64) -> (std::net::SocketAddr, std::net::SocketAddr) {
        let host = self.addresses[0];
        let peer = if host.is_ipv6() {
            (std::net::Ipv6Addr::new(0xfd67, 0, 0, 0, 0, 0, 0, i as u16 + 1), 1_000).into()
        } else {
            ([10, 67, (i >> 8) as u8, i as u8], 1_000).into()
        };
        (peer, (host, crate::scene::PORT).into())
    }

    fn each(&mut self, count: u64, mut make: impl FnMut(&mut Self, u64) -> Option<Segment>) {
        for i in 0..count {
            let Some(segment) = make(self, i) else { return };
            self.deliver(segment);
        }
    }

    /// A payload: its own allocation, the only slice of a new large block such as the live driver's, or a
    /// slice of the peer's current block.
    fn burst_payload(&mut self, manner: u8, length: usize) -> Bytes {
        match manner % 4 {
            0 => Bytes::from(vec![3; length]),
            1 => {
                self.peer.renew_block(BLOCK);
                self.peer.payload(0, length)
            }
            _ => self.peer.payload(0, length),
        }
    }

    fn burst_on(&mut self, id: usize, kind: u8, count: u64) {
        let manner = self.draw.byte();
        let now = self.now;
        let length = self.draw.pick(&[1, 1, 100, 1_400]);
        let shuffle = |i: u64| (i * 2_654_435_761 + 17) % count.max(1);
        match kind {
            // Overlapping data, each segment shifted by one byte, behind a hole.
            4 => self.each(count, |arena, i| {
                let payload = arena.burst_payload(manner, length);
                Some(arena.peer.data_at(now, id, 1 + i as u32, payload))
            }),
            // Holes in random order.
            5 | 6 => self.each(count, |arena, i| {
                let payload = arena.burst_payload(manner, length);
                Some(arena.peer.data_at(now, id, 1 + (length as u32 + 1) * shuffle(i) as u32, payload))
            }),
            // In order on the subflow, but shifted or with holes at the data level.
            7 | 8 => self.each(count, |arena, i| {
                let step = if kind == 7 { 1 + i } else { 1 + (length as u64 + 1) * shuffle(i) };
                let payload = arena.burst_payload(manner, length);
                let mut segment = arena.peer.data_at(now, id, 0, payload);
                arena.map(id, step, &mut segment);
                arena.peer.flows[id].next = arena.peer.flows[id].next + length as u32;
                Some(segment)
            }),
            // Mappings without data.
            9 => self.each(count, |arena, i| {
                let mut segment = arena.peer.bare(now, id);
                let relative = segment.sequence.offset_from(arena.peer.flows[id].iss) as u32;
                let data = arena.peer.links[arena.peer.flows[id].link].data_next;
                segment.options.dss =
                    arena.peer.mapping(id, data + shuffle(i), relative + shuffle(i) as u32, &[1]);
                Some(segment)
            }),
            10 | 11 => self.each(count, |arena, i| {
                let mut segment = arena.peer.bare(now, id);
                segment.options.dss = None;
                let address = Self::numbered_address(i);
                segment.options.mptcp.push(arena.peer.add_address(id, 1 + (i % 255) as u8, address, None));
                Some(segment)
            }),
            12 => self.each(count, |arena, i| {
                let mut segment = arena.peer.bare(now, id);
                segment.sequence = segment.sequence + (1 << (i % 32));
                Some(segment)
            }),
            // Small segments in order.
            13 | 14 => self.each(count, |arena, _| {
                let payload = arena.burst_payload(manner, length);
                let segment = arena.peer.data_at(now, id, 0, payload);
                arena.peer.skip(id, length as u32);
                Some(segment)
            }),
            // One segment is sent repeatedly.
            15 => {
                let segment = self.peer.data(now, id, length);
                self.each(count, |_, _| Some(segment.clone()));
            }
            // SACK blocks within the sent data; some are invalid D-SACKs.
            16 | 17 => self.each(count, |arena, i| {
                let mut segment = arena.peer.bare(now, id);
                let span = segment.acknowledgment.offset_from(arena.peer.flows[id].host_iss).max(2) as u64;
                let back = (2 * i + 2) % span.min(60_000);
                let left = segment.acknowledgment - back as u32;
                if i % 4 == 3 {
                    segment.options.sack.push((left + 1, left));
                }
                segment.options.sack.push((left, left + 1));
                segment.acknowledgment = segment.acknowledgment - span.min(60_000) as u32;
                segment.options.dss = None;
                Some(segment)
            }),
            18 => self.each(count, |arena, i| {
                let mut segment = arena.peer.bare(now, id);
                let option = if i % 2 == 0 {
                    MptcpOption::Prio(MpPrio { backup: i % 4 == 0, address_id: None })
                } else {
                    Peer::remove_address(&[(i % 32) as u8])
                };
                segment.options.mptcp.push(option);
                Some(segment)
            }),
            // Data at intervals of up to 255 ms, so that every segment resets the timers.
            19 => self.each(count.min(400), |arena, _| {
                arena.pass(Duration::from_millis(u64::from(manner)));
                Some(arena.peer.data(arena.now, id, length))
            }),
            // Acknowledgements at the data level only, or at the subflow level only.
            20 => self.each(count, |arena, _| {
                let mut segment = arena.peer.bare(now, id);
                if manner.is_multiple_of(2) {
                    segment.acknowledgment = arena.peer.flows[id].host_iss + 1;
                } else {
                    segment.options.dss = None;
                }
                Some(segment)
            }),
            // Joins that fill buffers and are then reset.
            21 => {
                let link = self.peer.flows[id].link;
                for _ in 0..count.min(70) {
                    let (peer, host) = self.fresh_pair();
                    let (joined, syn) = self.peer.join(now, link, peer, host);
                    self.deliver(syn);
                    let third = self.peer.third_ack(now, joined);
                    self.deliver(third);
                    self.each(20, |arena, i| {
                        let payload = arena.burst_payload(manner, length);
                        Some(arena.peer.data_at(now, joined, 1 + (length as u32 + 1) * i as u32, payload))
                    });
                    let reset = self.peer.reset(now, joined);
                    self.deliver(reset);
                }
            }
            // Valid data, so that buffers and windows grow.
            _ => self.each(count, |arena, _| Some(arena.peer.data(now, id, 1_400))),
        }
    }

    fn map(&mut self, id: usize, step: u64, segment: &mut Segment) {
        let data = self.peer.links[self.peer.flows[id].link].data_next;
        let relative = segment.sequence.offset_from(self.peer.flows[id].iss) as u32;
        if let Some(dss) = self.peer.mapping(id, data + step, relative, &segment.payload) {
            segment.options.dss = Some(dss);
        }
    }
}
