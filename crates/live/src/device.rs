//! A device of the driver: its link, its interfaces, and its state.
//!
//! Owns the values only; the driver reads and writes packets.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mptcp::InterfaceId;

use crate::impairment::Lanes;
use crate::link::Link;

#[derive(Debug)]
pub(crate) struct Device {
    pub link: Link,
    pub ids: Vec<(IpAddr, InterfaceId)>,
    pub up: bool,
    /// Drops all packets in both directions.
    pub silent: Arc<AtomicBool>,
    pub edge: Option<Box<Lanes>>,
}

impl Device {
    pub(crate) fn is_silent(&self) -> bool {
        self.silent.load(Ordering::Relaxed)
    }

    /// The interface with an address.
    pub(crate) fn interface(&self, address: IpAddr) -> Option<InterfaceId> {
        self.ids.iter().find(|(other, _)| *other == address).map(|(_, id)| *id)
    }
}
