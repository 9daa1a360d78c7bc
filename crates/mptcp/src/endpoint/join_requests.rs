//! Joins for which their connection has no place: what their SYNs said, as Linux keeps it (net/mptcp/syncookies.c).
//!
//! Who has seen a token in clear can send such SYNs from any address, and only the third ACK shows the keys (RFC 8684 section
//! 3.2). A connection keeps few joins that are half open; beyond them a SYN is answered from a table of the endpoint, in which a
//! later SYN takes the place of an earlier one. Which one follows from the addresses and a secret: a flood cannot choose, and an
//! honest join is hit in a round trip with a probability of SYNs per round trip by [`MAX_REQUESTS`].

use std::collections::HashMap;
use std::net::SocketAddr;

use mptcp_clock::{Duration, Instant};
use mptcp_wire::{Flags, MpJoin, MptcpOption, Segment, Seq, Timestamps};

use crate::connection::join_option;

/// Requests that are kept, at most: about 0.5 MB.
pub(crate) const MAX_REQUESTS: u64 = 4096;
/// After this time without a further one all are let go of: a SYN/ACK is not waited for longer (RFC 6298 section 5.7).
const LIFE: Duration = Duration::from_secs(64);

/// What a SYN with MP_JOIN said.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JoinRequest {
    local: SocketAddr,
    remote: SocketAddr,
    pub(crate) token: u32,
    pub(crate) nonce: u32,
    backup: bool,
    address_id: u8,
    first: Seq,
    window: u16,
    flags: Flags,
    mss: Option<u16>,
    scale: Option<u8>,
    sack: bool,
    timestamp: Option<u32>,
}

impl JoinRequest {
    /// None where a segment is no such SYN.
    pub(crate) fn of(syn: &Segment) -> Option<Self> {
        let Some(&MpJoin::Syn { backup, address_id, token, nonce }) = join_option(&syn.options) else {
            return None;
        };
        let options = &syn.options;
        Some(Self {
            local: syn.destination,
            remote: syn.source,
            token,
            nonce,
            backup,
            address_id,
            first: syn.sequence,
            window: syn.window,
            // The answer grants no ECN (RFC 3168 section 6.1.1).
            flags: Flags::SYN,
            mss: options.mss,
            scale: options.window_scale,
            sack: options.sack_permitted,
            timestamp: options.timestamps.map(|timestamps| timestamps.value),
        })
    }

    /// The SYN.
    pub(crate) fn syn(&self) -> Segment {
        let mut syn = Segment::new(self.remote, self.local);
        (syn.flags, syn.sequence, syn.window) = (self.flags, self.first, self.window);
        (syn.options.mss, syn.options.window_scale) = (self.mss, self.scale);
        syn.options.sack_permitted = self.sack;
        syn.options.timestamps = self.timestamp.map(|value| Timestamps { value, echo: 0 });
        let &Self { backup, address_id, token, nonce, .. } = self;
        syn.options.mptcp.push(MptcpOption::Join(MpJoin::Syn { backup, address_id, token, nonce }));
        syn
    }

    /// What our own numbers follow from, beside the addresses and the secret.
    pub(crate) fn about(&self, what: u32) -> [u32; 3] {
        [what, self.nonce, self.first.value()]
    }
}

/// The table.
#[derive(Debug, Default)]
pub(crate) struct JoinRequests {
    kept: HashMap<u64, JoinRequest>,
    last: Instant,
}

impl JoinRequests {
    pub(crate) fn len(&self) -> usize {
        self.kept.len()
    }

    /// Keeps a request at a place below [`MAX_REQUESTS`], instead of what was there.
    pub(crate) fn keep(&mut self, now: Instant, place: u64, request: JoinRequest) {
        self.forget_old(now);
        self.last = now;
        self.kept.insert(place % MAX_REQUESTS, request);
    }

    /// The request of the sender of an acknowledgement, if it is the one at a place.
    pub(crate) fn find(&mut self, now: Instant, place: u64, segment: &Segment) -> Option<JoinRequest> {
        self.forget_old(now);
        let found = self.kept.get(&(place % MAX_REQUESTS)).copied();
        found.filter(|request| request.local == segment.destination && request.remote == segment.source)
    }

    pub(crate) fn remove(&mut self, place: u64) {
        self.kept.remove(&(place % MAX_REQUESTS));
    }

    fn forget_old(&mut self, now: Instant) {
        if now.since(self.last) > LIFE {
            self.kept = HashMap::new();
        }
    }
}
