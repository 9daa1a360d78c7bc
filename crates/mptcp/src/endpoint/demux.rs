//! Demultiplexing: finds the connection and the subflow of a segment by four-tuple, by token (RFC 8684
//! section 3.2) or by listening port.
//!
//! Owns the lookup tables and the secret of the endpoint. The secret is the key of the hashes of the tables,
//! of the timestamp offsets and of the SYN cookies. Never stores anything for an unknown host.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, Hasher};
use std::net::{IpAddr, SocketAddr};

use mptcp_clock::Rng;
use mptcp_wire::Segment;
use rustc_hash::FxHashMap;
use siphasher::sip::SipHasher13;

use crate::connection::{Connection, SubflowTuple};
use crate::endpoint::listener::Listener;
use crate::ids::SubflowId;

/// Entries in the cache of recent lookups.
const CACHE_SIZE: usize = 64;

/// A recent lookup: local address, remote address, and the slot and subflow found.
type RecentLookup = (SocketAddr, SocketAddr, (u32, SubflowId));

/// Lookup tables. Peers choose the keys, so a secret hash prevents them from choosing the buckets.
#[derive(Debug)]
pub(crate) struct Demux {
    tuples: HashMap<Tuple, (u32, SubflowId), Secret>,
    /// Cache in front of `tuples`, which saves the keyed hash. A peer that provokes cache misses only adds
    /// the cost of that hash.
    recent_lookup: [Option<RecentLookup>; CACHE_SIZE],
    tokens: HashMap<u32, u32, Secret>,
    pub(crate) listeners: FxHashMap<u16, Listener>,
}

impl Demux {
    pub(crate) fn new(secret: Secret) -> Self {
        let (tuples, tokens) = (HashMap::with_hasher(secret), HashMap::with_hasher(secret));
        Self { tuples, recent_lookup: [None; CACHE_SIZE], tokens, listeners: FxHashMap::default() }
    }

    /// The slot and the subflow of a segment; `None` if no subflow has its four-tuple.
    #[inline(always)]
    pub(crate) fn find(&mut self, segment: &Segment) -> Option<(u32, SubflowId)> {
        let (local, remote) = (&segment.destination, &segment.source);
        let recent_lookup = &mut self.recent_lookup[port_hash(local, remote) % CACHE_SIZE];
        if let Some((known, peer, owner)) = recent_lookup
            && known == local
            && peer == remote
        {
            return Some(*owner);
        }
        let owner = *self.tuples.get(&Tuple::new(*local, *remote))?;
        *recent_lookup = Some((*local, *remote, owner));
        Some(owner)
    }

    /// The slot and the subflow of a four-tuple; does not use the cache.
    pub(crate) fn owner(&self, local: SocketAddr, remote: SocketAddr) -> Option<(u32, SubflowId)> {
        self.tuples.get(&Tuple::new(local, remote)).copied()
    }

    /// Whether a subflow uses this four-tuple.
    pub(crate) fn is_taken(&self, local: SocketAddr, remote: SocketAddr) -> bool {
        self.tuples.contains_key(&Tuple::new(local, remote))
    }

    /// Lengths over all listeners: of the SYN queues, and of the SYN and accept queues together.
    pub(crate) fn queue_lengths(&self) -> (usize, usize) {
        self.listeners
            .values()
            .map(Listener::queue_lengths)
            .fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    }

    /// The slot of the connection with this token.
    pub(crate) fn slot_of_token(&self, token: u32) -> Option<u32> {
        self.tokens.get(&token).copied()
    }

    pub(crate) fn has_token(&self, token: u32) -> bool {
        self.tokens.contains_key(&token)
    }

    /// Adds the four-tuple of a subflow and the token of its connection.
    pub(crate) fn register(&mut self, slot: u32, token: u32, at: SubflowTuple) {
        self.recent_lookup = [None; CACHE_SIZE];
        self.tuples.insert(Tuple::new(at.local, at.remote), (slot, at.id));
        self.tokens.insert(token, slot);
    }

    /// Removes the four-tuple of a closed subflow, unless another connection has registered it since.
    pub(crate) fn remove_subflow(&mut self, slot: u32, at: SubflowTuple) {
        self.recent_lookup = [None; CACHE_SIZE];
        let tuple = Tuple::new(at.local, at.remote);
        if self.tuples.get(&tuple) == Some(&(slot, at.id)) {
            self.tuples.remove(&tuple);
        }
    }

