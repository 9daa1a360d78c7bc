//! The hash sockets that this library emulates: algorithm, key, data, and the digest that packetdrill reads.
//!
//! Owns the table of these sockets by descriptor. Never creates or closes a descriptor.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;
use sha2::{Digest, Sha256};

/// The algorithm, key and data of a hash socket.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Session {
    /// The kernel's name of the algorithm, such as `hmac(sha1)`.
    pub(crate) algorithm: String,
    pub(crate) key: Vec<u8>,
    pub(crate) data: Vec<u8>,
}

impl Session {
    /// Whether this library has an algorithm: those that packetdrill uses.
    pub(crate) fn knows(algorithm: &str) -> bool {
        matches!(algorithm, "sha1" | "sha256" | "hmac(sha1)" | "hmac(sha256)")
    }

    /// The hash or HMAC of the data; empty for an unknown algorithm.
    pub(crate) fn digest(&self) -> Vec<u8> {
        match self.algorithm.as_str() {
            "sha1" => Sha1::digest(&self.data).to_vec(),
            "sha256" => Sha256::digest(&self.data).to_vec(),
            "hmac(sha1)" => Hmac::<Sha1>::new_from_slice(&self.key)
                .map_or_else(|_| Vec::new(), |mac| finish(mac, &self.data)),
            "hmac(sha256)" => Hmac::<Sha256>::new_from_slice(&self.key)
                .map_or_else(|_| Vec::new(), |mac| finish(mac, &self.data)),
            _ => Vec::new(),
        }
    }
}

fn finish(mut mac: impl Mac, data: &[u8]) -> Vec<u8> {
    mac.update(data);
    mac.finalize().into_bytes().to_vec()
}

static SESSIONS: Mutex<Option<HashMap<i32, Session>>> = Mutex::new(None);

fn table() -> MutexGuard<'static, Option<HashMap<i32, Session>>> {
    SESSIONS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Enters a hash socket. With `None`, removes the entry of a closed socket whose descriptor is in use again.
pub(crate) fn set(fd: i32, session: Option<Session>) {
    let mut table = table();
    let table = table.get_or_insert_with(HashMap::new);
    match session {
        Some(session) => drop(table.insert(fd, session)),
        None => drop(table.remove(&fd)),
    }
}

/// Runs `work` on a hash socket; None for other descriptors.
pub(crate) fn with<T>(fd: i32, work: impl FnOnce(&mut Session) -> T) -> Option<T> {
    table().as_mut()?.get_mut(&fd).map(work)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// FIPS 180-2 appendices A.1 and B.1, RFC 2202 section 3 case 2, RFC 4231 section 4.3.
    #[test]
    fn digests_are_those_of_the_standards() {
        let digest = |algorithm: &str, key: &str, data: &str| {
            let session =
                Session { algorithm: algorithm.to_owned(), key: key.into(), data: data.as_bytes().to_vec() };
            hex(&session.digest())
        };
        let what = "what do ya want for nothing?";
        assert_eq!(digest("sha1", "", "abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
        assert_eq!(
            digest("sha256", "", "abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert_eq!(digest("hmac(sha1)", "Jefe", what), "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79");
        assert_eq!(
            digest("hmac(sha256)", "Jefe", what),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
    }
}
