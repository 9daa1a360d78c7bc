//! Segments on their way from the endpoint to the devices.
//!
//! Owns one batch. The endpoint fills it under the lock; encoding and writing need no lock. Never copies
//! payload.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};

use bytes::Bytes;
use mptcp_clock::Instant;
use mptcp_wire::{ChecksumMode, Flags, Packet, Segment};

use crate::capture::Capture;
use crate::device::Device;
use crate::shared::{Core, Counters};
use crate::{Link, Offload, vnet};

/// Maximum number of packets per batch.
const BATCH: usize = 64;

/// Maximum payload per batch in bytes, for large segments.
const BATCH_BYTES: usize = 1 << 20;

/// Placeholder addresses of an unused segment.
const NOWHERE: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0));

/// A segment to write.
#[derive(Debug)]
struct Leaving {
    device: usize,
    segment: Segment,
    /// Payload per frame in bytes, if the device must split the segment (GSO).
    gso_size: Option<u16>,
}

#[derive(Debug, Default)]
pub(crate) struct Outbox {
    leaving: Vec<Leaving>,
    /// Written segments, for reuse.
    spare: Vec<Segment>,
    /// Header buffer.
    headers: Vec<u8>,
}

impl Outbox {
    /// Fills a batch from the endpoint. Returns whether the endpoint may have more to send.
    pub(crate) fn fill(&mut self, now: Instant, core: &mut Core, devices: &[Device]) -> bool {
        let mut bytes = 0;
        loop {
            let mut segment = self.spare.pop().unwrap_or_else(|| Segment::new(NOWHERE, NOWHERE));
            let Some((interface, subflow)) = core.endpoint.poll_transmit_into(now, &mut segment) else {
                self.spare.push(segment);
                return false;
            };
            let to = |device: &Device| device.ids.iter().any(|(_, id)| *id == interface);
            let Some(device) = devices.iter().position(to) else { continue };
            let length = segment.payload.len();
            let frame = subflow.and_then(|(id, subflow)| core.endpoint.gso_size(id, subflow));
            let gso_size =
                frame.filter(|&frame| length as u64 > frame).and_then(|frame| frame.try_into().ok());
            self.leaving.push(Leaving { device, segment, gso_size });
            bytes += length;
            if (self.leaving.len() >= BATCH || bytes >= BATCH_BYTES) && !core.stopping {
                return true;
            }
        }
    }

    /// Writes the batch. A packet that a device rejects is lost.
    pub(crate) fn write(
        &mut self,
        devices: &mut [Device],
        mut capture: Option<&mut Capture>,
        counted: &mut Counters,
    ) {
        for Leaving { device: number, segment, gso_size } in self.leaving.drain(..) {
            let mut packet = Packet::new(segment);
            if let Some(capture) = &mut capture {
                capture.complete(number, &packet);
            }
            let silent = devices[number].is_silent();
            let Device { link, edge, .. } = &mut devices[number];
            let mut put = |packet: &Packet, gso_size| {
                count(counted, &send(link, packet, gso_size, &mut self.headers));
            };
            match edge {
                _ if silent => {}
                Some(edge) => {
                    edge.mark(&mut packet.segment);
                    edge.outgoing.pass((packet.clone(), gso_size), |(packet, size)| put(&packet, size))
                }
                None => put(&packet, gso_size),
            }
            // The spare segment drops its payload, which the connection keeps until the acknowledgement.
            packet.segment.payload = Bytes::new();
            self.spare.push(packet.segment);
        }
    }

    /// Writes the packets that impairments have held.
    pub(crate) fn release(&mut self, devices: &mut [Device], counted: &mut Counters) {
        for device in devices {
            let silent = device.is_silent();
            let Device { link, edge: Some(edge), .. } = device else { continue };
            edge.outgoing.release(|(packet, size)| {
                if !silent {
                    count(counted, &send(link, &packet, size, &mut self.headers));
                }
            });
        }
    }
}

/// Counts a packet that was passed to a device.
fn count(counted: &mut Counters, result: &io::Result<()>) {
    match result {
        Ok(()) => counted.sent += 1,
        Err(_) => counted.dropped += 1,
    }
}

/// Writes a packet to a device. A device with offload computes the checksum and splits the payload.
fn send(link: &Link, packet: &Packet, gso_size: Option<u16>, headers: &mut Vec<u8>) -> io::Result<()> {
    headers.clear();
    let mut mode = ChecksumMode::Complete;
    if link.offload() == Offload::Full {
        mode = ChecksumMode::Offloaded;
        let (v4, ip) = (packet.segment.source.is_ipv4(), packet.ip.length());
        let cwr = packet.segment.flags.contains(Flags::CWR);
        let header = link.header(v4);
        let below = ip + header.as_ref().map_or(0, |header| header.len());
        headers.extend_from_slice(&vnet::outgoing(v4, below, packet.segment.header_length(), gso_size, cwr));
        headers.extend(header.into_iter().flatten());
    }
    packet.emit_headers(headers, mode).map_err(io::Error::other)?;
    link.send(headers, &packet.segment.payload)
}
