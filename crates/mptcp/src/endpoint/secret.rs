//! What others must not guess about this endpoint, and what follows from it: where tables keep things, timestamp
//! offsets, SYN cookies.
//!
//! Owns two keys of SipHash, drawn once. Keeps nothing about anybody.

use std::hash::{BuildHasher, Hash, Hasher};
use std::net::SocketAddr;

use mptcp_clock::Rng;
use siphasher::sip::SipHasher13;

use super::tuple::Tuple;

#[derive(Clone, Copy, Debug)]
pub(super) struct Secret {
    keys: [u64; 2],
}

impl Secret {
    pub(super) fn new(mut random: Rng) -> Self {
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
