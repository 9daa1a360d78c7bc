//! The peer that a script plays: what it knows of both sides, and the numbers that follow from it.
//!
//! Owns addresses, initial sequence numbers, keys and nonces. Segments are made in `compose` and judged in `judge`.

use std::net::{IpAddr, SocketAddr};

use mptcp_wire::crypto::Version;
use mptcp_wire::{Cookie, Seq};

use super::text::number;

/// The address of the host where a script says nothing else.
pub const HOST: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1));
/// That of the peer.
pub const PEER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));
/// Where the peer's ports begin.
const FIRST_PORT: u16 = 1000;

/// A subflow as the peer sees it.
#[derive(Clone, Debug)]
pub struct Flow {
    /// None is the first one.
    pub name: Option<String>,
    pub peer: SocketAddr,
    pub host: SocketAddr,
    /// The host's initial sequence number, once it was seen.
    pub iss: Option<Seq>,
    pub host_nonce: u32,
    /// What the host's timestamp clock showed here when the script began.
    pub clock: Option<u32>,
}

/// The peer.
#[derive(Clone, Debug)]
pub struct Peer {
    pub isn: Seq,
    pub key: u64,
    pub nonce: u32,
    /// Its window where a line says nothing of it.
    pub window: u16,
    pub version: Version,
    pub flows: Vec<Flow>,
    /// The host's key, once it was seen.
    pub host_key: Option<u64>,
    /// The last cookie that the host gave.
    pub given: Option<Cookie>,
}

impl Default for Peer {
    fn default() -> Self {
        Self {
            isn: Seq::new(1_000_000),
            key: 2,
            nonce: 5,
            window: 65_535,
            version: Version::V1,
            flows: Vec::new(),
            host_key: None,
            given: None,
        }
    }
}

impl Peer {
    /// `peer KEY VALUE`.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        match key {
            "isn" => self.isn = Seq::new(number(key, value)?),
            "key" => self.key = number(key, value)?,
            "window" => self.window = number(key, value)?,
            "nonce" => self.nonce = number(key, value)?,
            "version" => {
                self.version = if number::<u8>(key, value)? == 0 { Version::V0 } else { Version::V1 };
            }
            _ => return Err(format!("a peer has no `{key}`; it has isn, key, nonce, version, window")),
        }
        Ok(())
    }

    /// `flow NAME PEER HOST`.
    pub fn declare(&mut self, name: &str, peer: &str, host: &str) -> Result<(), String> {
        let address = |text: &str| {
            text.parse::<SocketAddr>()
                .map_err(|_| format!("`{text}` is no address with a port, as 10.0.0.1:80"))
        };
        let name = Some(name).filter(|name| *name != "first").map(str::to_owned);
        if self.flows.iter().any(|flow| flow.name == name) {
            return Err(format!("flow {name:?} exists"));
        }
        self.flows.push(Flow {
            name,
            peer: address(peer)?,
            host: address(host)?,
            iss: None,
            host_nonce: 0,
            clock: None,
        });
        Ok(())
    }

    /// The flow of that name; a new one leads from the peer's next port to the host's port 80.
    pub fn flow(&mut self, name: Option<&str>) -> usize {
        if let Some(at) = self.flows.iter().position(|flow| flow.name.as_deref() == name) {
            return at;
        }
        let port = FIRST_PORT + self.flows.len() as u16;
        self.flows.push(Flow {
            name: name.map(str::to_owned),
            peer: (PEER, port).into(),
            host: (HOST, 80).into(),
            iss: None,
            host_nonce: 0,
            clock: None,
        });
        self.flows.len() - 1
    }

    /// The flow between two addresses; one that nobody has named gets the name that is expected.
    pub fn flow_of(&mut self, host: SocketAddr, peer: SocketAddr, expected: Option<&str>) -> usize {
        if let Some(at) = self.flows.iter().position(|flow| flow.peer == peer && flow.host == host) {
            return at;
        }
        let known = self.flows.iter().any(|flow| flow.name.as_deref() == expected);
        let name = if known { Some(format!("{host}>{peer}")) } else { expected.map(str::to_owned) };
        self.flows.push(Flow { name, peer, host, iss: None, host_nonce: 0, clock: None });
        self.flows.len() - 1
    }

    /// The initial data sequence number of the peer's stream; the first byte is the next one.
    pub fn first(&self) -> u64 {
        self.version.digest(self.key).initial_sequence
    }

    /// That of the host's; 0 as long as its key is unknown.
    pub fn host_first(&self) -> u64 {
        self.host_key.map_or(0, |key| self.version.digest(key).initial_sequence)
    }
}

/// The byte of a stream at an offset: both sides send the same, so that a script need not say what.
pub fn byte_at(offset: u64) -> u8 {
    (offset % 251) as u8
}

/// So many bytes of the stream.
pub fn stream(offset: u64, length: u64) -> Vec<u8> {
    (offset..offset + length).map(byte_at).collect()
}
