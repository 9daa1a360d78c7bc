//! What comes in: packets on their way from the devices to the endpoint.
//!
//! Owns the segments that were read and not yet handled, and the memory that packets are read into. Payload is
//! never copied here. Never waits.

use std::io;

use bytes::BytesMut;
use mptcp::{IcmpError, IcmpMessage, InterfaceId};
use mptcp_wire::{ChecksumMode, Notice, Packet, Segment, Undelivered};

use crate::capture::Capture;
use crate::device::Device;
use crate::shared::Counters;

/// Largest IP packet, bytes.
const PACKET: usize = 65_535;

/// Packets read before they are handled. Each batch is acknowledged once.
const BATCH: usize = 128;

/// Bytes of large packets that make a batch: more would leave the peer without acknowledgements for too long.
const BATCH_BYTES: usize = PACKET;

/// What a large packet holds, bytes: many frames.
const LARGE: usize = PACKET / 4;

/// Memory that packets are read into, one behind the other, bytes.
pub(crate) const BLOCK: usize = 4 * PACKET;

#[derive(Debug, Default)]
pub(crate) struct Inbox {
    /// Read and not yet handled.
    pub arrived: Vec<(InterfaceId, Segment)>,
    /// What ICMP said of segments, not yet told.
    pub notices: Vec<IcmpMessage>,
    /// Interfaces whose device is gone, not yet told.
    pub gone: Vec<InterfaceId>,
    /// Where the next packet is read to.
    block: BytesMut,
}

impl Inbox {
    /// Reads what the devices have, up to a batch each; returns whether there was anything.
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

    /// Takes what bad networks hold back, as if it came now.
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
            if self.block.capacity() < PACKET {
                self.block.reserve(BLOCK);
            }
            match device.link.receive(&mut self.block) {
                Ok(mode) => {
                    let packet = self.block.split().freeze();
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
                    // The device was deleted: its addresses are gone, other paths may go on.
                    device.up = false;
                    self.gone.extend(device.ids.iter().map(|(_, id)| *id));
                    break;
                }
            }
        }
    }
}

/// A notice about a segment that left this device, in the endpoint's words. None where it has no use for it.
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
