//! Random addresses, subflows and stray segments for the attacking peer.
//!
//! Owns these choices of a random case, a simulated attack whose steps random bytes control. `Arena` holds
//! the state of the case; `moves`, `deviate` and `bursts` send the packets.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use bytes::Bytes;
use mptcp_wire::{Flags, Segment};

use super::Arena;
use crate::peer::Stage;
use crate::scene::PORT;

/// An address of the peer.
pub(super) fn peer_address(number: u8, wide: bool) -> IpAddr {
    if wide {
        Ipv6Addr::new(0xfd66, 0, 0, 0, 0, 0, 0, u16::from(number) + 1).into()
    } else {
        [10, 66, 0, number + 1].into()
    }
}

impl Arena<'_> {
    /// An address of the host, or an unused one.
    pub(super) fn some_address(&mut self) -> SocketAddr {
        let wide = self.draw.flag();
        let ip = match self.draw.byte() % 8 {
            0 => [127, 0, 0, 1].into(),
            1 => [255, 255, 255, 255].into(),
            2 => [0, 0, 0, 0].into(),
            3 => [10, 99, 0, 2].into(),
            4 => self.addresses[self.draw.below(self.addresses.len())],
            _ => peer_address(self.draw.byte() % 8, wide),
        };
        SocketAddr::new(ip, self.draw.pick(&[443, 0, 80, 65_535]))
    }

    /// One of the peer's most recent subflows.
    pub(super) fn some_flow(&mut self) -> Option<usize> {
        let count = self.peer.flows.len();
        let recent = count.min(16);
        (count > 0).then(|| count - 1 - self.draw.below(recent))
    }

    /// A recent subflow, open if possible; `None` if the peer has no subflow.
    pub(super) fn open_flow(&mut self) -> Option<usize> {
        let drawn = self.some_flow()?;
        let open = |&at: &usize| self.peer.flows[at].stage == Stage::Open;
        if open(&drawn) {
            return Some(drawn);
        }
        (0..self.peer.flows.len()).rev().take(64).find(open).or(Some(drawn))
    }

    pub(super) fn fresh_pair(&mut self) -> (SocketAddr, SocketAddr) {
        let host = self.addresses[self.draw.below(self.addresses.len())];
        self.ports = self.ports.wrapping_add(1).max(1_024);
        let port = self.draw.pick(&[PORT, PORT, PORT, PORT + 1, 9]);
        (SocketAddr::new(peer_address(self.draw.byte() % 3, host.is_ipv6()), self.ports), (host, port).into())
    }

    /// Sometimes adds data and a TCP Fast Open cookie to a SYN.
    pub(super) fn open_fast(&mut self, syn: &mut Segment) {
        if !self.draw.chance(60) {
            return;
        }
        let length = self.draw.pick(&[0, 4, 8, 16]);
        syn.options.fast_open = Some((0..length).map(|at| at as u8).collect());
        let length = self.draw.pick(&[0, 1, 1_000, 20_000]);
        syn.payload = self.peer.payload(0, length);
    }

    /// A segment that belongs to no connection.
    pub(super) fn stray(&mut self) -> Segment {
        let (peer, host) = self.fresh_pair();
        let mut segment = Segment::new(peer, host);
        segment.flags = Flags::from_bits(self.draw.u16());
        segment.sequence = mptcp_wire::Seq::new(self.draw.u32());
        segment.acknowledgment = mptcp_wire::Seq::new(self.draw.u32());
        segment.window = self.draw.u16();
        segment.payload = if self.draw.flag() { self.peer.payload(0, 100) } else { Bytes::new() };
        segment
    }
}
