//! Parses MPTCP options (RFC 8684 section 3).
//!
//! Owns the forms of each subtype. An option of unknown subtype or size is `None`: as in Linux, it is ignored and never
//! an error.

use std::net::IpAddr;

use arrayvec::ArrayVec;

use super::{
    AddAddress, DataSequence, Dss, Mapping, MpCapable, MpJoin, MpPrio, MpTcpRst, MptcpOption, RemoveAddress,
    ResetReason, dss_flag, subtype,
};
use crate::cursor::Reader;

/// A parsed option.
pub(crate) enum Parsed {
    Dss(Dss),
    Other(MptcpOption),
}

/// Parses the option whose kind and length precede `body`.
pub(crate) fn parse(body: &[u8]) -> Option<Parsed> {
    let mut reader = Reader::new(body);
    let first = reader.u8()?;
    let low = first & 0x0f;
    let option = match first >> 4 {
        subtype::DSS => return dss(reader).map(Parsed::Dss),
        subtype::CAPABLE => MptcpOption::Capable(capable(low, &mut reader)?),
        subtype::JOIN => MptcpOption::Join(join(low, &mut reader)?),
        subtype::ADD_ADDRESS => MptcpOption::AddAddress(add_address(low, &mut reader)?),
        subtype::REMOVE_ADDRESS => MptcpOption::RemoveAddress(remove_address(&mut reader)?),
        subtype::PRIO => {
            let address_id = present(&mut reader, Reader::u8)?;
            MptcpOption::Prio(MpPrio { backup: low & 1 != 0, address_id })
        }
        subtype::FAIL => {
            reader.u8()?;
            MptcpOption::Fail(reader.u64()?)
        }
        subtype::FAST_CLOSE => {
            reader.u8()?;
            MptcpOption::FastClose(reader.u64()?)
        }
        subtype::TCP_RST => MptcpOption::TcpRst(MpTcpRst { flags: low, reason: ResetReason(reader.u8()?) }),
        _ => return None,
    };
    reader.is_empty().then_some(Parsed::Other(option))
}

/// RFC 8684 section 3.1: keys, then data-level length and checksum, up to the option's end.
fn capable(version: u8, reader: &mut Reader<'_>) -> Option<MpCapable> {
    let flags = reader.u8()?;
    let sender_key = present(reader, Reader::u64)?;
    let receiver_key = present(reader, Reader::u64)?;
    let data = present(reader, |reader| Some((reader.u16()?, present(reader, Reader::u16)?)))?;
    Some(MpCapable { version, flags, sender_key, receiver_key, data })
}

/// A field that is absent if the option ends before it; `None` if it is truncated.
fn present<'a, T>(
    reader: &mut Reader<'a>,
    read: impl FnOnce(&mut Reader<'a>) -> Option<T>,
) -> Option<Option<T>> {
    if reader.is_empty() { Some(None) } else { read(reader).map(Some) }
}

/// RFC 8684 section 3.2: the size determines the step of the handshake.
fn join(low: u8, reader: &mut Reader<'_>) -> Option<MpJoin> {
    let backup = low & 1 != 0;
    let size = reader.len() + 3;
    let address_id = reader.u8()?;
    match size {
        12 => Some(MpJoin::Syn { backup, address_id, token: reader.u32()?, nonce: reader.u32()? }),
        16 => Some(MpJoin::SynAck { backup, address_id, hmac: reader.u64()?, nonce: reader.u32()? }),
        24 => Some(MpJoin::Ack { hmac: reader.array()? }),
        _ => None,
    }
}

/// RFC 8684 section 3.3: the flags state which fields exist; the size states whether there is a checksum.
fn dss(mut reader: Reader<'_>) -> Option<Dss> {
    let flags = reader.u8()?;
    let has = |flag: u8| flags & flag != 0;
    let ack =
        if has(dss_flag::ACK) { Some(data_sequence(&mut reader, has(dss_flag::ACK_WIDE))?) } else { None };
    let mapping = if has(dss_flag::MAPPING) {
        Some(Mapping {
            sequence: data_sequence(&mut reader, has(dss_flag::SEQUENCE_WIDE))?,
            subflow_sequence: reader.u32()?,
            length: reader.u16()?,
            checksum: present(&mut reader, Reader::u16)?,
        })
    } else {
        None
    };
    reader.is_empty().then_some(Dss { ack, mapping, data_fin: has(dss_flag::DATA_FIN) })
}

fn data_sequence(reader: &mut Reader<'_>, wide: bool) -> Option<DataSequence> {
    if wide { reader.u64().map(DataSequence::Wide) } else { reader.u32().map(DataSequence::Short) }
}

/// RFC 8684 section 3.4.1: the option has an HMAC unless flag E is set, and its size determines family and port. In the
/// older form of RFC 6824 section 3.4.1, which has neither HMAC nor flag, the four bits are the IP version.
fn add_address(low: u8, reader: &mut Reader<'_>) -> Option<AddAddress> {
    let id = reader.u8()?;
    let old = matches!((low, reader.len()), (4, 4 | 6) | (6, 16 | 18));
    let echo = low & 1 != 0;
    let hmac_length = if echo || old { 0 } else { 8 };
    let (address, has_port): (IpAddr, bool) = match reader.len().checked_sub(hmac_length)? {
        4 => (reader.array::<4>()?.into(), false),
        6 => (reader.array::<4>()?.into(), true),
        16 => (reader.array::<16>()?.into(), false),
        18 => (reader.array::<16>()?.into(), true),
        _ => return None,
    };
    let port = if has_port { Some(reader.u16()?) } else { None };
    let hmac = present(reader, Reader::u64)?;
    Some(AddAddress { echo, id, address, port, hmac })
}

/// RFC 8684 section 3.4.2: at least one ID.
fn remove_address(reader: &mut Reader<'_>) -> Option<RemoveAddress> {
    let mut ids = ArrayVec::new();
    ids.try_extend_from_slice(reader.take(reader.len())?).ok()?;
    (!ids.is_empty()).then_some(RemoveAddress { ids })
}
