//! Mapping between attachments, the links to a host, and the devices of the plan.
//!
//! Owns the tables. A host that is attached as a whole selects the device by the destination of the packet, as
//! a routing kernel does.

use std::net::Ipv4Addr;

use mptcp_live::Link;

use crate::header;
use crate::plan::{Host, Plan};

/// An attachment of a host: one of its devices, or all of them together.
#[derive(Debug)]
pub struct Attachment {
    /// Its packets.
    pub link: Link,
    /// Host index.
    pub host: usize,
    /// Device index at the host; `None` for all devices.
    pub device: Option<usize>,
}

/// The mapping between attachments and devices.
#[derive(Debug)]
pub(crate) struct Ports {
    /// By attachment: index of the first device of the host, and the host if it is attached as a whole.
    outward: Vec<(usize, Option<Host>)>,
    /// By device: the attachment.
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

    /// The device by which a packet of an attachment leaves. A packet without a route leaves by the first
    /// device, where it is ignored.
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
