//! The flows of a scenario on sockets: sending, receiving, counting and sampling.
//!
//! Owns the part that Linux's sockets (`kernel`) and mptcplab's stack (`wire`) have in common. `transfer`
//! moves bytes, `tally` counts them, `watch` samples a connection, `course` runs all samples, `summary` creates
//! the tables of the simulator. Knows no sockets: `kernel` and `wire` open, read, write and query them.

pub(crate) mod course;
pub(crate) mod report;
pub(crate) mod summary;
pub(crate) mod tally;
pub(crate) mod transfer;
pub(crate) mod watch;

use std::net::Ipv4Addr;

use crate::plan::Plan;

/// Port of the first flow; the others follow in order.
pub(crate) const FIRST_PORT: u16 = 5001;

/// The address of a host on a link; `None` if the host is not at the link.
pub(crate) fn address_of(plan: &Plan, host: &str, link: &str) -> Option<Ipv4Addr> {
    let host = plan.hosts.iter().find(|known| known.name == host)?;
    host.devices.iter().find(|device| device.link == link).map(|device| device.address)
}
