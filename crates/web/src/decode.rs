//! A segment in words, for sequence diagrams: flags, and each option with its fields and their meaning.
//!
//! Owns the words. Names of options and fields are those of RFC 9293, RFC 7323, RFC 2018 and RFC 8684.

use mptcp_lab::wire::{DataSequence, Dss, Flags, MpJoin, MptcpOption, Options, Segment};
use mptcp_lab::world::SeenSegment;
use serde::Serialize;

/// A field of an option.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// Its value.
    pub value: String,
    /// Its meaning.
    pub help: &'static str,
}

/// An option.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DecodedOption {
    /// Its name, with the form that its length selects.
    pub name: String,
    /// Its fields.
    pub fields: Vec<Field>,
}

/// A segment at a host: `SegmentView` of the page.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the fields are those of a segment")]
pub struct DecodedSegment {
    pub id: u32,
    pub time: f64,
    pub host: usize,
    pub path: usize,
    pub flow: usize,
    pub sent: bool,
    pub flags: String,
    pub seq: u32,
    pub ack: u32,
    pub length: usize,
    pub window: u16,
    pub options: Vec<DecodedOption>,
}

/// A missing path or flow.
const NONE: usize = 65_535;

/// The segment in words.
#[must_use]
pub fn decoded(seen: &SeenSegment) -> DecodedSegment {
    let segment = &seen.segment;
    DecodedSegment {
        id: seen.id,
        time: seen.at.as_secs_f64(),
        host: seen.host,
        path: seen.path.unwrap_or(NONE),
        flow: seen.flow.unwrap_or(NONE),
        sent: seen.sent,
        flags: flags(segment),
        seq: segment.sequence.value(),
        ack: segment.acknowledgment.value(),
        length: segment.payload.len(),
        window: segment.window,
        options: options(&segment.options),
    }
}

fn flags(segment: &Segment) -> String {
    let known = [
        (Flags::SYN, "SYN"),
        (Flags::FIN, "FIN"),
        (Flags::RST, "RST"),
        (Flags::PSH, "PSH"),
        (Flags::ACK, "ACK"),
        (Flags::ECE, "ECE"),
        (Flags::CWR, "CWR"),
    ];
    let set: Vec<&str> =
        known.iter().filter(|(flag, _)| segment.flags.contains(*flag)).map(|(_, name)| *name).collect();
    set.join(", ")
}

fn field(name: &'static str, value: impl ToString, help: &'static str) -> Field {
    Field { name, value: value.to_string(), help }
}

fn options(options: &Options) -> Vec<DecodedOption> {
    let mut decoded = Vec::new();
    let mut add =
        |name: &str, fields: Vec<Field>| decoded.push(DecodedOption { name: name.to_owned(), fields });
    if let Some(mss) = options.mss {
        add("MSS", vec![field("bytes", mss, "The largest payload that this host receives in one segment.")]);
    }
    if let Some(scale) = options.window_scale {
        let help = "The window field of later segments is multiplied by 2 to the power of this number.";
        add("Window scale", vec![field("shift", scale, help)]);
    }
    if options.sack_permitted {
        add("SACK permitted", Vec::new());
    }
    if let Some(times) = options.timestamps {
        add(
            "Timestamps",
            vec![
                field("TSval", times.value, "Clock of the sender when it sent the segment."),
                field(
                    "TSecr",
                    times.echo,
                    "The TSval that the sender received last: the peer computes an RTT from it.",
                ),
            ],
        );
    }
    if !options.sack.is_empty() {
        let blocks: Vec<String> =
            options.sack.iter().map(|block| format!("{}-{}", block.0.value(), block.1.value())).collect();
        add(
            "SACK",
            vec![field("blocks", blocks.join(" "), "Sequence numbers received beyond the acknowledgement.")],
        );
    }
    for option in &options.mptcp {
        decoded.push(mptcp(option));
    }
    if let Some(dss) = &options.dss {
        decoded.push(signal(dss));
    }
    decoded
}

fn sequence(number: DataSequence) -> String {
    match number {
        DataSequence::Short(low) => format!("{low} (low 32 bits)"),
        DataSequence::Wide(whole) => whole.to_string(),
    }
}

fn signal(dss: &Dss) -> DecodedOption {
    let mut fields = Vec::new();
    if let Some(ack) = dss.ack {
        let help = "All data of the connection before this data sequence number has arrived, over whichever subflow.";
        fields.push(field("DATA_ACK", sequence(ack), help));
    }
    if let Some(mapping) = &dss.mapping {
        fields.push(field(
            "Data sequence number",
            sequence(mapping.sequence),
            "Position of the first byte in the data of the whole connection.",
        ));
        fields.push(field(
            "Subflow sequence number",
            mapping.subflow_sequence,
            "Position of the same byte on this subflow, counted from the SYN.",
        ));
        fields.push(field("Data-level length", mapping.length, "Bytes that this mapping covers."));
        if let Some(checksum) = mapping.checksum {
            let help = "Covers the data and the mapping, to find middleboxes that change data.";
            fields.push(field("Checksum", format!("{checksum:#06x}"), help));
        }
    }
    if dss.data_fin {
        fields.push(field("DATA_FIN", "yes", "The sender has no more data on the connection."));
    }
    DecodedOption { name: "DSS".to_owned(), fields }
}

