//! IPv4 header fields (RFC 791 section 3.1) that simulated links need: destination, flow, ECN.
//!
//! Reads the fields, and changes packets that a link marks or corrupts. Never validates a packet; the
//! stacks at both ends do.

use netsim::Codepoint;

/// Protocols that start with ports: TCP, UDP, SCTP.
const WITH_PORTS: [u8; 3] = [6, 17, 132];
/// Length of the header without options, bytes.
const FIXED: usize = 20;
/// Mask of the fragment offset.
const OFFSET: u16 = 0x1fff;

/// Destination of an IPv4 packet; `None` for other packets.
#[inline]
pub(crate) fn destination(packet: &[u8]) -> Option<u32> {
    let header = packet.first_chunk::<FIXED>()?;
    let [.., a, b, c, d] = *header;
    (header[0] >> 4 == 4).then(|| u32::from_be_bytes([a, b, c, d]))
}

/// ECN codepoint.
#[inline]
pub(crate) fn codepoint(packet: &[u8]) -> Codepoint {
    packet.get(1).map_or(Codepoint::NotEct, |class| Codepoint::from_bits(*class))
}

/// Hash of addresses, protocol and ports (FNV-1a), the same for all packets of a connection in one direction.
/// Fragments after the first have no ports, so only addresses and protocol count for them.
pub(crate) fn flow(packet: &[u8]) -> u32 {
    let Some(header) = packet.first_chunk::<FIXED>() else { return 0 };
    let length = usize::from(header[0] & 0x0f) * 4;
    let whole = u16::from_be_bytes([header[6], header[7]]) & OFFSET == 0;
    let ports = packet.get(length..length + 4).filter(|_| whole && WITH_PORTS.contains(&header[9]));
    let words = header[12..20].iter().chain([&header[9]]).chain(ports.unwrap_or_default());
    words.fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

/// Sets CE (RFC 3168 section 5), and updates the checksum (RFC 1624, equation 3).
pub(crate) fn mark(packet: &mut [u8]) {
    let Some(header) = packet.first_chunk_mut::<FIXED>() else { return };
    let old = u16::from_be_bytes([header[0], header[1]]);
    header[1] |= Codepoint::Ce.bits();
    let new = u16::from_be_bytes([header[0], header[1]]);
    let sum = u32::from(!u16::from_be_bytes([header[10], header[11]])) + u32::from(!old) + u32::from(new);
    let folded = (sum & 0xffff) + (sum >> 16);
    let folded = (folded & 0xffff) + (folded >> 16);
    [header[10], header[11]] = (!(folded as u16)).to_be_bytes();
}

/// Flips the last bit of the packet, which the checksum at the receiver detects (RFC 1071).
pub(crate) fn damage(packet: &mut [u8]) {
    if let Some(last) = packet.get_mut(FIXED..).and_then(<[u8]>::last_mut) {
        *last ^= 1;
    }
}
