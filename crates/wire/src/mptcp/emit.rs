//! Encodes MPTCP options (RFC 8684 section 3).
//!
//! Owns the encoding of each option, without padding. Refuses values that no form of the option can carry. Never
//! decides whether an option belongs on a segment.

use std::net::IpAddr;

use super::{
    AddAddress, DataSequence, Dss, MpCapable, MpJoin, MpPrio, MpTcpRst, MptcpOption, RemoveAddress, dss_flag,
    subtype,
};
use crate::error::EmitError;
use crate::options::{Field, kind};

/// Writes kind, length, subtype and the low four bits.
fn head(field: &mut Field, length: usize, subtype: u8, low: u8) -> Result<(), EmitError> {
    field.put(&[kind::MPTCP, length as u8, subtype << 4 | low])
}

impl Dss {
    pub(crate) fn emit(&self, field: &mut Field) -> Result<(), EmitError> {
        let mut flags = if self.data_fin { dss_flag::DATA_FIN } else { 0 };
        if let Some(ack) = self.ack {
            flags |= dss_flag::ACK | if ack.is_wide() { dss_flag::ACK_WIDE } else { 0 };
        }
        if let Some(mapping) = self.mapping {
            flags |= dss_flag::MAPPING;
            flags |= if mapping.sequence.is_wide() { dss_flag::SEQUENCE_WIDE } else { 0 };
        }
        head(field, self.length(), subtype::DSS, 0)?;
        field.put(&[flags])?;
        if let Some(ack) = self.ack {
            ack.emit(field)?;
        }
        let Some(mapping) = self.mapping else { return Ok(()) };
        mapping.sequence.emit(field)?;
        field.put(&mapping.subflow_sequence.to_be_bytes())?;
        field.put(&mapping.length.to_be_bytes())?;
        mapping.checksum.map_or(Ok(()), |checksum| field.put(&checksum.to_be_bytes()))
    }
}

impl DataSequence {
    const fn is_wide(self) -> bool {
        matches!(self, Self::Wide(_))
    }

    fn emit(self, field: &mut Field) -> Result<(), EmitError> {
        match self {
            Self::Short(low) => field.put(&low.to_be_bytes()),
            Self::Wide(value) => field.put(&value.to_be_bytes()),
        }
    }
}

impl MptcpOption {
    pub(crate) fn emit(&self, field: &mut Field) -> Result<(), EmitError> {
        let length = self.length();
        match self {
            Self::Capable(capable) => capable.emit(field, length),
            Self::Join(join) => join.emit(field, length),
            Self::AddAddress(add) => add.emit(field, length),
            Self::RemoveAddress(remove) => remove.emit(field, length),
            Self::Prio(prio) => prio.emit(field, length),
            Self::Fail(sequence) => number(field, length, subtype::FAIL, *sequence),
            Self::FastClose(key) => number(field, length, subtype::FAST_CLOSE, *key),
            Self::TcpRst(reset) => reset.emit(field, length),
        }
    }
}

/// The common form of MP_FAIL and MP_FASTCLOSE: 12 reserved bits, then 64 bits.
fn number(field: &mut Field, length: usize, subtype: u8, value: u64) -> Result<(), EmitError> {
    head(field, length, subtype, 0)?;
    field.put(&[0])?;
    field.put(&value.to_be_bytes())
}

impl MpCapable {
    fn emit(&self, field: &mut Field, length: usize) -> Result<(), EmitError> {
        let no_form = |rule| Err(EmitError::Form { option: "MP_CAPABLE", rule });
        if self.version > 0x0f {
            return no_form("its version must fit into four bits");
        }
        if self.receiver_key.is_some() && self.sender_key.is_none() {
            return no_form("the receiver's key requires the sender's");
        }
        if self.data.is_some() && self.receiver_key.is_none() {
            return no_form("the data-level length requires both keys");
        }
        head(field, length, subtype::CAPABLE, self.version)?;
        field.put(&[self.flags])?;
        for key in self.sender_key.into_iter().chain(self.receiver_key) {
            field.put(&key.to_be_bytes())?;
        }
        let Some((length, checksum)) = self.data else { return Ok(()) };
        field.put(&length.to_be_bytes())?;
        checksum.map_or(Ok(()), |checksum| field.put(&checksum.to_be_bytes()))
    }
}

impl MpJoin {
    fn emit(&self, field: &mut Field, length: usize) -> Result<(), EmitError> {
        match *self {
            Self::Syn { backup, address_id, token, nonce } => {
                head(field, length, subtype::JOIN, backup.into())?;
                field.put(&[address_id])?;
                field.put(&token.to_be_bytes())?;
                field.put(&nonce.to_be_bytes())
            }
            Self::SynAck { backup, address_id, hmac, nonce } => {
                head(field, length, subtype::JOIN, backup.into())?;
                field.put(&[address_id])?;
                field.put(&hmac.to_be_bytes())?;
                field.put(&nonce.to_be_bytes())
            }
            Self::Ack { hmac } => {
                head(field, length, subtype::JOIN, 0)?;
                field.put(&[0])?;
                field.put(&hmac)
            }
        }
    }
}

impl AddAddress {
    fn emit(&self, field: &mut Field, length: usize) -> Result<(), EmitError> {
        if self.echo && self.hmac.is_some() {
            let rule = "an echo carries no HMAC";
            return Err(EmitError::Form { option: "ADD_ADDR", rule });
        }
        let low = match (self.echo, self.hmac, self.address) {
            (false, None, IpAddr::V4(_)) => 4,
            (false, None, IpAddr::V6(_)) => 6,
            (echo, ..) => echo.into(),
        };
        head(field, length, subtype::ADD_ADDRESS, low)?;
        field.put(&[self.id])?;
        match self.address {
            IpAddr::V4(address) => field.put(&address.octets())?,
            IpAddr::V6(address) => field.put(&address.octets())?,
        }
        if let Some(port) = self.port {
            field.put(&port.to_be_bytes())?;
        }
        self.hmac.map_or(Ok(()), |hmac| field.put(&hmac.to_be_bytes()))
    }
}

impl RemoveAddress {
    fn emit(&self, field: &mut Field, length: usize) -> Result<(), EmitError> {
        if self.ids.is_empty() {
            return Err(EmitError::Form {
                option: "REMOVE_ADDR",
                rule: "it must name at least one address ID",
            });
        }
        head(field, length, subtype::REMOVE_ADDRESS, 0)?;
        field.put(&self.ids)
    }
}

impl MpPrio {
    fn emit(&self, field: &mut Field, length: usize) -> Result<(), EmitError> {
        head(field, length, subtype::PRIO, self.backup.into())?;
        self.address_id.map_or(Ok(()), |id| field.put(&[id]))
    }
}

impl MpTcpRst {
    fn emit(&self, field: &mut Field, length: usize) -> Result<(), EmitError> {
        if self.flags > 0x0f {
            return Err(EmitError::Form { option: "MP_TCPRST", rule: "its flags must fit into four bits" });
        }
        head(field, length, subtype::TCP_RST, self.flags)?;
        field.put(&[self.reason.0])
    }
}