fn mptcp(option: &MptcpOption) -> DecodedOption {
    let (name, fields) = match option {
        MptcpOption::Capable(capable) => {
            let mut fields = vec![
                field("Version", capable.version, "1 is RFC 8684, 0 is RFC 6824."),
                field(
                    "Flags",
                    format!("{:#04x}", capable.flags),
                    "Bit A asks for checksums; bit H selects HMAC-SHA256.",
                ),
            ];
            let keys = [("Sender's key", capable.sender_key), ("Receiver's key", capable.receiver_key)];
            for (name, key) in keys {
                if let Some(key) = key {
                    let help = "Tokens and HMACs of later subflows are computed from the two keys.";
                    fields.push(field(name, format!("{key:#018x}"), help));
                }
            }
            if let Some((length, _)) = capable.data {
                fields.push(field(
                    "Data-level length",
                    length,
                    "The first data of the connection, mapped here.",
                ));
            }
            ("MP_CAPABLE", fields)
        }
        MptcpOption::Join(MpJoin::Syn { backup, address_id, token, nonce }) => (
            "MP_JOIN (SYN)",
            vec![
                field("Token", format!("{token:#010x}"), "Names the connection that this subflow joins."),
                field(
                    "Nonce",
                    format!("{nonce:#010x}"),
                    "Random number that makes the HMACs of this handshake unique.",
                ),
                field("Address ID", address_id, "Number of the sender's address, for its later removal."),
                field("Backup", backup, "Whether the subflow is used only if no other works."),
            ],
        ),
        MptcpOption::Join(MpJoin::SynAck { backup, address_id, hmac, nonce }) => (
            "MP_JOIN (SYN/ACK)",
            vec![
                field(
                    "HMAC",
                    format!("{hmac:#018x}"),
                    "Proves that the sender knows the keys of the connection.",
                ),
                field(
                    "Nonce",
                    format!("{nonce:#010x}"),
                    "Random number that makes the HMACs of this handshake unique.",
                ),
                field("Address ID", address_id, "Number of the sender's address, for its later removal."),
                field("Backup", backup, "Whether the subflow is used only if no other works."),
            ],
        ),
        MptcpOption::Join(MpJoin::Ack { hmac }) => {
            let text: String = hmac.iter().map(|byte| format!("{byte:02x}")).collect();
            let help = "Proves that the sender knows the keys of the connection.";
            ("MP_JOIN (ACK)", vec![field("HMAC", text, help)])
        }
        MptcpOption::AddAddress(add) => {
            let mut fields = vec![
                field("Address", add.address, "A further address of the sender, for new subflows."),
                field("Address ID", add.id, "Number of the address, for its later removal."),
                field("Echo", add.echo, "Whether this confirms an ADD_ADDR of the peer."),
            ];
            if let Some(hmac) = add.hmac {
                let help = "Proves that the sender knows the keys of the connection.";
                fields.push(field("HMAC", format!("{hmac:#018x}"), help));
            }
            ("ADD_ADDR", fields)
        }
        MptcpOption::RemoveAddress(remove) => {
            let ids: Vec<String> = remove.ids.iter().map(u8::to_string).collect();
            (
                "REMOVE_ADDR",
                vec![field("Address IDs", ids.join(", "), "Addresses that the sender no longer has.")],
            )
        }
        MptcpOption::Prio(prio) => {
            let help = "Whether the subflow is used only if no other works.";
            ("MP_PRIO", vec![field("Backup", prio.backup, help)])
        }
        MptcpOption::Fail(number) => {
            let help = "Data from here on failed its checksum. The subflow is closed; without another subflow, the connection falls back to TCP.";
            ("MP_FAIL", vec![field("Data sequence number", number, help)])
        }
        MptcpOption::FastClose(key) => {
            let help = "The receiver's key, which proves that the connection may be aborted.";
            ("MP_FASTCLOSE", vec![field("Receiver's key", format!("{key:#018x}"), help)])
        }
        MptcpOption::TcpRst(reset) => {
            let help = "Why the subflow is reset: numbers of RFC 8684 section 3.6.";
            ("MP_TCPRST", vec![field("Reason", reset.reason.0, help)])
        }
    };
    DecodedOption { name: name.to_owned(), fields }
}
