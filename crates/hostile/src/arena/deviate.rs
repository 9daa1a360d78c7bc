//! Segments of the attacking peer that differ from valid ones in a few fields.
//!
//! The segments are part of a random case, a simulated attack whose steps random bytes control; `Arena` holds
//! the state of the case. Owns the changes. Each has broken a known implementation, or tests a bound that an
//! implementation may lack.

use bytes::Bytes;
use mptcp::Version;
use mptcp_wire::{
    AddAddress, DataSequence, Flags, Mapping, MpCapable, MpJoin, MpPrio, MpTcpRst, MptcpOption, ResetReason,
    Segment, Seq, Timestamps,
};

use super::Arena;
use super::choices::peer_address;
use crate::peer::Peer;

impl Arena<'_> {
    /// Sends a segment with changed fields.
    pub(super) fn deviate(&mut self) {
        let now = self.now;
        let Some(id) = (if self.draw.chance(60) { self.some_flow() } else { self.open_flow() }) else {
            let stray = self.stray();
            return self.deliver(stray);
        };
        let mut segment = match self.draw.byte() % 16 {
            0 => self.peer.syn(now, id),
            1 => self.peer.syn_ack(now, id),
            2 => self.peer.third_ack(now, id),
            3 => self.peer.reset(now, id),
            4 => self.peer.fin(now, id),
            5 => self.peer.data_fin(now, id),
            6..=8 => self.peer.bare(now, id),
            9..=11 => {
                let length = self.draw.pick(&[1, 100, 1_400, 20_000]);
                self.peer.data(now, id, length)
            }
            _ => {
                let ahead = self.draw.edge(1) as u32;
                let length = self.draw.pick(&[1, 2, 100, 1_400, 20_000]);
                let payload = self.some_payload(length);
                self.peer.data_at(now, id, ahead, payload)
            }
        };
        for _ in 0..=self.draw.byte() % 4 {
            self.change(id, &mut segment);
        }
        let times = if self.draw.chance(40) { 1 + self.draw.byte() % 8 } else { 1 };
        for _ in 0..times {
            self.deliver(segment.clone());
        }
    }

    fn some_payload(&mut self, length: usize) -> Bytes {
        if self.draw.flag() { self.peer.payload(0, length) } else { Bytes::from(vec![3; length]) }
    }

    fn change(&mut self, id: usize, segment: &mut Segment) {
        match self.draw.byte() % 20 {
            0 | 1 => segment.sequence = Seq::new(self.draw.edge(segment.sequence.value().into()) as u32),
            2 | 3 => {
                segment.acknowledgment =
                    Seq::new(self.draw.edge(segment.acknowledgment.value().into()) as u32);
            }
            4 => segment.window = self.draw.pick(&[0, 1, 2, 100, 65_535]),
            5 => segment.flags = Flags::from_bits(segment.flags.bits() ^ 1 << (self.draw.byte() % 9)),
            6 => segment.flags = Flags::from_bits(self.draw.u16()),
            7 => self.change_timestamps(segment),
            8 => self.add_blocks(id, segment),
            9 => {
                segment.options.mss = Some(self.draw.pick(&[0, 1, 64, 536, 65_535]));
                segment.options.window_scale = Some(self.draw.byte());
                segment.options.sack_permitted = self.draw.flag();
            }
            10 => self.open_fast(segment),
            11 => segment.options.dss = None,
            12 | 13 => self.change_dss(id, segment),
            14 => segment.options.mptcp.clear(),
            15 | 16 => {
                let option = self.signal(id);
                segment.options.dss = segment.options.dss.filter(|_| self.draw.flag());
                segment.options.mptcp.push(option);
            }
            17 => {
                let length = self.draw.pick(&[0, 1, 2, 1_000, 60_000]);
                segment.payload = self.some_payload(length);
            }
            18 => {
                segment.options.timestamps = None;
                segment.options.sack.clear();
            }
            _ => {
                segment.urgent = self.draw.u16();
                if self.draw.chance(60) {
                    segment.source.set_port(self.draw.u16());
                }
            }
        }
    }

    fn change_timestamps(&mut self, segment: &mut Segment) {
        let now = segment.options.timestamps.unwrap_or(Timestamps { value: 1, echo: 0 });
        segment.options.timestamps = Some(Timestamps {
            value: self.draw.edge(now.value.into()) as u32,
            echo: self.draw.edge(now.echo.into()) as u32,
        });
    }

    /// Adds SACK blocks of any shape, inside and outside the sent data.
    fn add_blocks(&mut self, id: usize, segment: &mut Segment) {
        let next = self.peer.flows[id].host_next.value();
        for _ in 0..=self.draw.byte() % 4 {
            let left = self.draw.edge(next.into()) as u32;
            let right = self.draw.edge(left.into()) as u32;
            let _ = segment.options.sack.try_push((Seq::new(left), Seq::new(right)));
        }
        segment.acknowledgment = Seq::new(next.wrapping_sub(self.draw.scaled(14) as u32));
    }

    fn number(&mut self, near: u64) -> DataSequence {
        let number = self.draw.edge(near);
        if self.draw.chance(80) { DataSequence::Short(number as u32) } else { DataSequence::Wide(number) }
    }

    fn change_dss(&mut self, id: usize, segment: &mut Segment) {
        let flow = self.peer.flows[id].clone();
        let link = self.peer.links[flow.link].clone();
        let mut dss = segment.options.dss.unwrap_or_default();
        let near = link.number(link.data_next);
        match self.draw.byte() % 10 {
            0 | 1 => dss.ack = Some(self.number(link.data_ack().unwrap_or(0))),
            2 => dss.ack = None,
            3 => dss.data_fin = !dss.data_fin,
            4 => dss.mapping = None,
            kind => {
                let relative = segment.sequence.offset_from(flow.iss) as u32;
                let mut mapping = dss.mapping.unwrap_or(Mapping {
                    sequence: DataSequence::Wide(near),
                    subflow_sequence: relative,
                    length: segment.payload.len().max(1) as u16,
                    checksum: link.checksum.then_some(0),
                });
                match kind {
                    5 => mapping.sequence = self.number(near),
                    6 => mapping.subflow_sequence = self.draw.edge(relative.into()) as u32,
                    7 => mapping.length = self.draw.edge(mapping.length.into()) as u16,
                    8 => mapping.checksum = if self.draw.flag() { None } else { Some(self.draw.u16()) },
                    _ => mapping.length = 0,
                }
                dss.mapping = Some(mapping);
            }
        }
        segment.options.dss = Some(dss);
    }

    /// An MPTCP option other than the DSS, valid or invalid.
    pub(super) fn signal(&mut self, id: usize) -> MptcpOption {
        let link = self.peer.links[self.peer.flows[id].link].clone();
        let near = link.host_data;
        match self.draw.byte() % 20 {
            0..=4 => {
                let to = self.some_address();
                let (number, port) = (self.draw.byte(), self.draw.flag().then_some(to.port()));
                self.peer.add_address(id, number, to.ip(), port)
            }
            5 => {
                let address = self.some_address().ip();
                let hmac = self.draw.flag().then_some(1);
                MptcpOption::AddAddress(AddAddress {
                    echo: false,
                    id: self.draw.byte(),
                    address,
                    port: None,
                    hmac,
                })
            }
            6 => {
                let address = self.addresses[self.draw.below(self.addresses.len())];
                let id = self.draw.byte() % 5;
                MptcpOption::AddAddress(AddAddress { echo: true, id, address, port: None, hmac: None })
            }
            7 | 8 => {
                let ids: Vec<u8> = (0..=self.draw.byte() % 36).map(|_| self.draw.byte() % 32).collect();
                Peer::remove_address(&ids)
            }
            9 | 10 => {
                let address_id =
                    (link.version == Version::V0 && self.draw.flag()).then(|| self.draw.byte() % 4);
                MptcpOption::Prio(MpPrio { backup: self.draw.flag(), address_id })
            }
            11 | 12 => {
                let offset = self.draw.edge(near);
                self.peer.fail(id, offset)
            }
            13 => {
                if self.draw.flag() {
                    self.peer.fast_close(id)
                } else {
                    MptcpOption::FastClose(self.draw.u64())
                }
            }
            14 => MptcpOption::TcpRst(MpTcpRst {
                flags: self.draw.byte() & 15,
                reason: ResetReason(self.draw.byte()),
            }),
            15 => {
                let data = self.draw.flag().then(|| (self.draw.u16(), link.checksum.then_some(9)));
                let (sender_key, receiver_key) = (Some(link.key), link.host_key);
                let flags = self.draw.pick(&[0x01, 0x81, 0x41, 0x21, 0x00, 0xff]);
                let version = self.draw.pick(&[1, 0, 2, 15]);
                MptcpOption::Capable(MpCapable { version, flags, sender_key, receiver_key, data })
            }
            16 => MptcpOption::Capable(MpCapable {
                version: self.draw.pick(&[1, 0, 2, 15]),
                flags: self.draw.pick(&[0x01, 0x81, 0x41, 0x21, 0x00, 0xff]),
                sender_key: self.draw.flag().then_some(link.key),
                receiver_key: None,
                data: None,
            }),
            17 => {
                let token = link.host_key.map_or(1, |key| link.version.digest(key).token);
                let (address_id, nonce) = (self.draw.byte(), self.draw.u32());
                MptcpOption::Join(MpJoin::Syn { backup: self.draw.flag(), address_id, token, nonce })
            }
            18 => self.peer.third_option(id).unwrap_or(MptcpOption::Join(MpJoin::Ack { hmac: [0; 20] })),
            _ => MptcpOption::Join(MpJoin::SynAck {
                backup: self.draw.flag(),
                address_id: self.draw.byte(),
                hmac: self.draw.u64(),
                nonce: self.draw.u32(),
            }),
        }
    }

    /// Address to announce number `number`: eight addresses of the peer, then addresses outside its subnets.
    pub(super) fn numbered_address(number: u64) -> std::net::IpAddr {
        if number < 8 {
            peer_address(number as u8, false)
        } else {
            [10, 77, (number >> 8) as u8, number as u8].into()
        }
    }
}
