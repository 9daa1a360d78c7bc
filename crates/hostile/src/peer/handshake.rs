//! Handshakes of the attacking peer as opener and as acceptor: MP_CAPABLE and MP_JOIN (RFC 8684 sections 3.1
//! and 3.2, RFC 6824), and plain TCP.
//!
//! Owns the creation of SYNs, SYN/ACKs and third ACKs with valid keys and HMACs. The host is the attacked
//! endpoint.

use std::net::SocketAddr;

use mptcp::Version;
use mptcp_clock::Instant;
use mptcp_wire::{Flags, MpCapable, MpJoin, MptcpOption, Segment, Timestamps};

use super::{Flow, Link, Peer};

impl Peer {
    /// Starts a connection. Returns its first subflow and the SYN.
    pub fn call(&mut self, now: Instant, peer: SocketAddr, host: SocketAddr) -> (usize, Segment) {
        let key = self.key();
        let mut link = Link::new(self.offer.version, key);
        link.checksum = self.offer.checksum;
        self.links.push(link);
        let iss = self.key() as u32;
        let id = self.add(Flow::new(peer, host, self.links.len() - 1, iss));
        let syn = self.syn(now, id);
        (id, syn)
    }

    /// Starts another subflow of a connection. Returns the subflow and the SYN.
    pub fn join(
        &mut self,
        now: Instant,
        link: usize,
        peer: SocketAddr,
        host: SocketAddr,
    ) -> (usize, Segment) {
        let iss = self.key() as u32;
        let mut flow = Flow::new(peer, host, link, iss);
        flow.joins = true;
        let id = self.add(flow);
        let syn = self.syn(now, id);
        (id, syn)
    }

    /// The SYN of a subflow. A repeated call gives a retransmission.
    #[must_use]
    pub fn syn(&self, now: Instant, id: usize) -> Segment {
        let flow = &self.flows[id];
        let link = &self.links[flow.link];
        let mut segment = Segment::new(flow.peer, flow.host);
        segment.flags = Flags::SYN;
        segment.sequence = flow.iss;
        self.offer_options(now, &mut segment, 0);
        if flow.joins {
            // Without the host's key the token is a guess.
            let token = link.host_key.map_or(flow.nonce, |key| link.version.digest(key).token);
            let join = MpJoin::Syn { backup: false, address_id: (id % 255) as u8, token, nonce: flow.nonce };
            segment.options.mptcp.push(MptcpOption::Join(join));
        } else if self.offer.multipath {
            let sender_key = (link.version == Version::V0).then_some(link.key);
            segment.options.mptcp.push(capable(link, sender_key, None, None));
        }
        segment
    }

    /// The SYN/ACK for the host's SYN.
    #[must_use]
    pub fn syn_ack(&self, now: Instant, id: usize) -> Segment {
        let flow = &self.flows[id];
        let link = &self.links[flow.link];
        let mut segment = Segment::new(flow.peer, flow.host);
        segment.flags = Flags::SYN | Flags::ACK;
        segment.sequence = flow.iss;
        segment.acknowledgment = flow.host_next;
        self.offer_options(now, &mut segment, flow.host_clock);
        if flow.joins {
            let hmac = link.host_key.map_or(0, |key| {
                link.version.join_hmac_truncated(link.key, key, flow.nonce, flow.host_nonce)
            });
            let join =
                MpJoin::SynAck { backup: false, address_id: (id % 255) as u8, hmac, nonce: flow.nonce };
            segment.options.mptcp.push(MptcpOption::Join(join));
        } else if link.multipath {
            segment.options.mptcp.push(capable(link, Some(link.key), None, None));
        }
        segment
    }

    /// The option of a third ACK: both keys, or the HMAC of a join.
    #[must_use]
    pub fn third_option(&self, id: usize) -> Option<MptcpOption> {
        let flow = &self.flows[id];
        let link = &self.links[flow.link];
        let host_key = link.host_key?;
        if flow.joins {
            let hmac = link.version.join_hmac(link.key, host_key, flow.nonce, flow.host_nonce);
            return Some(MptcpOption::Join(MpJoin::Ack { hmac }));
        }
        link.multipath.then(|| capable(link, Some(link.key), Some(host_key), None))
    }

    /// The third ACK of a handshake that the peer started.
    #[must_use]
    pub fn third_ack(&self, now: Instant, id: usize) -> Segment {
        let mut segment = self.bare(now, id);
        if let Some(option) = self.third_option(id) {
            segment.options.dss = None;
            segment.options.mptcp.push(option);
        }
        segment
    }

    fn offer_options(&self, now: Instant, segment: &mut Segment, echo: u32) {
        segment.window = self.offer.window;
        segment.options.mss = self.offer.mss;
        segment.options.window_scale = self.offer.scale;
        segment.options.sack_permitted = self.offer.sack;
        segment.options.timestamps =
            self.offer.timestamps.then(|| Timestamps { value: Self::clock(now), echo });
    }
}

/// An MP_CAPABLE option with these keys.
pub(super) fn capable(
    link: &Link,
    sender_key: Option<u64>,
    receiver_key: Option<u64>,
    data: Option<(u16, Option<u16>)>,
) -> MptcpOption {
    let checksum = if link.checksum { MpCapable::CHECKSUM_REQUIRED } else { 0 };
    let (version, flags) = (link.version.number(), MpCapable::HMAC | checksum);
    MptcpOption::Capable(MpCapable { version, flags, sender_key, receiver_key, data })
}
