//! A scripted MPTCP peer that tracks its connections and subflows, so that its segments are valid unless a caller
//! changes them.
//!
//! The host is the endpoint that the peer attacks. Owns the state that the peer learns from the host's
//! segments (`flow`). Also owns the creation of segments: handshakes in both roles (`handshake`), data and
//! acknowledgements (`segments`), and other MPTCP options (`signals`). Never sends by itself: the caller
//! decides.

mod flow;
mod handshake;
mod segments;
mod signals;

use std::collections::HashMap;
use std::net::SocketAddr;

use bytes::Bytes;
use mptcp::Version;
use mptcp_clock::Instant;
use mptcp_wire::{MpCapable, MpJoin, MptcpOption, Segment};

pub use flow::{Flow, Link, Stage};

/// Size of the live driver's read blocks in bytes; payloads are slices of such a block.
pub const BLOCK: usize = 256 << 10;

/// Options in the peer's SYNs and SYN/ACKs.
#[derive(Clone, Copy, Debug)]
pub struct Offer {
    /// Offers MPTCP.
    pub multipath: bool,
    /// The MPTCP version.
    pub version: Version,
    /// Requires DSS checksums.
    pub checksum: bool,
    /// Maximum segment size; None omits the option.
    pub mss: Option<u16>,
    /// Window scale; None omits the option.
    pub scale: Option<u8>,
    /// Offers selective acknowledgements.
    pub sack: bool,
    /// Offers timestamps.
    pub timestamps: bool,
    /// Value of the window field.
    pub window: u16,
}

impl Default for Offer {
    fn default() -> Self {
        Self {
            multipath: true,
            version: Version::V1,
            checksum: false,
            mss: Some(1_460),
            scale: Some(7),
            sack: true,
            timestamps: false,
            window: 60_000,
        }
    }
}

/// A peer with its connections.
#[derive(Debug)]
pub struct Peer {
    /// Options of future handshakes.
    pub offer: Offer,
    /// Its subflows, including dead ones.
    pub flows: Vec<Flow>,
    /// Its connections.
    pub links: Vec<Link>,
    /// The block that holds all payloads.
    pub block: Bytes,
    places: HashMap<(SocketAddr, SocketAddr), usize>,
    drawn: u64,
}

impl Default for Peer {
    fn default() -> Self {
        Self::new(Offer::default())
    }
}

impl Peer {
    /// A peer without connections.
    #[must_use]
    pub fn new(offer: Offer) -> Self {
        Self {
            offer,
            flows: Vec::new(),
            links: Vec::new(),
            block: Bytes::from(vec![0; 65_536]),
            places: HashMap::new(),
            drawn: 0,
        }
    }

    /// Allocates a new block; later payloads are slices of it.
    pub fn renew_block(&mut self, size: usize) {
        self.block = Bytes::from(vec![0; size]);
    }

    /// The latest subflow between two addresses.
    #[must_use]
    pub fn find(&self, peer: SocketAddr, host: SocketAddr) -> Option<usize> {
        self.places.get(&(peer, host)).copied()
    }

    /// Drops all state, so that it does not count as live memory.
    pub fn clear(&mut self) {
        *self = Self { block: Bytes::new(), ..Self::new(self.offer) };
    }

    fn add(&mut self, flow: Flow) -> usize {
        self.places.insert((flow.peer, flow.host), self.flows.len());
        self.flows.push(flow);
        self.flows.len() - 1
    }

    fn key(&mut self) -> u64 {
        self.drawn += 1;
        self.drawn.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x0123_4567_89ab_cdef
    }

