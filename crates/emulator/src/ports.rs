//! Which device of the plan a packet belongs to, where hosts are attached by device or as a whole.
//!
//! Owns the tables. A host that is attached as a whole sends by the device that leads to the packet's destination, as a kernel
//! would that routes by it.

use std::net::Ipv4Addr;

use mptcp_live::Link;

use crate::header;
use crate::plan::{Host, Plan};

/// Where packets of a host come from and go to: a device for one end of a link, or one way for a host that is reached by any of its
/// devices.
#[derive(Debug)]
pub struct Attachment {
    /// What packets come through.
    pub link: Link,
    /// The host, by its place.
    pub host: usize,
    /// The device, by its place at the host; None stands for all of them.
    pub device: Option<usize>,
}

/// Ways between attachments and the devices of the plan, which have numbers in its order.
#[derive(Debug)]
pub(crate) struct Ports {
    /// By attachment: the number of the host's first device, and the host where all of them are meant.
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

    /// The device by which a packet from an attachment leaves; what leads nowhere leaves by the first, and is ignored there.
    pub(crate) fn outward(&self, at: usize, packet: &[u8]) -> usize {
        let (first, host) = &self.outward[at];
        let to = || header::destination(packet).map(Ipv4Addr::from);
        let device = host.as_ref().and_then(|host| host.way(to()?));
        first + device.unwrap_or(0)
    }

    /// The attachment that a packet to a device goes to.
    pub(crate) fn inward(&self, port: usize) -> Option<usize> {
        self.inward.get(port).copied().flatten()
    }
}
