//! A network device, TUN or in-process pipe, that an endpoint sends and receives on.
//!
//! Owns the values only. The [`Driver`](crate::Driver), the thread that runs the endpoint, reads and writes
//! packets.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mptcp::InterfaceId;

use crate::blocks::Blocks;
use crate::impairment::Lanes;
use crate::link::Link;

#[derive(Debug)]
pub(crate) struct Device {
    /// The descriptor that packets are read from and written to.
    pub link: Link,
    /// The endpoint's interface for each address of the device.
    pub ids: Vec<(IpAddr, InterfaceId)>,
    pub up: bool,
    /// Drops all packets in both directions.
    pub silent: Arc<AtomicBool>,
    /// Buffers of received packets. Data of one path is mostly read in order, so its buffers become free together.
    pub blocks: Blocks,
    /// Impairments of packets between the device and the endpoint, in both directions; `None` for none.
    pub edge: Option<Box<Lanes>>,
}

impl Device {
    pub(crate) fn is_silent(&self) -> bool {
        self.silent.load(Ordering::Relaxed)
    }

    /// The interface with the address `address`.
    pub(crate) fn interface(&self, address: IpAddr) -> Option<InterfaceId> {
        self.ids.iter().find(|(other, _)| *other == address).map(|(_, id)| *id)
    }
}
