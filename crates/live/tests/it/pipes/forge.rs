//! Forged packets of a third party, who sees the real ones or does not.
//!
//! Owns the changes; sends nothing.

use bytes::Bytes;
use mptcp_clock::Rng;
use mptcp_wire::{ChecksumMode, Flags, Mapping, MpPrio, MptcpOption, Packet, Seq};

use crate::laboratory::pattern;

fn emitted(packet: &Packet) -> Option<Bytes> {
    let mut bytes = Vec::new();
    packet.emit(&mut bytes).ok()?;
    Some(bytes.into())
}

/// Changes any part of a real packet, as an unrestricted attacker on the path can.
pub fn changed(random: &mut Rng, real: &Bytes) -> Option<Bytes> {
    // A small share, so that connections live for a while.
    if random.chance(0.97) {
        return None;
    }
    if random.chance(0.1) {
        // Any bytes change, and the checksum does not match.
        let mut bytes = real.to_vec();
        let at = random.below(bytes.len() as u64) as usize;
        bytes[at] = random.next_u32() as u8;
        bytes.truncate(1 + random.below(bytes.len() as u64) as usize);
        return Some(bytes.into());
    }
    let mut packet = Packet::parse(real).ok()?;
    if random.chance(0.4) {
        // Bytes of header, options and payload change, with a matching checksum.
        let mut bytes = real.to_vec();
        for _ in 0..=random.below(3) {
            let most = (bytes.len() - 20).min(64) as u64;
            bytes[20 + random.below(most) as usize] = random.next_u32() as u8;
        }
        packet = Packet::parse_with(&bytes.into(), ChecksumMode::Offloaded).ok()?;
    }
    let near = |random: &mut Rng| (random.below(4_001) as i64 - 2_000) as u32;
    let segment = &mut packet.segment;
    match random.below(9) {
        0 => segment.flags = Flags::from_bits(random.next_u32() as u16 & 0x1ff),
        1 => segment.sequence = Seq::new(segment.sequence.value().wrapping_add(near(random))),
        2 => segment.acknowledgment = Seq::new(segment.acknowledgment.value().wrapping_add(near(random))),
        3 => segment.window = random.next_u32() as u16,
        4 => {
            segment.payload = segment.payload.slice(..random.below(segment.payload.len() as u64 + 1) as usize)
        }
        5 => segment.payload = pattern(random.below(1_400) as usize).into(),
        6 => segment.options.mptcp.clear(),
        7 => {
            let number = random.next_u64();
            segment.options.mptcp.push(match random.below(3) {
                0 => MptcpOption::Fail(number),
                1 => MptcpOption::FastClose(number),
                _ => MptcpOption::Prio(MpPrio { backup: random.chance(0.5), address_id: None }),
            });
        }
        _ => {
            if let Some(dss) = &mut segment.options.dss {
                dss.data_fin ^= random.chance(0.2);
                if let Some(Mapping { subflow_sequence, length, .. }) = &mut dss.mapping {
                    *length = length.wrapping_add(near(random) as u16);
                    *subflow_sequence = subflow_sequence.wrapping_add(near(random) / 10);
                }
            }
        }
    }
    emitted(&packet)
}

/// Valid addresses, ports and options, and any flags. The attacker does not see the sequence numbers: they are at least
/// 2^28 off, far beyond the largest window.
pub fn blind(random: &mut Rng, real: &Bytes) -> Option<Bytes> {
    let mut packet = Packet::parse(real).ok()?;
    let segment = &mut packet.segment;
    let mut far = |value: Seq| {
        let away = (1 << 28) + random.below((1 << 32) - (1 << 29)) as u32;
        Seq::new(value.value().wrapping_add(away))
    };
    (segment.sequence, segment.acknowledgment) = (far(segment.sequence), far(segment.acknowledgment));
    // A SYN starts a new connection, or gets a challenge ACK (RFC 5961 section 4); it does not end this one.
    segment.flags = Flags::from_bits(random.next_u32() as u16 & 0x1ff);
    if random.chance(0.3) {
        segment.payload = pattern(random.below(1_400) as usize).into();
    }
    emitted(&packet)
}
