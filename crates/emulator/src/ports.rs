//! Maps attachments to the devices of the plan, and back, for the thread that passes packets (`driver`).
//!
//! The plan lists the hosts of a scenario and their devices. A device is the end of a simulated link at a
//! host, and a port is the index of a device among those of all hosts. An attachment is the TUN device or
//! pipe by which the emulator exchanges packets with a host.
//!
//! Owns the tables. If an attachment serves all devices of a host, the destination of a packet selects one.

use std::net::Ipv4Addr;

use mptcp_live::Link;

use crate::header;
use crate::plan::{Host, Plan};

/// An attachment of a host: one of its devices, or all of them together.
#[derive(Debug)]
pub struct Attachment {
    /// Source and sink of its packets.
    pub link: Link,
    /// Host index.
    pub host: usize,
    /// Device index at the host; `None` for all devices.
    pub device: Option<usize>,
}

/// The mapping between attachments and devices.
#[derive(Debug)]
pub(crate) struct Ports {
    /// By attachment: the port of its device. If a host is attached as a whole: the port of its first device,
    /// and the host.
    outward: Vec<(usize, Option<Host>)>,
    /// By port: the attachment.
    inward: Vec<Option<usize>>,
}

impl Ports {
    pub(crate) fn of(plan: &Plan, attached: &[Attachment]) -> Self {
        let first = |host: usize| plan.hosts.iter().take(host).map(|host| host.devices.len()).sum::<usize>();
        let outward = attached.iter().map(|one| match one.device {
            Some(device) => (first(one.host) + device, None),
            None => (first(one.host), plan.hosts.get(one.host).cloned()),
        });
        let at = |host: usize, device: usize| {
            attached.iter().position(|one| one.host == host && one.device.is_none_or(|own| own == device))
        };
        Self {
            outward: outward.collect(),
            inward: plan.ports().map(|(host, device)| at(host, device)).collect(),
        }
    }

    /// The port of the device that sends a packet from an attachment. A packet without a route gets the first
    /// device, and the emulation ignores the packet.
    pub(crate) fn outward(&self, at: usize, packet: &[u8]) -> usize {
        let (first, host) = &self.outward[at];
        let to = || header::destination(packet).map(Ipv4Addr::from);
        let device = host.as_ref().and_then(|host| host.way(to()?));
        first + device.unwrap_or(0)
    }

    /// The attachment for packets to a device.
    pub(crate) fn inward(&self, port: usize) -> Option<usize> {
        self.inward.get(port).copied().flatten()
    }
}
