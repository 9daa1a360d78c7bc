//! From a segment to its connection: four-tuples, tokens (RFC 8684 section 3.2), listening ports.

use std::collections::HashMap;
use std::net::SocketAddr;

use mptcp_wire::Segment;
use rustc_hash::FxHashMap;

use super::listener::Listener;
use super::secret::Secret;
use super::tuple::{Tuple, mixed};
use crate::connection::{Connection, Whereabouts};
use crate::ids::SubflowId;

/// Subflows that are found without a look into the table.
const LATELY: usize = 64;

/// A subflow that was found lately: both its ends, ours first, the connection and the subflow.
type Lately = (SocketAddr, SocketAddr, (u32, SubflowId));

/// Tables under a key of the endpoint's own: others choose what stands in them, and must not know where.
#[derive(Debug)]
pub(super) struct Demux {
    tuples: HashMap<Tuple, (u32, SubflowId), Secret>,
    /// What was found lately, so that segments of the same subflows are not hashed again. Who makes others miss it gains
    /// nothing: they pay for the hash.
    lately: [Option<Lately>; LATELY],
    tokens: HashMap<u32, u32, Secret>,
    pub(super) listeners: FxHashMap<u16, Listener>,
}

impl Demux {
    pub(super) fn new(secret: Secret) -> Self {
        let (tuples, tokens) = (HashMap::with_hasher(secret), HashMap::with_hasher(secret));
        Self { tuples, lately: [None; LATELY], tokens, listeners: FxHashMap::default() }
    }

    /// The connection and the subflow that a segment is for.
    #[inline(always)]
    pub(super) fn find(&mut self, segment: &Segment) -> Option<(u32, SubflowId)> {
        let (local, remote) = (&segment.destination, &segment.source);
        let lately = &mut self.lately[mixed(local, remote) % LATELY];
        if let Some((known, peer, owner)) = lately
            && known == local
            && peer == remote
        {
            return Some(*owner);
        }
        let owner = *self.tuples.get(&Tuple::new(*local, *remote))?;
        *lately = Some((*local, *remote, owner));
        Some(owner)
    }

    pub(super) fn owner(&self, local: SocketAddr, remote: SocketAddr) -> Option<(u32, SubflowId)> {
        self.tuples.get(&Tuple::new(local, remote)).copied()
    }

    pub(super) fn is_taken(&self, local: SocketAddr, remote: SocketAddr) -> bool {
        self.tuples.contains_key(&Tuple::new(local, remote))
    }

    /// Handshakes at listeners that are not over, and all that wait there.
    pub(super) fn waiting(&self) -> (usize, usize) {
        self.listeners.values().map(Listener::waits).fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    }

    /// The place of the connection that a token names.
    pub(super) fn place_of_token(&self, token: u32) -> Option<u32> {
        self.tokens.get(&token).copied()
    }

    pub(super) fn has_token(&self, token: u32) -> bool {
        self.tokens.contains_key(&token)
    }

    /// A subflow of a connection is found by its four-tuple from now on, and the connection by its token.
    pub(super) fn register(&mut self, place: u32, token: u32, at: Whereabouts) {
        self.lately = [None; LATELY];
        self.tuples.insert(Tuple::new(at.local, at.remote), (place, at.id));
        self.tokens.insert(token, place);
    }

    /// A subflow is over; its four-tuple may be another one's by now.
    pub(super) fn forget_subflow(&mut self, place: u32, at: Whereabouts) {
        self.lately = [None; LATELY];
        let tuple = Tuple::new(at.local, at.remote);
        if self.tuples.get(&tuple) == Some(&(place, at.id)) {
            self.tuples.remove(&tuple);
        }
    }

    /// A connection is over: nobody joins it.
    pub(super) fn forget_token(&mut self, place: u32, token: u32) {
        if self.tokens.get(&token) == Some(&place) {
            self.tokens.remove(&token);
        }
    }

    /// Nothing is left of a connection.
    pub(super) fn forget(&mut self, place: u32, connection: &Connection) {
        self.lately = [None; LATELY];
        for at in connection.whereabouts() {
            let tuple = Tuple::new(at.local, at.remote);
            if self.tuples.get(&tuple).is_some_and(|owner| owner.0 == place) {
                self.tuples.remove(&tuple);
            }
        }
        self.forget_token(place, connection.token());
    }
}