    /// Removes the token of a closed connection: later joins are refused.
    pub(crate) fn remove_token(&mut self, slot: u32, token: u32) {
        if self.tokens.get(&token) == Some(&slot) {
            self.tokens.remove(&token);
        }
    }

    /// Removes the four-tuples and the token of a connection.
    pub(crate) fn remove_connection(&mut self, slot: u32, connection: &Connection) {
        self.recent_lookup = [None; CACHE_SIZE];
        for at in connection.subflow_tuple() {
            let tuple = Tuple::new(at.local, at.remote);
            if self.tuples.get(&tuple).is_some_and(|owner| owner.0 == slot) {
                self.tuples.remove(&tuple);
            }
        }
        self.remove_token(slot, connection.token());
    }
}

/// Four-tuple of a subflow, local end first, in a form that compares and hashes fast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tuple {
    local: u128,
    remote: u128,
    ports: u32,
}

impl Tuple {
    pub(crate) fn new(local: SocketAddr, remote: SocketAddr) -> Self {
        let number = |address: IpAddr| match address {
            IpAddr::V4(address) => 0xffff << 32 | u128::from(u32::from(address)),
            IpAddr::V6(address) => u128::from(address),
        };
        let ports = u32::from(local.port()) << 16 | u32::from(remote.port());
        Self { local: number(local.ip()), remote: number(remote.ip()), ports }
    }
}

/// A cheap hash of the ports for the cache index.
#[inline]
pub(crate) fn port_hash(local: &SocketAddr, remote: &SocketAddr) -> usize {
    let ports = usize::from(local.port() ^ remote.port());
    ports ^ ports >> 8
}

impl Hash for Tuple {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let mut bytes = [0; 36];
        let (local, tail) = bytes.split_at_mut(16);
        let (remote, ports) = tail.split_at_mut(16);
        local.copy_from_slice(&self.local.to_ne_bytes());
        remote.copy_from_slice(&self.remote.to_ne_bytes());
        ports.copy_from_slice(&self.ports.to_ne_bytes());
        state.write(&bytes);
    }
}

/// Two SipHash keys, random and constant for the life of an endpoint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Secret {
    keys: [u64; 2],
}

impl Secret {
    pub(crate) fn new(mut random: Rng) -> Self {
        Self { keys: [random.next_u64(), random.next_u64()] }
    }

    /// Keyed hash of a four-tuple and `about`; only this endpoint can compute it.
    pub(crate) fn number(self, local: SocketAddr, remote: SocketAddr, about: &[u32]) -> u64 {
        let mut hasher = self.build_hasher();
        Tuple::new(local, remote).hash(&mut hasher);
        about.iter().for_each(|number| hasher.write_u32(*number));
        hasher.finish()
    }

    /// Start of the timestamp clock of a connection (RFC 7323 section 7.1). One clock for all connections
    /// would show which addresses belong to the same host, and its uptime.
    pub(crate) fn timestamp_offset(self, local: SocketAddr, remote: SocketAddr) -> u32 {
        self.number(local, remote, &[0]) as u32
    }
}

impl BuildHasher for Secret {
    type Hasher = SipHasher13;

    fn build_hasher(&self) -> SipHasher13 {
        SipHasher13::new_with_keys(self.keys[0], self.keys[1])
    }
}

#[cfg(test)]
mod tests {
    use std::hash::BuildHasher;
    use std::net::SocketAddr;

    use mptcp_clock::Rng;

    use super::{Secret, Tuple};

    /// Knowledge of the buckets of one endpoint does not help against another.
    #[test]
    fn two_endpoints_hash_tuples_to_different_buckets() {
        let secrets = [1, 2].map(|seed| Secret::new(Rng::new(seed, "secret")));
        let order = |secret: Secret| {
            let bucket = |port: u16| {
                let (local, remote) =
                    (SocketAddr::from(([10, 0, 0, 1], 80)), SocketAddr::from(([10, 0, 0, 2], port)));
                secret.hash_one(Tuple::new(local, remote)) >> 56
            };
            (0..64).map(bucket).collect::<Vec<u64>>()
        };
        let [one, other] = secrets.map(order);
        let same = one.iter().zip(&other).filter(|(one, other)| one == other).count();
        assert!(same < 8, "{same} of 64 in the same bucket");
        let mut buckets = one;
        buckets.sort_unstable();
        buckets.dedup();
        assert!(buckets.len() > 40, "{} buckets of 64", buckets.len());
    }
}
