//! MPTCP options as values (RFC 8684 section 3, and RFC 6824 section 3 where it differs).
//!
//! Owns the values, their lengths and, in `parse` and `emit`, their encoding. Never interprets an option for a
//! connection.

use std::net::IpAddr;

use arrayvec::ArrayVec;

mod emit;
pub(crate) mod parse;

/// Subtypes (RFC 8684 section 7.2).
mod subtype {
    pub(super) const CAPABLE: u8 = 0x0;
    pub(super) const JOIN: u8 = 0x1;
    pub(super) const DSS: u8 = 0x2;
    pub(super) const ADD_ADDRESS: u8 = 0x3;
    pub(super) const REMOVE_ADDRESS: u8 = 0x4;
    pub(super) const PRIO: u8 = 0x5;
    pub(super) const FAIL: u8 = 0x6;
    pub(super) const FAST_CLOSE: u8 = 0x7;
    pub(super) const TCP_RST: u8 = 0x8;
}

/// Flags A, a, M, m, F of the DSS option (RFC 8684 section 3.3).
mod dss_flag {
    pub(super) const ACK: u8 = 0x01;
    pub(super) const ACK_WIDE: u8 = 0x02;
    pub(super) const MAPPING: u8 = 0x04;
    pub(super) const SEQUENCE_WIDE: u8 = 0x08;
    pub(super) const DATA_FIN: u8 = 0x10;
}

/// A data sequence number or data acknowledgement in an option, with 32 or 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataSequence {
    /// The low 32 bits.
    Short(u32),
    /// All 64 bits.
    Wide(u64),
}

/// The MPTCP options other than DSS, which has its own field in [`crate::Options`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MptcpOption {
    /// Multipath capable (section 3.1).
    Capable(MpCapable),
    /// Join connection (section 3.2).
    Join(MpJoin),
    /// Add address (section 3.4.1).
    AddAddress(AddAddress),
    /// Remove address (section 3.4.2).
    RemoveAddress(RemoveAddress),
    /// Change subflow priority (section 3.3.8).
    Prio(MpPrio),
    /// Fallback (section 3.7): the data sequence number of the start of the failed mapping.
    Fail(u64),
    /// Fast close (section 3.5): the receiver's key.
    FastClose(u64),
    /// Subflow reset (section 3.6).
    TcpRst(MpTcpRst),
}

/// MP_CAPABLE (RFC 8684 section 3.1). Its length determines its form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MpCapable {
    /// Protocol version: 1 for RFC 8684.
    pub version: u8,
    /// The eight flags A to H.
    pub flags: u8,
    /// The sender's key; absent on a v1 SYN.
    pub sender_key: Option<u64>,
    /// The receiver's key; on the third ACK and the first data.
    pub receiver_key: Option<u64>,
    /// Data-level length and checksum; on the first data.
    pub data: Option<(u16, Option<u16>)>,
}

impl MpCapable {
    /// Flag A: DSS checksum required.
    pub const CHECKSUM_REQUIRED: u8 = 0x80;
    /// Flag B: extensibility; must be 0, else a host ignores the option.
    pub const EXTENSIBILITY: u8 = 0x40;
    /// Flag C: no further subflows to this address and port.
    pub const NO_JOIN_HERE: u8 = 0x20;
    /// Flag H: HMAC-SHA256 (v1), HMAC-SHA1 (v0).
    pub const HMAC: u8 = 0x01;
}

/// MP_JOIN (RFC 8684 section 3.2): one form for each step of the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MpJoin {
    /// On the SYN.
    Syn {
        /// The subflow is a backup.
        backup: bool,
        /// The sender's address ID.
        address_id: u8,
        /// The receiver's token.
        token: u32,
        /// The sender's nonce.
        nonce: u32,
    },
    /// On the SYN/ACK.
    SynAck {
        /// The subflow is a backup.
        backup: bool,
        /// The sender's address ID.
        address_id: u8,
        /// Leftmost 64 bits of the sender's HMAC.
        hmac: u64,
        /// The sender's nonce.
        nonce: u32,
    },
    /// On the third ACK.
    Ack {
        /// Leftmost 160 bits of the sender's HMAC.
        hmac: [u8; 20],
    },
}

/// Data sequence signal (RFC 8684 section 3.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dss {
    /// Data acknowledgement.
    pub ack: Option<DataSequence>,
    /// Mapping of subflow sequence space to data sequence space.
    pub mapping: Option<Mapping>,
    /// The mapping ends with a DATA_FIN.
    pub data_fin: bool,
}

