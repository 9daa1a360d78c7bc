//! The hosts of a plan as endpoints of mptcplab's stack, connected to the emulator by pipes.
//!
//! The plan lists the hosts of a scenario and their devices, the ends of links at hosts. Owns the endpoints.
//! The pipes replace network devices, so a run needs no privileges. As in the simulator, a host that opens
//! connections has an interface per link. A host that only accepts has one address, which all links reach.

use std::io;
use std::net::{IpAddr, Ipv4Addr};

use mptcp_lab::mptcp::InterfaceId;
use mptcp_live::{ConnectionInfo, Driver, Interface, Pipe};

use crate::plan::{Host, Plan};
use crate::ports::Attachment;

/// Running endpoints, in the order of the plan.
#[derive(Debug)]
pub struct Hosts {
    drivers: Vec<Driver>,
}

impl Hosts {
    /// Starts the endpoints, and returns the other ends of their pipes for the emulator.
    ///
    /// # Errors
    /// If the system provides no thread or descriptors.
    pub fn start(plan: &Plan) -> io::Result<(Self, Vec<Attachment>)> {
        let mut attached = Vec::new();
        let mut drivers = Vec::new();
        for (at, host) in plan.hosts.iter().enumerate() {
            let mut interfaces = Vec::new();
            let mut join = |name: &str, mtu: u32, address: Ipv4Addr, device: Option<usize>| {
                let (near, far) = Pipe::pair(name, mtu as usize)?;
                interfaces.push(Interface::new(near, [IpAddr::from(address)]));
                attached.push(Attachment { link: far.into(), host: at, device });
                Ok::<(), io::Error>(())
            };
            if host.opens {
                for (place, device) in host.devices.iter().enumerate() {
                    join(&device.name, device.mtu, device.address, Some(place))?;
                }
            } else if let Some(first) = host.devices.first() {
                let mtu = host.devices.iter().map(|device| device.mtu).min().unwrap_or(first.mtu);
                join(&host.name, mtu, first.address, None)?;
            }
            drivers.push(Driver::start(interfaces)?);
        }
        Ok((Self { drivers }, attached))
    }

    /// The endpoint of a host, by index.
    pub(super) fn driver(&self, host: usize) -> Option<&Driver> {
        self.drivers.get(host)
    }

    /// The connections of each host.
    #[must_use]
    pub fn connections(&self) -> Vec<Vec<ConnectionInfo>> {
        self.drivers.iter().map(Driver::connections).collect()
    }

    /// The interface of a link at a host that opens connections.
    pub(super) fn interface(host: &Host, link: &str) -> Option<InterfaceId> {
        let place = host.devices.iter().position(|device| device.link == link);
        place.filter(|_| host.opens).map(|place| InterfaceId(place as u32))
    }
}