    /// Processes a host's segment. Returns its subflow; None for unknown segments.
    pub fn take(&mut self, segment: &Segment) -> Option<usize> {
        let known = self.find(segment.destination, segment.source);
        let flags = segment.flags;
        if flags.rst() {
            let id = known?;
            self.flows[id].stage = Stage::Dead;
            return Some(id);
        }
        if flags.syn() && !flags.ack() {
            return self.take_call(segment, known);
        }
        let id = known?;
        if flags.syn() {
            self.take_answer(id, segment);
            return Some(id);
        }
        let flow = &mut self.flows[id];
        flow.learn(segment);
        let relative = segment.sequence.offset_from(flow.host_iss) as u32;
        if flow.stage == Stage::Called && flow.acknowledged == flow.iss + 1 {
            flow.stage = Stage::Open;
        }
        let link = flow.link;
        self.links[link].learn(segment, relative);
        Some(id)
    }

    /// Processes a host's SYN: a new connection, a join, or a retransmission.
    fn take_call(&mut self, segment: &Segment, known: Option<usize>) -> Option<usize> {
        if let Some(id) = known.filter(|&id| self.flows[id].host_iss == segment.sequence) {
            self.flows[id].owes_ack = true;
            return Some(id);
        }
        let mut joins = None;
        let mut offer = None;
        for option in &segment.options.mptcp {
            match option {
                MptcpOption::Join(MpJoin::Syn { token, nonce, .. }) => joins = Some((*token, *nonce)),
                MptcpOption::Capable(capable) => offer = Some(*capable),
                _ => {}
            }
        }
        let link = match joins {
            Some((token, _)) => {
                self.links.iter().position(|link| link.version.digest(link.key).token == token)?
            }
            None => {
                let key = self.key();
                let version =
                    if offer.is_some_and(|offer| offer.version == 0) { Version::V0 } else { Version::V1 };
                let mut link = Link::new(version, key);
                if let Some(offer) = offer {
                    link.multipath = self.offer.multipath;
                    link.checksum = self.offer.checksum || offer.flags & MpCapable::CHECKSUM_REQUIRED != 0;
                    link.host_key = offer.sender_key;
                }
                self.links.push(link);
                self.links.len() - 1
            }
        };
        let iss = self.key() as u32;
        let mut flow = Flow::new(segment.destination, segment.source, link, iss);
        flow.joins = joins.is_some();
        flow.host_nonce = joins.map_or(0, |(_, nonce)| nonce);
        flow.stage = Stage::Called;
        flow.calls = false;
        flow.owes_ack = true;
        flow.host_iss = segment.sequence;
        flow.host_next = segment.sequence + 1;
        self.agree(&mut flow, segment);
        Some(self.add(flow))
    }

    /// Processes a host's SYN/ACK.
    fn take_answer(&mut self, id: usize, segment: &Segment) {
        let offer = self.offer;
        let flow = &mut self.flows[id];
        if flow.stage != Stage::Asked {
            return;
        }
        flow.host_iss = segment.sequence;
        flow.host_next = segment.sequence + 1;
        flow.stage = Stage::Open;
        flow.owes_ack = true;
        flow.learn(segment);
        flow.timestamps = offer.timestamps && segment.options.timestamps.is_some();
        flow.host_scale = segment.options.window_scale.filter(|_| offer.scale.is_some()).unwrap_or(0).min(14);
        for option in &segment.options.mptcp {
            match option {
                MptcpOption::Join(MpJoin::SynAck { nonce, .. }) => flow.host_nonce = *nonce,
                MptcpOption::Capable(capable) => {
                    let link = &mut self.links[flow.link];
                    link.multipath = true;
                    link.checksum |= capable.flags & MpCapable::CHECKSUM_REQUIRED != 0;
                    link.host_key = capable.sender_key.or(link.host_key);
                }
                _ => {}
            }
        }
    }

    fn agree(&self, flow: &mut Flow, segment: &Segment) {
        flow.timestamps = self.offer.timestamps && segment.options.timestamps.is_some();
        flow.host_scale =
            segment.options.window_scale.filter(|_| self.offer.scale.is_some()).unwrap_or(0).min(14);
        flow.host_clock = segment.options.timestamps.map_or(0, |timestamps| timestamps.value);
    }

    /// The peer's timestamp clock; never zero.
    fn clock(now: Instant) -> u32 {
        (now.as_millis() as u32).wrapping_add(77).max(1)
    }
}
