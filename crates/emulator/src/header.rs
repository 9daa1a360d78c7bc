//! What the network has to know of a packet: where it goes, whose it is, whether it may be marked.
//!
//! Reads and marks IPv4 headers (RFC 791 section 3.1) in place, without a copy. Never judges a packet: the kernels at both ends do.

use netsim::Codepoint;

/// The protocols whose first four bytes are ports: TCP, UDP, SCTP.
const WITH_PORTS: [u8; 3] = [6, 17, 132];
/// The fixed part of the header, bytes.
const FIXED: usize = 20;
/// The offset of a fragment, beside its flags.
const OFFSET: u16 = 0x1fff;

/// Where a packet goes, if it is an IPv4 packet.
#[inline]
pub(crate) fn destination(packet: &[u8]) -> Option<u32> {
    let header = packet.first_chunk::<FIXED>()?;
    let [.., a, b, c, d] = *header;
    (header[0] >> 4 == 4).then(|| u32::from_be_bytes([a, b, c, d]))
}

/// Whether queues may mark it, and whether one did.
#[inline]
pub(crate) fn codepoint(packet: &[u8]) -> Codepoint {
    packet.get(1).map_or(Codepoint::NotEct, |class| Codepoint::from_bits(*class))
}

/// A number that packets of one connection and direction share: FNV-1a of addresses, protocol and ports. Fragments after the first have
/// no ports.
pub(crate) fn flow(packet: &[u8]) -> u32 {
    let Some(header) = packet.first_chunk::<FIXED>() else { return 0 };
    let length = usize::from(header[0] & 0x0f) * 4;
    let whole = u16::from_be_bytes([header[6], header[7]]) & OFFSET == 0;
    let ports = packet.get(length..length + 4).filter(|_| whole && WITH_PORTS.contains(&header[9]));
    let words = header[12..20].iter().chain([&header[9]]).chain(ports.unwrap_or_default());
    words.fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

/// Says in the header that a queue marked the packet (RFC 3168 section 5), and mends the checksum by what changed (RFC 1624,
/// equation 3).
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

/// Turns a bit round behind the header, where a checksum of the kernel's finds it (RFC 1071): the last one of the packet.
pub(crate) fn damage(packet: &mut [u8]) {
    if let Some(last) = packet.get_mut(FIXED..).and_then(<[u8]>::last_mut) {
        *last ^= 1;
    }
}
