//! Join requests beyond the limit of half-open subflows, stored as in Linux (net/mptcp/syncookies.c).
//!
//! Owns a table of fixed size, in which a later SYN may replace an earlier one. The bucket is a keyed hash of
//! the addresses, so an attacker cannot aim at one bucket. An honest join is replaced within one RTT with
//! probability (SYNs per RTT) / [`MAX_REQUESTS`].
//!
//! Never creates a subflow: a host that has seen a token can send such SYNs from any address, and only the
//! third ACK proves that the sender knows the keys (RFC 8684 section 3.2).

use std::collections::HashMap;
use std::net::SocketAddr;

use mptcp_clock::{Duration, Instant};
use mptcp_wire::{Flags, MpJoin, MptcpOption, Segment, Seq, Timestamps};

use crate::connection::join_option;

/// Maximum number of stored requests, about 0.5 MB.
pub(crate) const MAX_REQUESTS: u64 = 4096;
/// If no request arrives for this time, all stored requests expire. No client waits longer for a SYN/ACK (RFC
/// 6298 section 5.7).
const LIFETIME: Duration = Duration::from_secs(64);

/// The content of a SYN with MP_JOIN.
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
    /// Reads a SYN; `None` if it is not a SYN with MP_JOIN.
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
            // The SYN/ACK does not negotiate ECN (RFC 3168 section 6.1.1).
            flags: Flags::SYN,
            mss: options.mss,
            scale: options.window_scale,
            sack: options.sack_permitted,
            timestamp: options.timestamps.map(|timestamps| timestamps.value),
        })
    }

    /// Rebuilds the SYN.
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

    /// Input of the keyed hash for `purpose`, in addition to the addresses.
    pub(crate) fn hash_input(&self, purpose: u32) -> [u32; 3] {
        [purpose, self.nonce, self.first.value()]
    }
}

/// The table of requests, by bucket.
#[derive(Debug, Default)]
pub(crate) struct JoinRequests {
    requests: HashMap<u64, JoinRequest>,
    last: Instant,
}

impl JoinRequests {
    pub(crate) fn len(&self) -> usize {
        self.requests.len()
    }

    /// Stores a request; replaces the one in the same bucket.
    pub(crate) fn keep(&mut self, now: Instant, bucket: u64, request: JoinRequest) {
        self.remove_expired(now);
        self.last = now;
        self.requests.insert(bucket % MAX_REQUESTS, request);
    }

    /// The request in a bucket, if `segment` has the same addresses and ports.
    pub(crate) fn find(&mut self, now: Instant, bucket: u64, segment: &Segment) -> Option<JoinRequest> {
        self.remove_expired(now);
        let found = self.requests.get(&(bucket % MAX_REQUESTS)).copied();
        found.filter(|request| request.local == segment.destination && request.remote == segment.source)
    }

    pub(crate) fn remove(&mut self, bucket: u64) {
        self.requests.remove(&(bucket % MAX_REQUESTS));
    }

    fn remove_expired(&mut self, now: Instant) {
        if now.since(self.last) > LIFETIME {
            self.requests = HashMap::new();
        }
    }
}
