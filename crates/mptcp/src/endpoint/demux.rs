//! From a segment to its connection: four-tuples, tokens (RFC 8684 section 3.2), listening ports.
//!
//! The addresses and ports that tell subflows apart.
//!
//! What others must not guess about this endpoint, and what follows from it: where tables keep things, timestamp
//! offsets, SYN cookies.
//!
//! Owns two keys of SipHash, drawn once. Keeps nothing about anybody.

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

/// Subflows that are found without a look into the table.
const LATELY: usize = 64;

/// A subflow that was found lately: both its ends, ours first, the connection and the subflow.
type RecentLookup = (SocketAddr, SocketAddr, (u32, SubflowId));

/// Tables under a key of the endpoint's own: others choose what stands in them, and must not know where.
#[derive(Debug)]
pub(crate) struct Demux {
    tuples: HashMap<Tuple, (u32, SubflowId), Secret>,
    /// What was found lately, so that segments of the same subflows are not hashed again. Who makes others miss it gains
    /// nothing: they pay for the hash.
    recent_lookup: [Option<RecentLookup>; LATELY],
    tokens: HashMap<u32, u32, Secret>,
    pub(crate) listeners: FxHashMap<u16, Listener>,
}

impl Demux {
    pub(crate) fn new(secret: Secret) -> Self {
        let (tuples, tokens) = (HashMap::with_hasher(secret), HashMap::with_hasher(secret));
        Self { tuples, recent_lookup: [None; LATELY], tokens, listeners: FxHashMap::default() }
    }

    /// The connection and the subflow that a segment is for.
    #[inline(always)]
    pub(crate) fn find(&mut self, segment: &Segment) -> Option<(u32, SubflowId)> {
        let (local, remote) = (&segment.destination, &segment.source);
        let recent_lookup = &mut self.recent_lookup[mixed(local, remote) % LATELY];
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

    pub(crate) fn owner(&self, local: SocketAddr, remote: SocketAddr) -> Option<(u32, SubflowId)> {
        self.tuples.get(&Tuple::new(local, remote)).copied()
    }

    pub(crate) fn is_taken(&self, local: SocketAddr, remote: SocketAddr) -> bool {
        self.tuples.contains_key(&Tuple::new(local, remote))
    }

    /// Handshakes at listeners that are not over, and all that wait there.
    pub(crate) fn waiting(&self) -> (usize, usize) {
        self.listeners.values().map(Listener::waits).fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    }

    /// The place of the connection that a token names.
    pub(crate) fn place_of_token(&self, token: u32) -> Option<u32> {
        self.tokens.get(&token).copied()
    }

    pub(crate) fn has_token(&self, token: u32) -> bool {
        self.tokens.contains_key(&token)
    }

    /// A subflow of a connection is found by its four-tuple from now on, and the connection by its token.
    pub(crate) fn register(&mut self, place: u32, token: u32, at: SubflowTuple) {
        self.recent_lookup = [None; LATELY];
        self.tuples.insert(Tuple::new(at.local, at.remote), (place, at.id));
        self.tokens.insert(token, place);
    }

    /// A subflow is over; its four-tuple may be another one's by now.
    pub(crate) fn forget_subflow(&mut self, place: u32, at: SubflowTuple) {
        self.recent_lookup = [None; LATELY];
        let tuple = Tuple::new(at.local, at.remote);
        if self.tuples.get(&tuple) == Some(&(place, at.id)) {
            self.tuples.remove(&tuple);
        }
    }

    /// A connection is over: nobody joins it.
    pub(crate) fn forget_token(&mut self, place: u32, token: u32) {
        if self.tokens.get(&token) == Some(&place) {
            self.tokens.remove(&token);
        }
    }

    /// Nothing is left of a connection.
    pub(crate) fn forget(&mut self, place: u32, connection: &Connection) {
        self.recent_lookup = [None; LATELY];
        for at in connection.subflow_tuple() {
            let tuple = Tuple::new(at.local, at.remote);
            if self.tuples.get(&tuple).is_some_and(|owner| owner.0 == place) {
                self.tuples.remove(&tuple);
            }
        }
        self.forget_token(place, connection.token());
    }
}

/// Both addresses and ports of a subflow, ours first, as numbers that compare and hash fast.
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

/// A number that differs for most subflows that differ, as their ports do, and costs next to nothing.
#[inline]
pub(crate) fn mixed(local: &SocketAddr, remote: &SocketAddr) -> usize {
    let ports = usize::from(local.port() ^ remote.port());
    ports ^ ports >> 8
}

impl Hash for Tuple {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let mut bytes = [0; 36];
        let (local, rest) = bytes.split_at_mut(16);
        let (remote, ports) = rest.split_at_mut(16);
        local.copy_from_slice(&self.local.to_ne_bytes());
        remote.copy_from_slice(&self.remote.to_ne_bytes());
        ports.copy_from_slice(&self.ports.to_ne_bytes());
        state.write(&bytes);
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Secret {
    keys: [u64; 2],
}

impl Secret {
    pub(crate) fn new(mut random: Rng) -> Self {
        Self { keys: [random.next_u64(), random.next_u64()] }
    }

    /// A number that stands for a four-tuple and `about`, and that only this endpoint can make.
    pub(crate) fn number(self, local: SocketAddr, remote: SocketAddr, about: &[u32]) -> u64 {
        let mut hasher = self.build_hasher();
        Tuple::new(local, remote).hash(&mut hasher);
        about.iter().for_each(|number| hasher.write_u32(*number));
        hasher.finish()
    }

    /// Where the timestamps of a connection begin (RFC 7323 section 7.1): one clock for all would tell which are one
    /// host's, and for how long it runs.
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

    /// Whoever knows where one endpoint keeps things knows nothing of another.
    #[test]
    fn tables_of_two_endpoints_are_in_another_order() {
        let secrets = [1, 2].map(|seed| Secret::new(Rng::new(seed, "secret")));
        let order = |secret: Secret| {
            let place = |port: u16| {
                let (local, remote) =
                    (SocketAddr::from(([10, 0, 0, 1], 80)), SocketAddr::from(([10, 0, 0, 2], port)));
                secret.hash_one(Tuple::new(local, remote)) >> 56
            };
            (0..64).map(place).collect::<Vec<u64>>()
        };
        let [one, other] = secrets.map(order);
        let same = one.iter().zip(&other).filter(|(one, other)| one == other).count();
        assert!(same < 8, "{same} of 64 in the same place");
        let mut places = one;
        places.sort_unstable();
        places.dedup();
        assert!(places.len() > 40, "{} places of 64", places.len());
    }
}
