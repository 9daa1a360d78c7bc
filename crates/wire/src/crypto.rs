//! What MPTCP derives from its keys with SHA-256 (RFC 8684 section 3).
//!
//! Owns tokens, initial data sequence numbers and the HMACs of MP_JOIN and ADD_ADDR. Never draws
//! a key: where keys come from is the endpoint's business. Keys and nonces are numbers in the order in
//! which they stand in the options (big-endian).

use std::net::IpAddr;

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

/// What follows from one host's key (RFC 8684 section 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyDigest {
    /// The token that names the connection in an MP_JOIN: the first 32 bits of SHA-256(key).
    pub token: u32,
    /// The initial data sequence number: the last 64 bits of SHA-256(key). The first byte of data is
    /// the next one.
    pub initial_sequence: u64,
}

impl KeyDigest {
    /// Hashes the key, once for both values.
    #[must_use]
    pub fn new(key: u64) -> Self {
        let digest: [u8; 32] = Sha256::digest(key.to_be_bytes()).into();
        Self { token: first_u32(&digest), initial_sequence: last_u64(&digest) }
    }
}

/// The token of a key: the first 32 bits of its SHA-256 (RFC 8684 section 3.2).
#[must_use]
pub fn token(key: u64) -> u32 {
    KeyDigest::new(key).token
}

/// The initial data sequence number of a key: the last 64 bits of its SHA-256 (RFC 8684
/// section 3.1).
#[must_use]
pub fn initial_data_sequence(key: u64) -> u64 {
    KeyDigest::new(key).initial_sequence
}

/// HMAC of a join as the third ACK carries it: the leftmost 160 bits (RFC 8684 section 3.2).
///
/// "Own" is the host that sends it.
#[must_use]
pub fn join_hmac(own_key: u64, peer_key: u64, own_nonce: u32, peer_nonce: u32) -> [u8; 20] {
    let mac = join_mac(own_key, peer_key, own_nonce, peer_nonce);
    let mut leftmost = [0; 20];
    leftmost.iter_mut().zip(mac).for_each(|(to, from)| *to = from);
    leftmost
}

/// HMAC of a join as the SYN/ACK carries it: the leftmost 64 bits (RFC 8684 section 3.2).
///
/// "Own" is the host that sends it.
#[must_use]
pub fn join_hmac_truncated(own_key: u64, peer_key: u64, own_nonce: u32, peer_nonce: u32) -> u64 {
    first_u64(&join_mac(own_key, peer_key, own_nonce, peer_nonce))
}

/// HMAC of an ADD_ADDR: the rightmost 64 bits (RFC 8684 section 3.4.1).
///
/// A port that is not announced counts as zero.
#[must_use]
pub fn add_address_hmac(
    sender_key: u64,
    receiver_key: u64,
    id: u8,
    address: IpAddr,
    port: Option<u16>,
) -> u64 {
    let mut mac = keyed(sender_key, receiver_key);
    mac.update(&[id]);
    match address {
        IpAddr::V4(address) => mac.update(&address.octets()),
        IpAddr::V6(address) => mac.update(&address.octets()),
    }
    mac.update(&port.unwrap_or(0).to_be_bytes());
    last_u64(&mac.finalize().into_bytes().into())
}

fn join_mac(own_key: u64, peer_key: u64, own_nonce: u32, peer_nonce: u32) -> [u8; 32] {
    let mut mac = keyed(own_key, peer_key);
    mac.update(&own_nonce.to_be_bytes());
    mac.update(&peer_nonce.to_be_bytes());
    mac.finalize().into_bytes().into()
}

/// HMAC-SHA256 under `first || second`, which RFC 2104 pads with zeros to the block of 64 bytes.
fn keyed(first: u64, second: u64) -> Hmac<Sha256> {
    let mut block = [0; 64];
    let keys = first.to_be_bytes().into_iter().chain(second.to_be_bytes());
    block.iter_mut().zip(keys).for_each(|(to, from)| *to = from);
    Hmac::new(&block.into())
}

fn first_u32(digest: &[u8; 32]) -> u32 {
    let [a, b, c, d, ..] = *digest;
    u32::from_be_bytes([a, b, c, d])
}

fn first_u64(digest: &[u8; 32]) -> u64 {
    let [a, b, c, d, e, f, g, h, ..] = *digest;
    u64::from_be_bytes([a, b, c, d, e, f, g, h])
}

fn last_u64(digest: &[u8; 32]) -> u64 {
    let [.., a, b, c, d, e, f, g, h] = *digest;
    u64::from_be_bytes([a, b, c, d, e, f, g, h])
}
