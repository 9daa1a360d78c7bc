//! What others must not guess about this endpoint, and what follows from it: where tables keep things, timestamp
//! offsets, SYN cookies.
//!
//! Owns two keys of SipHash, drawn once. Keeps nothing about anybody.

use std::hash::{BuildHasher, Hash, Hasher};
use std::net::SocketAddr;

use mptcp_clock::Stream;
use siphasher::sip::SipHasher13;

use super::demux::Tuple;

#[derive(Clone, Copy, Debug)]
pub(super) struct Secret {
    keys: [u64; 2],
}

impl Secret {
    pub(super) fn new(mut random: Stream) -> Self {
        Self { keys: [random.next_u64(), random.next_u64()] }
    }

    /// A number that stands for a four-tuple and `about`, and that only this endpoint can make.
    pub(super) fn number(self, local: SocketAddr, remote: SocketAddr, about: &[u32]) -> u64 {
        let mut hasher = self.build_hasher();
        Tuple::new(local, remote).hash(&mut hasher);
        about.iter().for_each(|number| hasher.write_u32(*number));
        hasher.finish()
    }

    /// Where the timestamps of a connection begin (RFC 7323 section 7.1): one clock for all would tell which are one
    /// host's, and for how long it runs.
    pub(super) fn timestamp_offset(self, local: SocketAddr, remote: SocketAddr) -> u32 {
        self.number(local, remote, &[0]) as u32
    }
}

impl BuildHasher for Secret {
    type Hasher = SipHasher13;

    fn build_hasher(&self) -> SipHasher13 {
        SipHasher13::new_with_keys(self.keys[0], self.keys[1])
    }
}