/// A mapping of `length` bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// Data sequence number of the first byte.
    pub sequence: DataSequence,
    /// Relative subflow sequence number of the first byte: 1 for the first byte after the SYN, 0 for a DATA_FIN without
    /// data.
    pub subflow_sequence: u32,
    /// Data-level length, including 1 for a DATA_FIN; 0 for the infinite mapping of section 3.7.
    pub length: u16,
    /// DSS checksum, when negotiated.
    pub checksum: Option<u16>,
}

/// ADD_ADDR (RFC 8684 section 3.4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddAddress {
    /// Whether the option is an echo.
    pub echo: bool,
    /// Address ID.
    pub id: u8,
    /// The address.
    pub address: IpAddr,
    /// A port other than the initial subflow's.
    pub port: Option<u16>,
    /// Rightmost 64 bits of the HMAC. None on an echo, and in version 0, which has neither echo nor HMAC.
    pub hmac: Option<u64>,
}

/// REMOVE_ADDR (RFC 8684 section 3.4.2): the removed address IDs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RemoveAddress {
    /// Address IDs, at least one.
    pub ids: ArrayVec<u8, 37>,
}

/// MP_PRIO (RFC 8684 section 3.3.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MpPrio {
    /// The subflow becomes a backup.
    pub backup: bool,
    /// The address in version 0; None in version 1, which means the subflow itself.
    pub address_id: Option<u8>,
}

/// MP_TCPRST (RFC 8684 section 3.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MpTcpRst {
    /// Flags U, V, W and T (low four bits); T (bit 0) states that the condition is transient.
    pub flags: u8,
    /// The reason of the reset.
    pub reason: ResetReason,
}

/// Reason of an MP_TCPRST; the IANA registry of RFC 8684 section 7.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ResetReason(pub u8);

impl ResetReason {
    /// Unspecified error.
    pub const UNSPECIFIED: Self = Self(0);
    /// MPTCP-specific error.
    pub const MPTCP: Self = Self(1);
    /// Lack of resources.
    pub const RESOURCES: Self = Self(2);
    /// Administratively prohibited.
    pub const PROHIBITED: Self = Self(3);
    /// Too much outstanding data.
    pub const OUTSTANDING: Self = Self(4);
    /// Unacceptable performance.
    pub const PERFORMANCE: Self = Self(5);
    /// Middlebox interference.
    pub const MIDDLEBOX: Self = Self(6);
}

impl DataSequence {
    /// Encoded length, in bytes.
    #[must_use]
    pub const fn length(self) -> usize {
        match self {
            Self::Short(_) => 4,
            Self::Wide(_) => 8,
        }
    }

    /// The full number nearest to `near` (RFC 8684 section 3.3.1).
    #[must_use]
    pub const fn expand(self, near: u64) -> u64 {
        match self {
            Self::Wide(value) => value,
            Self::Short(low) => near.wrapping_add(low.wrapping_sub(near as u32) as i32 as i64 as u64),
        }
    }
}

impl Dss {
    /// Encoded length in bytes, without padding.
    #[must_use]
    #[inline]
    pub fn length(&self) -> usize {
        let ack = self.ack.map_or(0, DataSequence::length);
        let mapping = self.mapping.as_ref().map_or(0, |mapping| {
            mapping.sequence.length() + 6 + if mapping.checksum.is_some() { 2 } else { 0 }
        });
        4 + ack + mapping
    }

    /// Encoded length in bytes, rounded up to a multiple of 4. A checksum does not change the result.
    #[inline]
    pub(crate) fn padded_length(&self) -> usize {
        let ack = self.ack.map_or(0, DataSequence::length);
        4 + ack + self.mapping.as_ref().map_or(0, |mapping| mapping.sequence.length() + 8)
    }
}

impl MptcpOption {
    /// Encoded length in bytes, without padding.
    #[must_use]
    pub fn length(&self) -> usize {
        match self {
            Self::Capable(capable) => {
                let data = capable.data.map_or(0, |(_, checksum)| if checksum.is_some() { 4 } else { 2 });
                4 + 8
                    * (usize::from(capable.sender_key.is_some())
                        + usize::from(capable.receiver_key.is_some()))
                    + data
            }
            Self::Join(MpJoin::Syn { .. }) => 12,
            Self::Join(MpJoin::SynAck { .. }) => 16,
            Self::Join(MpJoin::Ack { .. }) => 24,
            Self::AddAddress(add) => {
                let address = if add.address.is_ipv4() { 4 } else { 16 };
                4 + address + add.port.map_or(0, |_| 2) + add.hmac.map_or(0, |_| 8)
            }
            Self::RemoveAddress(remove) => 3 + remove.ids.len(),
            Self::Prio(prio) => 3 + prio.address_id.map_or(0, |_| 1),
            Self::Fail(_) | Self::FastClose(_) => 12,
            Self::TcpRst(_) => 4,
        }
    }
}
