//! The [`PathManager`] trait and its input. Built-in path managers and those of extensions implement the
//! trait.

use std::net::{IpAddr, SocketAddr};

use mptcp_clock::Instant;

use crate::event::SubflowCloseReason;
use crate::ids::InterfaceId;

/// A local address that is up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalAddress {
    /// Address ID; 0 for the address of the initial subflow.
    pub id: u8,
    /// Interface of the address.
    pub interface: InterfaceId,
    /// The address.
    pub address: IpAddr,
    /// Whether subflows from the address are backups.
    pub backup: bool,
}

/// An address of the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemoteAddress {
    /// Address ID; 0 for the address of the initial subflow.
    pub id: u8,
    /// Address and port to connect to.
    pub address: SocketAddr,
}

/// An existing or requested subflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Local side.
    pub local: LocalAddress,
    /// Remote side.
    pub remote: RemoteAddress,
}

/// The input of a path manager.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct PathView<'a> {
    /// The present time.
    pub now: Instant,
    /// Whether this side opened the connection. The other side may be unable to open subflows, because this
    /// side may be behind a NAT.
    pub client: bool,
    /// Local addresses that are up.
    pub local: &'a [LocalAddress],
    /// Addresses of the peer: that of the first subflow, and those received in ADD_ADDR.
    pub remote: &'a [RemoteAddress],
    /// Subflows that are open or opening.
    pub existing: &'a [Pair],
}

impl<'a> PathView<'a> {
    /// Creates a view of the side that opened the connection. For tests of path managers.
    #[must_use]
    pub fn new(
        now: Instant,
        local: &'a [LocalAddress],
        remote: &'a [RemoteAddress],
        existing: &'a [Pair],
    ) -> Self {
        Self { now, client: true, local, remote, existing }
    }
}

/// A change of a subflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PathEvent {
    /// The handshake has finished; the subflow may carry data.
    Opened(Pair),
    /// The subflow has ended, with the reason if known.
    Closed(Pair, Option<SubflowCloseReason>),
}

/// Chooses which subflows to open; called after every change of addresses or subflows.
pub trait PathManager: std::fmt::Debug + Send {
    /// Name in scenario files and results.
    fn name(&self) -> &'static str;

    /// Adds the subflows to open to `missing`. The connection enforces the maximum number of subflows, and
    /// delays pairs that failed recently.
    fn missing(&mut self, view: &PathView<'_>, missing: &mut Vec<Pair>);

    /// Handles a change of a subflow; a call of `missing` follows.
    fn on_event(&mut self, now: Instant, event: &PathEvent) {
        let _ = (now, event);
    }

    /// Whether the side that accepted the connection also calls `missing`. By default it announces its
    /// addresses instead.
    fn serves_both_sides(&self) -> bool {
        false
    }

    /// Whether this side announces a local address, other than that of the initial subflow, by ADD_ADDR. By default, the
    /// side that accepted the connection announces all addresses.
    fn announces(&self, address: &LocalAddress, client: bool) -> bool {
        let _ = address;
        !client
    }

    /// Whether several subflows may share a pair of addresses. Results then name each subflow by its ports.
    fn shares_addresses(&self) -> bool {
        false
    }
}
