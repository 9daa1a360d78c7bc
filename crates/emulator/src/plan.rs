//! What the machine has to be given for a scenario: hosts, their devices and addresses, and which device leads where.
//!
//! Only values; whoever makes namespaces reads them. The hosts are those that flows name, as in the simulator, and all other nodes
//! are inside the emulator.

use std::net::Ipv4Addr;

use mptcp_clock::Duration;
use mptcp_lab::scenario::names::{DownMode, Transport};
use mptcp_lab::scenario::{Link, Scenario};

use crate::error::EmulatorError;

/// Links that have a subnet: 10.87.1.0/24 to 10.87.250.0/24.
const MOST_LINKS: usize = 250;
/// Below it IPv4 gives a device no address.
const LEAST_MTU: u32 = 68;
/// Bytes of a device's name (IFNAMSIZ, with the zero at the end).
const NAME_MAX: usize = 15;

/// The hosts of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// In the order in which links name them.
    pub hosts: Vec<Host>,
    /// What they are told while it runs, by time.
    pub notices: Vec<Notice>,
}

/// A host is told that a device goes, or is back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Since the start.
    pub at: Duration,
    /// The host, by its place.
    pub host: usize,
    /// Its device, by its place.
    pub device: usize,
    /// It is back.
    pub up: bool,
    /// What of it goes, or comes.
    pub how: DownMode,
}

/// A host: a namespace of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// The name of the node.
    pub name: String,
    /// Whether a flow is opened here: then each device is a path, and what has its address leaves by it.
    pub opens: bool,
    /// In the order of the links.
    pub devices: Vec<Device>,
    /// The ways to addresses of other hosts that no device of this host shares a subnet with.
    pub routes: Vec<Route>,
}

/// A device: the end of a link at a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// What it is called: the name of the link, if a device can be called that.
    pub name: String,
    /// The link.
    pub link: String,
    /// Its address, in a subnet of 24 bits that the other end of the link shares.
    pub address: Ipv4Addr,
    /// Largest IP packet, bytes.
    pub mtu: u32,
    /// Connections of Multipath TCP that are opened here may have a subflow by it: a flow does, or none says otherwise.
    pub joins: bool,
    /// A flow from here has it as a backup.
    pub backup: bool,
}

/// A way to one address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The address.
    pub to: Ipv4Addr,
    /// The device by which packets leave, by its place.
    pub device: usize,
}

impl Plan {
    /// Hosts and devices; their routes are found by who knows the network.
    pub(crate) fn of(scenario: &Scenario) -> Result<Self, EmulatorError> {
        if scenario.links.len() > MOST_LINKS {
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

    /// The devices of all hosts, in order: host, device.
    pub(crate) fn ports(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.hosts.iter().enumerate().flat_map(|(at, host)| (0..host.devices.len()).map(move |d| (at, d)))
    }
}

impl Host {
    /// The device, by its place, by which packets to an address leave: the one in its subnet, or the one that leads there.
    #[must_use]
    pub fn way(&self, to: Ipv4Addr) -> Option<usize> {
        let near = |device: &Device| device.address.octets()[..3] == to.octets()[..3];
        let routed = || self.routes.iter().find(|route| route.to == to).map(|route| route.device);
        self.devices.iter().position(near).or_else(routed)
    }
}

/// A host that opens flows is reached at each address by one path only, so nobody could join a connection that it accepts.
fn refuse_both(scenario: &Scenario) -> Result<(), EmulatorError> {
    for accepted in scenario.flows.iter().filter(|flow| flow.transport == Transport::Mptcp) {
        if let Some(opened) = scenario.flows.iter().find(|flow| flow.from == accepted.to) {
            let [host, accepted, opened] = [&accepted.to, &accepted.name, &opened.name].map(Clone::clone);
            return Err(EmulatorError::Both { host, accepted, opened });
        }
    }
    Ok(())
}

/// As in the simulator, hosts that only accept have no interfaces to be told of.
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
        // A name that the link has taken away from another one; numbers differ.
        name: if taken { format!("link{}", number + 1) } else { name },
        link: link.name.clone(),
        // At most MOST_LINKS, and two ends.
        address: Ipv4Addr::new(10, 87, number as u8 + 1, end as u8 + 1),
        mtu: link.mtu,
        joins: multipath.peek().is_none() || multipath.any(|flow| flow.paths.contains(&link.name)),
        backup: from_here().any(|flow| flow.backup.contains(&link.name)),
    })
}

/// Whether a device can be called that and be told from the kernel's own (net/core/dev.c, dev_valid_name).
fn may_be_a_device(name: &str) -> bool {
    let letter = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    let first = name.starts_with(|first: char| first.is_ascii_alphanumeric());
    first && name.len() <= NAME_MAX && name.chars().all(letter) && !["lo", "all", "default"].contains(&name)
}
