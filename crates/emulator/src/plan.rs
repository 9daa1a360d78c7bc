//! The plan of an emulation: hosts, their devices and addresses, and routes.
//!
//! Owns only values. From them, Python creates namespaces and devices, and `wire` creates endpoints. Hosts
//! are the nodes that flows name, as in the simulator. All other nodes are inside the emulator.

use std::net::Ipv4Addr;

use mptcp_clock::Duration;
use mptcp_lab::scenario::names::{DownMode, Transport};
use mptcp_lab::scenario::{Link, Scenario};

use crate::error::EmulatorError;

/// Maximum number of links: subnets 10.87.1.0/24 to 10.87.250.0/24.
const MAX_LINKS: usize = 250;
/// Minimum MTU of a device with an IPv4 address.
const LEAST_MTU: u32 = 68;
/// Maximum length of a device name (IFNAMSIZ minus the final zero).
const NAME_MAX: usize = 15;

/// The hosts of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The hosts, in the order in which links name them.
    pub hosts: Vec<Host>,
    /// Notifications during the run, by time.
    pub notices: Vec<Notice>,
}

/// A notification of a host that a device goes down or comes up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Time since the start.
    pub at: Duration,
    /// Host index.
    pub host: usize,
    /// Device index.
    pub device: usize,
    /// Whether the device comes up.
    pub up: bool,
    /// The way in which it goes down or comes up.
    pub how: DownMode,
}

/// A host, with its own namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// Name of the node.
    pub name: String,
    /// Whether a flow is opened here. Then each device is a path: it sends the packets with its address.
    pub opens: bool,
    /// In the order of the links.
    pub devices: Vec<Device>,
    /// Routes to addresses outside the subnets of its devices.
    pub routes: Vec<Route>,
}

/// A device: the end of a link at a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// Its name: the name of the link, if that is valid for a device.
    pub name: String,
    /// The link.
    pub link: String,
    /// Its address, in a /24 subnet that the other end of the link shares.
    pub address: Ipv4Addr,
    /// MTU, bytes.
    pub mtu: u32,
    /// Whether MPTCP connections that the host opens may use the device for subflows. True if the link is a
    /// path of such a flow, or if the host opens no MPTCP flow.
    pub joins: bool,
    /// Whether a flow from this host uses the link as a backup.
    pub backup: bool,
}

/// A route to one address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The address.
    pub to: Ipv4Addr,
    /// Index of the outgoing device.
    pub device: usize,
}

impl Plan {
    /// Hosts and devices; the emulation adds the routes.
    pub(crate) fn of(scenario: &Scenario) -> Result<Self, EmulatorError> {
        if scenario.links.len() > MAX_LINKS {
            return Err(EmulatorError::Links(scenario.links.len()));
        }
        refuse_both(scenario)?;
        let mut hosts: Vec<Host> = Vec::new();
        for (number, link) in scenario.links.iter().enumerate() {
            for (end, node) in link.ends.iter().enumerate() {
                let opens = scenario.flows.iter().any(|flow| flow.from == *node);
                if !opens && !scenario.flows.iter().any(|flow| flow.to == *node) {
                    continue;
                }
                let at = hosts.iter().position(|host| host.name == *node).unwrap_or_else(|| {
                    hosts.push(Host { name: node.clone(), opens, devices: Vec::new(), routes: Vec::new() });
                    hosts.len() - 1
                });
                let device = device(scenario, link, number, end, &hosts[at].devices)?;
                hosts[at].devices.push(device);
            }
        }
        let notices = notices(scenario, &hosts);
        Ok(Self { hosts, notices })
    }

    /// All devices in order: index of the host, and of the device at the host.
    pub(crate) fn ports(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.hosts.iter().enumerate().flat_map(|(at, host)| (0..host.devices.len()).map(move |d| (at, d)))
    }
}

impl Host {
    /// Index of the device for packets to an address: the one in its subnet, or the one of its route.
    #[must_use]
    pub fn way(&self, to: Ipv4Addr) -> Option<usize> {
        let near = |device: &Device| device.address.octets()[..3] == to.octets()[..3];
        let routed = || self.routes.iter().find(|route| route.to == to).map(|route| route.device);
        self.devices.iter().position(near).or_else(routed)
    }
}

/// Refuses hosts that open and accept MPTCP flows: only one path reaches each of their addresses, so no
/// subflow could join an accepted connection.
fn refuse_both(scenario: &Scenario) -> Result<(), EmulatorError> {
    for accepted in scenario.flows.iter().filter(|flow| flow.transport == Transport::Mptcp) {
        if let Some(opened) = scenario.flows.iter().find(|flow| flow.from == accepted.to) {
            let [host, accepted, opened] = [&accepted.to, &accepted.name, &opened.name].map(Clone::clone);
            return Err(EmulatorError::Both { host, accepted, opened });
        }
    }
    Ok(())
}

/// Notifications from the scenario's events. As in the simulator, hosts that only accept get none.
fn notices(scenario: &Scenario, hosts: &[Host]) -> Vec<Notice> {
    let mut notices = Vec::new();
    for event in scenario.events.iter().filter(|event| event.how != DownMode::Blackhole) {
        let Some(up) = event.set.up else { continue };
        for (at, host) in hosts.iter().enumerate().filter(|(_, host)| host.opens) {
            let device = host.devices.iter().position(|device| device.link == event.link);
            notices.extend(device.map(|device| Notice {
                at: event.at,
                host: at,
                device,
                up,
                how: event.how,
            }));
        }
    }
    notices
}

fn device(
    scenario: &Scenario,
    link: &Link,
    number: usize,
    end: usize,
    others: &[Device],
) -> Result<Device, EmulatorError> {
    if link.mtu < LEAST_MTU {
        return Err(EmulatorError::Mtu { link: link.name.clone(), mtu: link.mtu });
    }
    let name = if may_be_a_device(&link.name) { link.name.clone() } else { format!("path{}", number + 1) };
    let taken = others.iter().any(|other| other.name == name);
    let node = &link.ends[end];
    let from_here = || scenario.flows.iter().filter(|flow| flow.from == *node);
    let mut multipath = from_here().filter(|flow| flow.transport == Transport::Mptcp).peekable();
    Ok(Device {
        // Another link already has this name as its replacement.
        name: if taken { format!("link{}", number + 1) } else { name },
        link: link.name.clone(),
        // At most MAX_LINKS, with two ends each.
        address: Ipv4Addr::new(10, 87, number as u8 + 1, end as u8 + 1),
        mtu: link.mtu,
        joins: multipath.peek().is_none() || multipath.any(|flow| flow.paths.contains(&link.name)),
        backup: from_here().any(|flow| flow.backup.contains(&link.name)),
    })
}

/// Whether a name is valid for a device (dev_valid_name in net/core/dev.c) and does not clash with kernel
/// devices.
fn may_be_a_device(name: &str) -> bool {
    let letter = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    let first = name.starts_with(|first: char| first.is_ascii_alphanumeric());
    first && name.len() <= NAME_MAX && name.chars().all(letter) && !["lo", "all", "default"].contains(&name)
}
