//! The report of a capture: a document for people and programs.
//!
//! Rates are Mb/s of payload (10^6 bit), times s after the first packet, and round trips ms, unless the name of a field
//! says otherwise. `mptcplab doctor --schema` prints the JSON Schema of [`Report`].

use schemars::JsonSchema;
use serde::Serialize;

use crate::capture::{PacketRef, Skipped};

/// The report on captures.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Report {
    /// The files, in the order given. Packets refer to them by their number, from 0.
    pub files: Vec<String>,
    /// Packets in all files.
    pub packets: u64,
    /// TCP segments among them.
    pub segments: u64,
    /// Packets that were not used, by reason.
    pub skipped: Skipped,
    /// Segments that were captured twice, on two devices of one host.
    pub copies: u64,
    /// Segments of connections beyond the maximum number.
    pub omitted_segments: u64,
    /// Why a file was not read to its end, or not at all.
    pub warnings: Vec<String>,
    /// Time of the first packet, s since 1970.
    pub start: f64,
    /// Time from the first to the last packet, s.
    pub seconds: f64,
    /// The connections, those with most data first.
    pub connections: Vec<ConnectionReport>,
    /// Connections beyond the maximum of the report.
    pub omitted_connections: usize,
}

impl Report {
    /// The report as JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Whether a connection uses MPTCP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// MPTCP.
    Mptcp,
    /// TCP, although MPTCP was asked for.
    Fallback,
    /// TCP.
    #[default]
    Tcp,
}

/// A host of a connection. The client opened its first subflow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The host that opened the connection.
    #[default]
    Client,
    /// The other host.
    Server,
}

impl Role {
    /// The role of a side: 0 is the client.
    #[must_use]
    pub const fn of(side: usize) -> Self {
        if side == 0 { Self::Client } else { Self::Server }
    }

    /// The word in a sentence.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
        }
    }
}

/// One connection.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct ConnectionReport {
    /// Its protocol.
    pub protocol: Protocol,
    /// MPTCP version, 0 or 1.
    pub version: Option<u8>,
    /// Address and port of the client's first subflow.
    pub client: String,
    /// Address and port of the server.
    pub server: String,
    /// Tokens of client and server, as in `ss`, where the keys were captured.
    pub tokens: [Option<u32>; 2],
    /// Where the capture was made: `client`, `server`, `middle` or `unknown`.
    pub place: String,
    /// Whether captures of both ends were given.
    pub has_both_ends: bool,
    /// Start, s.
    pub start: f64,
    /// Time from the first to the last packet, s.
    pub seconds: f64,
    /// The host that sent most data; verdicts are about its data.
    pub sender: Role,
    /// Data from the client, and from the server.
    pub data: [DataReport; 2],
    /// Subflows, in the order of their SYNs.
    pub subflows: Vec<SubflowReport>,
    /// Announced addresses.
    pub announced: Vec<AnnouncedReport>,
    /// Events in the order of time.
    pub events: Vec<EventReport>,
    /// First segments, and later ones with rare options.
    pub ladder: Vec<RungReport>,
    /// Verdicts, the most expensive one first. There is always at least one.
    pub verdicts: Vec<Verdict>,
}

/// Data in one direction.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct DataReport {
    /// Data sent, each byte once.
    pub bytes: u64,
    /// Data acknowledged in order; 0 if no acknowledgements were captured.
    pub delivered: u64,
    /// Time from the first data to the last data or acknowledgement, s.
    pub seconds: f64,
    /// Goodput.
    pub goodput: f64,
    /// Rate that all established subflows together could have carried, as far as the capture shows.
    pub potential: f64,
    /// Bytes that were sent on a second subflow.
    pub reinjected: u64,
    /// Of these, bytes that had been acknowledged before.
    pub needless: u64,
    /// Largest receive window, bytes.
    pub largest_window: u64,
    /// Most data in flight, bytes.
    pub largest_flight: u64,
    /// Mean data in flight while there is any, bytes.
    pub mean_flight: u64,
    /// Time without data in flight between data, s.
    pub idle: f64,
    /// Most data that waited out of order at the receiver, bytes.
    pub largest_out_of_order: u64,
    /// Longest time without progress while data was outstanding, s.
    pub longest_stall: f64,
    /// Values in equal time steps.
    pub series: DataSeries,
}

/// Values of the data in equal time steps.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct DataSeries {
    /// Time of the first step, s.
    pub start: f64,
    /// Length of a step, s.
    pub step: f64,
    /// Goodput.
    pub goodput: Vec<f64>,
    /// Most data in flight, bytes.
    pub flight: Vec<u64>,
    /// Largest window left, bytes.
    pub window: Vec<u64>,
    /// Most out-of-order data, bytes.
    pub out_of_order: Vec<u64>,
    /// Rate of reinjected data.
    pub reinjected: Vec<f64>,
}

