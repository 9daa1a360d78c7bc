//! The header that precedes each packet on a TUN device with offload, or each frame of a packet socket: `struct virtio_net_hdr` of Linux's
//! `virtio_net.h`. It states which checksum or segmentation is still to be done.
//!
//! Owns the ten bytes of the header, in native byte order. Never touches the packet.

use mptcp_wire::ChecksumMode;

/// Length of the header, bytes.
pub(crate) const LENGTH: usize = 10;

/// The checksum field contains only the sum of the pseudo-header.
const F_NEEDS_CSUM: u8 = 1;
/// The checksum was verified.
const F_DATA_VALID: u8 = 2;
const GSO_NONE: u8 = 0;
const GSO_TCPV4: u8 = 1;
const GSO_TCPV6: u8 = 4;
/// Modifier: only the first frame has the CWR flag.
const GSO_ECN: u8 = 0x80;
/// Offset of the checksum in a TCP header, bytes.
const TCP_CHECKSUM: u16 = 16;

/// The header of a sent packet whose checksum the kernel completes. `below` is the number of bytes before the TCP
/// header, `tcp` the length of that header. With `gso_size`, the kernel splits the packet into frames with that payload.
/// `cwr`: the CWR flag is set.
pub(crate) fn outgoing(v4: bool, below: usize, tcp: usize, gso_size: Option<u16>, cwr: bool) -> [u8; LENGTH] {
    let kind = match (gso_size, v4) {
        (None, _) => GSO_NONE,
        (Some(_), true) => GSO_TCPV4,
        (Some(_), false) => GSO_TCPV6,
    };
    let mut header = [0; LENGTH];
    header[0] = F_NEEDS_CSUM;
    header[1] = if cwr && gso_size.is_some() { kind | GSO_ECN } else { kind };
    header[2..4].copy_from_slice(&((below + tcp) as u16).to_ne_bytes());
    header[4..6].copy_from_slice(&gso_size.unwrap_or(0).to_ne_bytes());
    header[6..8].copy_from_slice(&(below as u16).to_ne_bytes());
    header[8..10].copy_from_slice(&TCP_CHECKSUM.to_ne_bytes());
    header
}

/// The checksum state of a received packet.
pub(crate) fn incoming(header: &[u8]) -> ChecksumMode {
    if header[0] & (F_NEEDS_CSUM | F_DATA_VALID) != 0 {
        ChecksumMode::Offloaded
    } else {
        ChecksumMode::Complete
    }
}
