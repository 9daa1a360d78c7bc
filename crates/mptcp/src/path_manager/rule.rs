//! What a path manager is, and what it sees.

use std::net::{IpAddr, SocketAddr};

use mptcp_clock::Instant;

use crate::event::SubflowCloseReason;
use crate::ids::InterfaceId;

/// An address of ours that is up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalAddress {
    /// Address id; 0 for the address of the initial subflow.
    pub id: u8,
    /// Where it lives.
    pub interface: InterfaceId,
    /// The address.
    pub address: IpAddr,
    /// Subflows from it are backups.
    pub backup: bool,
}

/// An address of the peer's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemoteAddress {
    /// Address id; 0 for the address of the initial subflow.
    pub id: u8,
    /// Address and port to connect to.
    pub address: SocketAddr,
}

/// A subflow that exists or should exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Our side.
    pub local: LocalAddress,
    /// The peer's side.
    pub remote: RemoteAddress,
}

/// What a path manager sees.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct PathView<'a> {
    /// Now.
    pub now: Instant,
    /// We opened the connection. The other side may be unable to reach us, behind a translator of addresses.
    pub client: bool,
    /// Addresses of ours that are up.
    pub local: &'a [LocalAddress],
    /// Addresses of the peer's: that of the first subflow, and those that it announced.
    pub remote: &'a [RemoteAddress],
    /// Subflows that are open or opening.
    pub existing: &'a [Pair],
}

impl<'a> PathView<'a> {
    /// The view of a side that opened the connection. For tests of path managers.
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

/// What happened to a subflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PathEvent {
    /// Its handshake is over: it may carry data.
    Opened(Pair),
    /// It ended.
    Closed(Pair, Option<SubflowCloseReason>),
}

/// A rule for which subflows to open; asked after every change.
pub trait PathManager: std::fmt::Debug + Send {
    /// The name that the field uses.
    fn name(&self) -> &'static str;

    /// Adds to `missing` what should be opened, given what there is. Pairs that failed lately are held back, and the limit of
    /// subflows is kept, whatever it says.
    fn missing(&mut self, view: &PathView<'_>, missing: &mut Vec<Pair>);

    /// Something happened to a subflow; `missing` is asked afterwards.
    fn on_event(&mut self, now: Instant, event: &PathEvent) {
        let _ = (now, event);
    }

    /// Whether the side that was connected to is asked too. It announces its addresses instead unless this says so.
    fn serves_both_sides(&self) -> bool {
        false
    }

    /// Whether several subflows share a pair of addresses, told apart by their ports: results give each a name of its own.
    fn shares_addresses(&self) -> bool {
        false
    }
}
