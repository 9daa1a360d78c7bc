//! Packets on their way from the devices to the endpoint.
//!
//! The driver reads them without the lock, and passes them to the endpoint under it. Owns these packets. Never copies
//! payload, never waits.

use std::io;

use mptcp::{IcmpError, IcmpMessage, InterfaceId};
use mptcp_wire::{ChecksumMode, Notice, Packet, Segment, Undelivered};

use crate::capture::Capture;
use crate::device::Device;
use crate::shared::Counters;

/// Largest IP packet, bytes.
const PACKET: usize = 65_535;

/// Maximum number of packets per batch. Each batch is acknowledged once.
const BATCH: usize = 128;

/// Maximum bytes of large packets per batch, so that acknowledgements are not delayed too long.
const BATCH_BYTES: usize = 2 * PACKET;

/// Minimum size of a large packet, which contains many frames, bytes.
const LARGE: usize = PACKET / 4;

#[derive(Debug, Default)]
pub(crate) struct Inbox {
    /// Segments that were read and not yet handled.
    pub arrived: Vec<(InterfaceId, Segment)>,
    /// ICMP errors that were not yet reported.
    pub notices: Vec<IcmpMessage>,
    /// Interfaces of removed devices that were not yet reported.
    pub gone: Vec<InterfaceId>,
}

impl Inbox {
    /// Reads up to one batch per device. Returns whether there was any packet.
    pub(crate) fn read(
        &mut self,
        devices: &mut [Device],
        mut capture: Option<&mut Capture>,
        counted: &mut Counters,
    ) -> bool {
        let before = (counted.received, counted.ignored, self.gone.len(), self.notices.len());
        for (number, device) in devices.iter_mut().enumerate().filter(|(_, device)| device.up) {
            self.read_device(device, capture.as_deref_mut().map(|capture| (capture, number)), counted);
        }
        before != (counted.received, counted.ignored, self.gone.len(), self.notices.len())
    }

    /// Takes the packets that impairments have held.
    pub(crate) fn release(&mut self, devices: &mut [Device]) {
        for device in devices {
            let silent = device.is_silent();
            let Some(edge) = &mut device.edge else { continue };
            edge.incoming.release(|one| self.arrived.extend((!silent).then_some(one)));
        }
    }

    fn read_device(
        &mut self,
        device: &mut Device,
        mut capture: Option<(&mut Capture, usize)>,
        counted: &mut Counters,
    ) {
        let (mut bytes, mut large, silent) = (0, false, device.is_silent());
        for _ in 0..BATCH {
            if bytes >= BATCH_BYTES && large {
                break;
            }
            let block = device.blocks.with_space(PACKET);
            match device.link.receive(block) {
                Ok(mode) => {
                    let packet = block.split().freeze();
                    bytes += packet.len();
                    large = packet.len() > LARGE;
                    let raw = capture.as_ref().map(|_| packet.clone());
                    let notice =
                        Notice::is_likely(&packet).then(|| told(device, &Notice::parse(&packet).ok()?));
                    let parsed = Packet::parse_owned(packet, mode).ok();
                    if let (Some((capture, number)), Some(raw)) = (&mut capture, raw) {
                        match &parsed {
                            Some(parsed) if mode == ChecksumMode::Offloaded => {
                                capture.complete(*number, parsed)
                            }
                            _ => capture.record(*number, &raw),
                        }
                    }
                    let found = parsed.and_then(|packet| {
                        let id = device.interface(packet.segment.destination.ip())?;
                        Some((id, packet.segment))
                    });
                    match (&found, notice.flatten()) {
                        (Some(_), _) => counted.received += 1,
                        (None, Some(notice)) if !silent => self.notices.push(notice),
                        (None, _) => counted.ignored += 1,
                    }
                    match (&mut device.edge, found) {
                        _ if silent => {}
                        (Some(edge), Some(mut found)) => {
                            edge.mark(&mut found.1);
                            edge.incoming.pass(found, |one| self.arrived.push(one));
                        }
                        (_, found) => self.arrived.extend(found),
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => {
                    // The device was deleted, and its addresses with it. Other paths can continue.
                    device.up = false;
                    self.gone.extend(device.ids.iter().map(|(_, id)| *id));
                    break;
                }
            }
        }
    }
}

/// The ICMP error about a segment of this device; `None` if it is not usable.
fn told(device: &Device, notice: &Notice) -> Option<IcmpMessage> {
    let &Notice { source: local, destination: remote, sequence, what } = notice;
    device.interface(local.ip())?;
    let error = match what {
        Undelivered::Network => IcmpError::NetworkUnreachable,
        Undelivered::Host => IcmpError::HostUnreachable,
        Undelivered::Protocol => IcmpError::ProtocolUnreachable,
        Undelivered::Port => IcmpError::PortUnreachable,
        Undelivered::Prohibited => IcmpError::Prohibited,
        Undelivered::TimeExceeded => IcmpError::TimeExceeded,
        Undelivered::TooBig { mtu } => IcmpError::TooBig { mtu },
    };
    Some(IcmpMessage { local, remote, sequence, error })
}
