//! The flows of a scenario on sockets, whoever's they are: sent, received, counted and sampled.
//!
//! Owns what both back ends share. `transfer` moves bytes, `tally` counts them, `watch` looks at a connection again and again, `course`
//! goes through the scenario's samples, `summary` puts it all into the tables that the simulator gives. Knows no socket: `kernel` and
//! `wire` do, and say how one is read, written and asked.

pub(crate) mod course;
pub(crate) mod report;
pub(crate) mod summary;
pub(crate) mod tally;
pub(crate) mod transfer;
pub(crate) mod watch;

use std::net::Ipv4Addr;

use crate::plan::Plan;

/// The port of the first flow; the others follow.
pub(crate) const FIRST_PORT: u16 = 5001;

/// The address of a host on a link.
pub(crate) fn address_of(plan: &Plan, host: &str, link: &str) -> Option<Ipv4Addr> {
    let host = plan.hosts.iter().find(|known| known.name == host)?;
    host.devices.iter().find(|device| device.link == link).map(|device| device.address)
}
