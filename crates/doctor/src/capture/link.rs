//! Finds the IP packet in a frame, by link type.
//!
//! The numbers are those of <https://www.tcpdump.org/linktypes.html>.

use super::skipped::Unusable;

/// A link type that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkType {
    /// Loopback of BSD; the address family is in the byte order of the capturing host.
    Null,
    /// Ethernet.
    Ethernet,
    /// PPP, with or without HDLC framing.
    Ppp,
    /// IP without a link header.
    Raw,
    /// IEEE 802.11.
    Wifi,
    /// IEEE 802.11 after a radiotap header.
    Radiotap,
    /// Loopback of OpenBSD; the address family is in network order.
    Loop,
    /// Linux `any` device.
    LinuxCooked,
    /// Linux `any` device, version 2.
    LinuxCooked2,
    /// PPPoE session.
    Pppoe,
}

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
/// Ethertypes of VLAN tags (IEEE 802.1Q, 802.1ad, and older).
const TAGS: [u16; 3] = [0x8100, 0x88a8, 0x9100];
const PPPOE: u16 = 0x8864;
const MPLS: [u16; 2] = [0x8847, 0x8848];
/// Tags and labels that are followed in one frame.
const MOST_TAGS: usize = 8;

impl LinkType {
    /// The link type of this number; None if it cannot be read.
    #[must_use]
    pub const fn from_number(number: u32) -> Option<Self> {
        Some(match number {
            0 => Self::Null,
            1 => Self::Ethernet,
            9 | 50 => Self::Ppp,
            // 12 and 14 are raw IP in files of some BSD systems; 228 and 229 are IPv4 and IPv6 only.
            12 | 14 | 101 | 228 | 229 => Self::Raw,
            51 => Self::Pppoe,
            105 => Self::Wifi,
            108 => Self::Loop,
            113 => Self::LinuxCooked,
            127 => Self::Radiotap,
            276 => Self::LinuxCooked2,
            _ => return None,
        })
    }

    /// The IP packet in a frame.
    pub(super) fn ip_packet(self, frame: &[u8]) -> Result<&[u8], Unusable> {
        match self {
            Self::Raw => Ok(frame),
            Self::Null => loopback(frame, true),
            Self::Loop => loopback(frame, false),
            Self::Ethernet => by_ethertype(u16_at(frame, 12)?, rest(frame, 14)?),
            Self::LinuxCooked => by_ethertype(u16_at(frame, 14)?, rest(frame, 16)?),
            Self::LinuxCooked2 => by_ethertype(u16_at(frame, 0)?, rest(frame, 20)?),
            Self::Ppp => ppp(frame),
            Self::Pppoe => ppp(rest(frame, 6)?),
            Self::Wifi => wifi(frame),
            Self::Radiotap => {
                // The length is in little-endian order.
                let length = u16_at(frame, 2)?.swap_bytes();
                wifi(rest(frame, usize::from(length))?)
            }
        }
    }
}

fn rest(frame: &[u8], at: usize) -> Result<&[u8], Unusable> {
    frame.get(at..).ok_or(Unusable::Cut)
}

fn u16_at(frame: &[u8], at: usize) -> Result<u16, Unusable> {
    let bytes: &[u8; 2] = frame.get(at..).and_then(<[u8]>::first_chunk).ok_or(Unusable::Cut)?;
    Ok(u16::from_be_bytes(*bytes))
}

/// Follows tags and labels up to an IP packet.
fn by_ethertype(ethertype: u16, body: &[u8]) -> Result<&[u8], Unusable> {
    let (mut ethertype, mut body) = (ethertype, body);
    for _ in 0..MOST_TAGS {
        match ethertype {
            IPV4 | IPV6 => return Ok(body),
            PPPOE => return ppp(rest(body, 6)?),
            tag if TAGS.contains(&tag) => (ethertype, body) = (u16_at(body, 2)?, rest(body, 4)?),
            label if MPLS.contains(&label) => {
                // The bottom of the stack has bit S (RFC 3032 section 2.1); the packet below states its own version.
                let is_last = *body.get(2).ok_or(Unusable::Cut)? & 1 != 0;
                body = rest(body, 4)?;
                if is_last {
                    return Ok(body);
                }
            }
            _ => return Err(Unusable::NotIp),
        }
    }
    Err(Unusable::NotIp)
}

/// Address families of IPv4 and IPv6 on the systems that write these link types.
fn loopback(frame: &[u8], any_order: bool) -> Result<&[u8], Unusable> {
    let bytes: &[u8; 4] = frame.first_chunk().ok_or(Unusable::Cut)?;
    let is_ip = |family: u32| matches!(family, 2 | 10 | 24 | 28 | 30);
    let known = is_ip(u32::from_be_bytes(*bytes)) || any_order && is_ip(u32::from_le_bytes(*bytes));
    if known { Ok(&frame[4..]) } else { Err(Unusable::NotIp) }
}

/// RFC 1661 section 2, after an optional HDLC header (RFC 1662 section 3.1).
fn ppp(frame: &[u8]) -> Result<&[u8], Unusable> {
    let frame = frame.strip_prefix(&[0xff, 0x03]).unwrap_or(frame);
    match frame {
        [0x00, 0x21 | 0x57, rest @ ..] | [0x21 | 0x57, rest @ ..] => Ok(rest),
        [] => Err(Unusable::Cut),
        _ => Err(Unusable::NotIp),
    }
}

/// IEEE 802.11 section 9.2: a data frame that is not encrypted.
fn wifi(frame: &[u8]) -> Result<&[u8], Unusable> {
    let control: &[u8; 2] = frame.first_chunk().ok_or(Unusable::Cut)?;
    let (kind, subtype) = (control[0] >> 2 & 3, control[0] >> 4);
    let is_protected = control[1] & 0x40 != 0;
    // Subtypes with bit 2 have no data.
    if kind != 2 || subtype & 4 != 0 || is_protected {
        return Err(Unusable::NotIp);
    }
    let (to_ds, from_ds) = (control[1] & 1 != 0, control[1] & 2 != 0);
    let mut header = if to_ds && from_ds { 30 } else { 24 };
    if subtype & 8 != 0 {
        header += 2;
        // HT control field.
        if control[1] & 0x80 != 0 {
            header += 4;
        }
    }
    // LLC and SNAP (RFC 1042).
    let body = rest(frame, header)?;
    match body {
        [0xaa, 0xaa, 0x03, 0, 0, 0, ..] => by_ethertype(u16_at(body, 6)?, rest(body, 8)?),
        _ if body.len() < 8 => Err(Unusable::Cut),
        _ => Err(Unusable::NotIp),
    }
}
