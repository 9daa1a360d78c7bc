//! Hashes of MPTCP keys: SHA-256 in version 1 (RFC 8684 section 3), SHA-1 in version 0 (RFC 6824 section 3).
//!
//! Owns tokens, initial data sequence numbers, and the HMACs of MP_JOIN and ADD_ADDR. Never generates a key: the
//! endpoint does. Keys and nonces are numbers in the byte order of the options (big-endian).

use std::net::IpAddr;

use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;
use sha2::{Digest, Sha256};

/// The MPTCP version, which selects the hash function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Version {
    /// RFC 6824: SHA-1.
    V0,
    /// RFC 8684: SHA-256.
    #[default]
    V1,
}

/// Values derived from a host's key (RFC 8684 section 3.1, RFC 6824 section 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyDigest {
    /// The token of the connection in MP_JOIN: the first 32 bits of the key's hash.
    pub token: u32,
    /// The initial data sequence number: the last 64 bits of the key's hash. The first byte of data has the next
    /// number.
    pub initial_sequence: u64,
}

impl Version {
    /// The version number in MP_CAPABLE.
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Self::V0 => 0,
            Self::V1 => 1,
        }
    }

    /// Computes token and initial sequence number with a single hash.
    #[must_use]
    pub fn digest(self, key: u64) -> KeyDigest {
        match self {
            Self::V0 => ends(&Sha1::digest(key.to_be_bytes())),
            Self::V1 => ends(&Sha256::digest(key.to_be_bytes())),
        }
    }

    /// The HMAC in the third ACK of a join, 160 bits. Version 1 truncates it to the leftmost bits (RFC 8684 section
    /// 3.2); version 0 does not (RFC 6824 section 3.2).
    ///
    /// "Own" is the sending host.
    #[must_use]
    pub fn join_hmac(self, own_key: u64, peer_key: u64, own_nonce: u32, peer_nonce: u32) -> [u8; 20] {
        let block = block(own_key, peer_key);
        let message = [own_nonce.to_be_bytes(), peer_nonce.to_be_bytes()].concat();
        let mut leftmost = [0; 20];
        match self {
            Self::V0 => {
                let mut mac = Hmac::<Sha1>::new(&block.into());
                mac.update(&message);
                leftmost.iter_mut().zip(mac.finalize().into_bytes()).for_each(|(to, from)| *to = from);
            }
            Self::V1 => {
                let mut mac = Hmac::<Sha256>::new(&block.into());
                mac.update(&message);
                leftmost.iter_mut().zip(mac.finalize().into_bytes()).for_each(|(to, from)| *to = from);
            }
        }
        leftmost
    }

    /// The HMAC in the SYN/ACK of a join: the leftmost 64 bits (section 3.2 of both RFCs).
    ///
    /// "Own" is the sending host.
    #[must_use]
    pub fn join_hmac_truncated(self, own_key: u64, peer_key: u64, own_nonce: u32, peer_nonce: u32) -> u64 {
        let [a, b, c, d, e, f, g, h, ..] = self.join_hmac(own_key, peer_key, own_nonce, peer_nonce);
        u64::from_be_bytes([a, b, c, d, e, f, g, h])
    }
}

/// The HMAC of an ADD_ADDR: the rightmost 64 bits (RFC 8684 section 3.4.1; version 0 has none).
///
/// Without a port, the HMAC covers port zero.
#[must_use]
pub fn add_address_hmac(
    sender_key: u64,
    receiver_key: u64,
    id: u8,
    address: IpAddr,
    port: Option<u16>,
) -> u64 {
    let mut mac = Hmac::<Sha256>::new(&block(sender_key, receiver_key).into());
    mac.update(&[id]);
    match address {
        IpAddr::V4(address) => mac.update(&address.octets()),
        IpAddr::V6(address) => mac.update(&address.octets()),
    }
    mac.update(&port.unwrap_or(0).to_be_bytes());
    last_u64(&mac.finalize().into_bytes())
}

/// `first || second`, padded with zeros to 64 bytes (RFC 2104).
fn block(first: u64, second: u64) -> [u8; 64] {
    let mut block = [0; 64];
    let keys = first.to_be_bytes().into_iter().chain(second.to_be_bytes());
    block.iter_mut().zip(keys).for_each(|(to, from)| *to = from);
    block
}

fn ends(digest: &[u8]) -> KeyDigest {
    let token = digest.iter().take(4).fold(0, |value, &byte| value << 8 | u32::from(byte));
    KeyDigest { token, initial_sequence: last_u64(digest) }
}

/// The last eight bytes of a hash.
fn last_u64(digest: &[u8]) -> u64 {
    digest.iter().skip(digest.len().saturating_sub(8)).fold(0, |value, &byte| value << 8 | u64::from(byte))
}
