//! The first segments of a connection with flags and options in words, for a sequence diagram.

use mptcp_wire::{DataSequence, Dss, Flags, MpJoin, MptcpOption};

use super::reset_reason::reset_reason;
use crate::capture::{PacketRef, SeenSegment};

/// Segments at most.
const MOST: usize = 60;
/// Data segments and plain acknowledgements at most.
const MOST_DATA: usize = 6;

/// One arrow of the diagram.
#[derive(Clone, Debug)]
pub(crate) struct Rung {
    pub(crate) time: u64,
    pub(crate) packet: PacketRef,
    pub(crate) side: usize,
    pub(crate) subflow: u16,
    pub(crate) what: String,
}

/// The first segments, and later ones with rare options.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ladder {
    pub(crate) rungs: Vec<Rung>,
    data: usize,
}

impl Ladder {
    pub(crate) fn take(&mut self, segment: &SeenSegment, side: usize, subflow: u16) {
        if self.rungs.len() == MOST {
            return;
        }
        let is_control = segment.flags.syn()
            || segment.flags.fin()
            || segment.flags.rst()
            || !segment.options.mptcp.is_empty()
            || segment.options.dss.as_ref().is_some_and(|dss| dss.data_fin);
        if !is_control {
            if self.data == MOST_DATA {
                return;
            }
            self.data += 1;
        }
        self.rungs.push(Rung {
            time: segment.time,
            packet: segment.packet,
            side,
            subflow,
            what: describe(segment),
        });
    }
}

/// Flags and options of a segment in the notation of Wireshark.
fn describe(segment: &SeenSegment) -> String {
    let names = [(Flags::SYN, "SYN"), (Flags::FIN, "FIN"), (Flags::RST, "RST"), (Flags::ACK, "ACK")];
    let flags: Vec<&str> =
        names.iter().filter(|(flag, _)| segment.flags.contains(*flag)).map(|(_, name)| *name).collect();
    let mut text = flags.join("/");
    if segment.payload > 0 {
        text += &format!(", {} {}", segment.payload, if segment.payload == 1 { "byte" } else { "bytes" });
    }
    for option in &segment.options.mptcp {
        text += ", ";
        text += &name(option);
    }
    if let Some(dss) = &segment.options.dss {
        text += ", ";
        text += &data_sequence(dss);
    }
    text
}

fn name(option: &MptcpOption) -> String {
    match option {
        MptcpOption::Capable(capable) => {
            let keys = match (capable.sender_key, capable.receiver_key) {
                (None, _) => "no key",
                (Some(_), None) => "a key",
                (Some(_), Some(_)) => "both keys",
            };
            format!("MP_CAPABLE v{}, {keys}", capable.version)
        }
        MptcpOption::Join(MpJoin::Syn { backup, address_id, token, .. }) => {
            let backup = if *backup { ", backup" } else { "" };
            format!("MP_JOIN token {token:#010x}, address {address_id}{backup}")
        }
        MptcpOption::Join(MpJoin::SynAck { backup, address_id, .. }) => {
            format!("MP_JOIN address {address_id}{}", if *backup { ", backup" } else { "" })
        }
        MptcpOption::Join(MpJoin::Ack { .. }) => "MP_JOIN HMAC".to_owned(),
        MptcpOption::AddAddress(address) => {
            let port = address.port.map(|port| format!(" port {port}")).unwrap_or_default();
            let echo = if address.echo { " echo" } else { "" };
            format!("ADD_ADDR{echo} {} = {}{port}", address.id, address.address)
        }
        MptcpOption::RemoveAddress(removed) => format!("REMOVE_ADDR {:?}", removed.ids.as_slice()),
        MptcpOption::Prio(priority) => format!("MP_PRIO backup={}", u8::from(priority.backup)),
        MptcpOption::Fail(_) => "MP_FAIL".to_owned(),
        MptcpOption::FastClose(_) => "MP_FASTCLOSE".to_owned(),
        MptcpOption::TcpRst(reset) => format!("MP_TCPRST: {}", reset_reason(reset.reason.0)),
    }
}

fn data_sequence(dss: &Dss) -> String {
    let mut parts = Vec::new();
    if dss.data_fin {
        parts.push("DATA_FIN".to_owned());
    }
    if let Some(ack) = dss.ack {
        parts.push(match ack {
            DataSequence::Short(_) => "4-byte DATA_ACK".to_owned(),
            DataSequence::Wide(_) => "8-byte DATA_ACK".to_owned(),
        });
    }
    if let Some(mapping) = &dss.mapping {
        let noun = if mapping.length == 1 { "byte" } else { "bytes" };
        parts.push(format!("mapping of {} {noun}", mapping.length));
    }
    format!("DSS {}", parts.join(", "))
}
