//! The peer of a script: the values of both sides, and the numbers that follow from them.
//!
//! Owns addresses, initial sequence numbers, keys and nonces. `compose` makes segments, and `judge` checks them.

use std::net::{IpAddr, SocketAddr};

use mptcp_wire::crypto::Version;
use mptcp_wire::{Cookie, Seq};

use super::text::number;

/// The default address of the host.
pub const HOST: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1));
/// The default address of the peer.
pub const PEER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));
/// The first port of the peer.
const FIRST_PORT: u16 = 1000;

/// A subflow from the view of the peer.
#[derive(Clone, Debug)]
pub struct Flow {
    /// `None` for the first one.
    pub name: Option<String>,
    pub peer: SocketAddr,
    pub host: SocketAddr,
    /// The initial sequence number of the host, if known.
    pub iss: Option<Seq>,
    pub host_nonce: u32,
    /// The timestamp clock of the host at the start of the script.
    pub clock: Option<u32>,
}

/// The peer.
#[derive(Clone, Debug)]
pub struct Peer {
    pub isn: Seq,
    pub key: u64,
    pub nonce: u32,
    /// The default window.
    pub window: u16,
    pub version: Version,
    pub flows: Vec<Flow>,
    /// The key of the host, if known.
    pub host_key: Option<u64>,
    /// The last cookie of the host.
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
            _ => {
                return Err(format!(
                    "unknown key `{key}` of a peer; expected isn, key, nonce, version or window"
                ));
            }
        }
        Ok(())
    }

    /// `flow NAME PEER HOST`.
    pub fn declare(&mut self, name: &str, peer: &str, host: &str) -> Result<(), String> {
        let address = |text: &str| {
            text.parse::<SocketAddr>()
                .map_err(|_| format!("`{text}`: expected an address with a port, such as 10.0.0.1:80"))
        };
        let name = Some(name).filter(|name| *name != "first").map(str::to_owned);
        if self.flows.iter().any(|flow| flow.name == name) {
            return Err(format!("flow {name:?} already exists"));
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

    /// The flow of this name. A new flow leads from the next port of the peer to port 80 of the host.
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

    /// The flow between two addresses. An unnamed flow gets the expected name.
    pub fn flow_of(&mut self, host: SocketAddr, peer: SocketAddr, expected: Option<&str>) -> usize {
        if let Some(at) = self.flows.iter().position(|flow| flow.peer == peer && flow.host == host) {
            return at;
        }
        let known = self.flows.iter().any(|flow| flow.name.as_deref() == expected);
        let name = if known { Some(format!("{host}>{peer}")) } else { expected.map(str::to_owned) };
        self.flows.push(Flow { name, peer, host, iss: None, host_nonce: 0, clock: None });
        self.flows.len() - 1
    }

    /// The initial data sequence number of the peer. The first byte has the next number.
    pub fn first(&self) -> u64 {
        self.version.digest(self.key).initial_sequence
    }

    /// The initial data sequence number of the host; 0 if its key is unknown.
    pub fn host_first(&self) -> u64 {
        self.host_key.map_or(0, |key| self.version.digest(key).initial_sequence)
    }
}

/// The byte of a stream at an offset. Both sides send the same stream.
pub fn byte_at(offset: u64) -> u8 {
    (offset % 251) as u8
}

/// Bytes of the stream.
pub fn stream(offset: u64, length: u64) -> Vec<u8> {
    (offset..offset + length).map(byte_at).collect()
}