/// One subflow.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct SubflowReport {
    /// Address and port of the host that opened it, and of the other host.
    pub ends: [String; 2],
    /// The host that opened it.
    pub opener: Role,
    /// `established`, `unanswered`, `refused`, `without MPTCP`, or `not seen` if the handshake was not captured.
    pub handshake: String,
    /// Start and end, s.
    pub start: f64,
    /// Last packet, s.
    pub end: f64,
    /// SYNs that were repeated.
    pub repeated_syns: u32,
    /// Whether it is a backup at the end.
    pub is_backup: bool,
    /// Address IDs of opener and peer.
    pub address_ids: [Option<u8>; 2],
    /// RTT of the handshake, if it was captured at the opener.
    pub handshake_rtt: Option<f64>,
    /// Reason of the first RST with MP_TCPRST, in words.
    pub reset: Option<String>,
    /// The host that sent the first RST.
    pub reset_by: Option<Role>,
    /// Data from the client, and from the server.
    pub data: [SubflowData; 2],
}

/// Data of a subflow in one direction.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct SubflowData {
    /// Payload sent, each byte once.
    pub bytes: u64,
    /// Data segments. Network cards may split them later.
    pub segments: u64,
    /// Share of the connection's data.
    pub share: f64,
    /// Retransmitted segments.
    pub retransmissions: u64,
    /// Segments presumed lost.
    pub lost: u64,
    /// Segments that were lost while the queue was not full.
    pub random_losses: u64,
    /// Lost bytes per sent byte.
    pub loss_rate: f64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Reordered segments.
    pub reordered: u64,
    /// Acknowledged bytes that were not captured.
    pub uncaptured: u64,
    /// Short segments with the flag PSH: the application had no more data.
    pub short_segments: u64,
    /// Least RTT.
    pub base_rtt: Option<f64>,
    /// Median RTT, weighted by data.
    pub median_rtt: Option<f64>,
    /// RTT that 95% of the data did not exceed.
    pub p95_rtt: Option<f64>,
    /// Rate of the path while it was busy.
    pub capacity: Option<f64>,
    /// Whether the path was ever busy, so that its capacity is no lower bound only.
    pub is_capacity_measured: bool,
    /// Most data in flight, bytes.
    pub largest_flight: u64,
    /// Rate that was missing because of each limit, compared with the capacity.
    pub missing: Vec<Missing>,
    /// Values in equal time steps.
    pub series: SubflowSeries,
}

/// Rate that a limit cost.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Missing {
    /// `dead`, `backup`, `head-of-line`, `window`, `application`, `unused`, `loss` or `growth`.
    pub limit: String,
    /// Time in this state, s.
    pub seconds: f64,
    /// Rate.
    pub rate: f64,
}

/// Values of a subflow in equal time steps.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct SubflowSeries {
    /// Time of the first step, s.
    pub start: f64,
    /// Length of a step, s.
    pub step: f64,
    /// Rate of acknowledged payload.
    pub rate: Vec<f64>,
    /// Rate of retransmitted payload.
    pub retransmitted: Vec<f64>,
    /// Lost segments.
    pub lost: Vec<u32>,
    /// Highest number sent, relative to the SYN, bytes.
    pub sent: Vec<u64>,
    /// Mean RTT; null without a sample.
    pub rtt: Vec<Option<f64>>,
    /// Mean data in flight, bytes.
    pub flight: Vec<u64>,
}

/// An address in an ADD_ADDR option.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct AnnouncedReport {
    /// The host that announced it.
    pub by: Role,
    /// Address ID.
    pub id: u8,
    /// Address and port.
    pub address: String,
    /// Time, s.
    pub time: f64,
    /// The packet.
    pub packet: PacketRef,
    /// Whether the peer confirmed the option.
    pub is_echoed: bool,
    /// Whether a subflow to this address was tried.
    pub is_used: bool,
    /// Whether it was removed later.
    pub is_removed: bool,
}

/// An event.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct EventReport {
    /// Time, s.
    pub time: f64,
    /// The packet.
    pub packet: PacketRef,
    /// The subflow, from 0.
    pub subflow: u16,
    /// The event in words.
    pub what: String,
}

/// An arrow of the sequence diagram.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct RungReport {
    /// Time, s.
    pub time: f64,
    /// The packet.
    pub packet: PacketRef,
    /// The sender.
    pub from: Role,
    /// The subflow, from 0.
    pub subflow: u16,
    /// Flags and options.
    pub what: String,
}

/// One answer to "why is it slow?".
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Verdict {
    /// Its name; docs/doctor.md lists all names.
    pub name: String,
    /// The subflow that it is about, from 0.
    pub subflow: Option<u16>,
    /// The reason in one sentence.
    pub summary: String,
    /// Share of the potential that it costs, 0 to 1. Estimated where the capture does not show it.
    pub share: f64,
    /// Rate that it costs.
    pub cost: Option<f64>,
    /// Time that it costs, s.
    pub cost_seconds: Option<f64>,
    /// Packets that prove it.
    pub evidence: Vec<Evidence>,
    /// Commands and settings to try.
    pub advice: Vec<String>,
}

/// A packet that proves a verdict.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Evidence {
    /// The packet.
    pub packet: PacketRef,
    /// Time, s.
    pub time: f64,
    /// The meaning of the packet.
    pub what: String,
    /// The last packet, if it shows something that lasts.
    pub until: Option<PacketRef>,
}

/// The JSON Schema of [`Report`].
#[must_use]
pub fn schema() -> String {
    serde_json::to_string_pretty(&schemars::schema_for!(Report)).unwrap_or_default()
}
