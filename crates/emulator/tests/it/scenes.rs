//! Common scenarios and packets of tests.
#![allow(clippy::unwrap_used, reason = "a harness")]

use std::net::Ipv4Addr;

use mptcp_clock::{Duration, Instant};
use mptcp_emulator::{Emulation, EmulatorError};
use mptcp_lab::scenario::Draft;

/// Deliveries: time, device, packet.
pub type Arrived = Vec<(Instant, usize, Vec<u8>)>;

pub fn emulate(toml: &str) -> Result<Emulation, EmulatorError> {
    let scenario = Draft::parse(&format!("duration = \"60s\"\n{toml}"), "test").unwrap().finish().unwrap();
    Emulation::new(&scenario, 1)
}

/// One path called wifi.
pub fn path(keys: &str) -> Emulation {
    let rate = if keys.contains("rate") { "" } else { "rate = \"10Gbit\"\n" };
    emulate(&format!("[paths.wifi]\n{rate}{keys}\n[flows.bulk]")).unwrap()
}

/// An IPv4 packet of `length` bytes with a valid header, ECN field `ecn` and source port `port`.
pub fn packet(from: [u8; 4], to: [u8; 4], length: usize, ecn: u8, port: u16) -> Vec<u8> {
    let mut bytes = vec![0; length.max(24)];
    bytes[0] = 0x45;
    bytes[1] = ecn;
    bytes[2..4].copy_from_slice(&(length as u16).to_be_bytes());
    bytes[8] = 64;
    bytes[9] = 17;
    bytes[12..16].copy_from_slice(&from);
    bytes[16..20].copy_from_slice(&to);
    bytes[20..22].copy_from_slice(&port.to_be_bytes());
    let sum = !checksum(&bytes[..20]);
    bytes[10..12].copy_from_slice(&sum.to_be_bytes());
    bytes
}

/// The one's complement sum; 0xffff for a valid header.
pub fn checksum(header: &[u8]) -> u16 {
    let sum = header.chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]]))).sum::<u32>();
    let folded = (sum & 0xffff) + (sum >> 16);
    ((folded & 0xffff) + (folded >> 16)) as u16
}

/// From the client to the server over the first link.
pub fn there(length: usize) -> Vec<u8> {
    packet([10, 87, 1, 1], [10, 87, 1, 2], length, 0, 1)
}

pub fn offer(emulation: &mut Emulation, now: Instant, port: usize, packet: &[u8]) {
    emulation.room()[..packet.len()].copy_from_slice(packet);
    emulation.offer(now, port, packet.len());
}

/// All deliveries until an instant.
pub fn until(emulation: &mut Emulation, now: Instant) -> Arrived {
    let mut arrived = Vec::new();
    while let Some(delivery) = emulation.deliver(now) {
        arrived.push((delivery.due, delivery.port, delivery.packet.to_vec()));
    }
    arrived
}

pub fn ms(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

pub fn address(of: &Emulation, port: usize) -> Ipv4Addr {
    let devices = of.plan().hosts.iter().flat_map(|host| &host.devices);
    devices.map(|device| device.address).nth(port).unwrap()
}
