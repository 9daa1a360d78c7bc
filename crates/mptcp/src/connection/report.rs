//! Statistics of a connection and its subflows for applications and results. The names follow Linux's
//! `mptcp_info` and `tcp_info`.
//!
//! Owns the data types only. Never computes a value (`info`).

use std::net::SocketAddr;

use mptcp_clock::{Duration, Instant};
use mptcp_wire::crypto::Version;

use crate::bounds::ConnectionUse;
use crate::connection::handshake::negotiation::Mode;
use crate::connection::observe::limits::Limit;
use crate::event::CloseReason;
use crate::icmp_error::IcmpError;
use crate::ids::{InterfaceId, SubflowId};
use crate::subflow::sender::Recovery;
use crate::subflow::{State, SubflowCloseReason, SubflowStats};

/// The state of a connection at one time.
#[derive(Clone, Debug)]
pub struct ConnectionInfo {
    /// The time of the report.
    pub at: Instant,
    /// The protocol in use.
    pub mode: Mode,
    /// The connection was opened as MPTCP and uses TCP: `MPTCP_INFO_FLAG_FALLBACK`.
    pub fallback: bool,
    /// The MPTCP version.
    pub version: Version,
    /// DSS checksums are in use: `mptcpi_csum_enabled`.
    pub checksum: bool,
    /// This host opened the connection.
    pub client: bool,
    /// The token of this host's key: `mptcpi_token`.
    pub token: u32,
    /// The token of the peer's key. `None` before the key arrived (`MPTCP_INFO_FLAG_REMOTE_KEY_RECEIVED`).
    pub remote_token: Option<u32>,
    /// The data sequence number of the next byte to be written: `mptcpi_write_seq`.
    pub write_seq: u64,
    /// The first unacknowledged data sequence number: `mptcpi_snd_una`.
    pub snd_una: u64,
    /// The next expected data sequence number: `mptcpi_rcv_nxt`. 0 before the peer's key arrived.
    pub rcv_nxt: u64,
    /// The name of the congestion controller.
    pub congestion: &'static str,
    /// The name of the scheduler.
    pub scheduler: &'static str,
    /// The maximum of subflows in addition to the first: `mptcpi_subflows_max`.
    pub subflows_max: u8,
    /// The number of subflows that have ever existed.
    pub subflows_total: u64,
    /// Addresses that were announced to the peer: `mptcpi_add_addr_signal`.
    pub add_addr_signal: usize,
    /// Addresses that the peer announced: `mptcpi_add_addr_accepted`.
    pub add_addr_accepted: usize,
    /// The reason for the end. `None` while the connection is open.
    pub closed: Option<CloseReason>,
    /// Bytes written by the application.
    pub bytes_written: u64,
    /// Bytes sent at least once.
    pub bytes_sent: u64,
    /// Bytes acknowledged at the data level.
    pub bytes_acked: u64,
    /// Bytes received in order.
    pub bytes_received: u64,
    /// Bytes that wait out of order at the data level.
    pub out_of_order: u64,
    /// Bytes received more than once.
    pub duplicate_bytes: u64,
    /// Bytes in the send buffer.
    pub send_queue: u64,
    /// The size of the receive buffer, bytes.
    pub receive_buffer: u64,
    /// The peer's window from the first unacknowledged byte, bytes.
    pub peer_window: u64,
    /// Bytes reinjected on another subflow.
    pub reinjected_bytes: u64,
    /// Bytes of `reinjected_bytes` that opportunistic retransmission (M1) reinjected.
    pub opportunistic_bytes: u64,
    /// The number of window reductions by penalisation (M2).
    pub penalties: u64,
    /// The time for which each limit blocked the sender.
    pub limits: [(Limit, Duration); 8],
    /// The use of resources that a peer can influence. The bounds are in docs/security.md.
    pub usage: ConnectionUse,
    /// Open subflows, and closed ones whose slots were not reused.
    pub subflows: Vec<SubflowInfo>,
    /// Closed subflows whose slots were reused, the oldest first: at most 119.
    pub past: Vec<SubflowInfo>,
}

/// The state of a subflow at one time, or at its end.
#[derive(Clone, Debug)]
pub struct SubflowInfo {
    /// The identifier. [`SubflowId::number`] counts the subflows of the connection.
    pub id: SubflowId,
    /// The time of its first SYN.
    pub opened_at: Instant,
    /// The time of its end. `None` while it is open.
    pub closed_at: Option<Instant>,
    /// The interface that it uses.
    pub interface: InterfaceId,
    /// The local address.
    pub local: SocketAddr,
    /// The peer's address.
    pub remote: SocketAddr,
    /// TCP state.
    pub state: State,
    /// The reason for its end. `None` while it is open.
    pub closed_by: Option<SubflowCloseReason>,
    /// The last ICMP error for its segments, as a hint only (RFC 5927 section 5.2).
    pub icmp: Option<IcmpError>,
    /// The subflow is a backup, used only if no other works.
    pub backup: bool,
    /// The subflow is on probation, used only if no other works: [`crate::JOIN_PROBATION`].
    pub probation: bool,
    /// Congestion window, bytes.
    pub cwnd: u64,
    /// Slow start threshold, bytes. `None` in the first slow start.
    pub ssthresh: Option<u64>,
    /// The payload of a full segment, bytes: `tcpi_snd_mss`.
    pub mss: u64,
    /// The path MTU, bytes: `tcpi_pmtu`.
    pub pmtu: u32,
    /// The MSS option that was sent: `tcpi_advmss`.
    pub advmss: u16,
    /// Timestamps are in use (RFC 7323).
    pub timestamps: bool,
    /// Selective acknowledgements are in use (RFC 2018).
    pub sack: bool,
    /// Data of a SYN was accepted (RFC 7413): `TCPI_OPT_SYN_DATA`.
    pub syn_data: bool,
    /// The window scale of the peer.
    pub send_scale: u8,
    /// The window scale of this host.
    pub receive_scale: u8,
    /// ECN was negotiated (RFC 3168).
    pub ecn: bool,
    /// Bytes that were acknowledged with ECE. Linux's `tcpi_delivered_ce` counts segments.
    pub delivered_ce: u64,
    /// Data segments received with a CE mark.
    pub received_ce: u64,
    /// Window reductions after CE marks.
    pub mark_reductions: u64,
    /// The smoothed RTT. `None` before the first sample.
    pub srtt: Option<Duration>,
    /// The RTT variation.
    pub rttvar: Duration,
    /// The minimum RTT. `None` before the first sample.
    pub min_rtt: Option<Duration>,
    /// The retransmission timeout with backoff.
    pub rto: Duration,
    /// The number of doublings since the last acknowledgement: `tcpi_backoff`.
    pub backoff: u32,
    /// The pacing rate, bytes per second. `None` without pacing.
    pub pacing_rate: Option<f64>,
    /// Bytes in flight.
    pub in_flight: u64,
    /// Unanswered probes of a closed window or a silent peer: `tcpi_probes`.
    pub probes: u32,
    /// The maximum delay of an acknowledgement: `tcpi_ato`.
    pub ack_delay: Duration,
    /// Bytes that were sent and not acknowledged on the subflow.
    pub unacked: u64,
    /// Bytes of `unacked` with a SACK: `tcpi_sacked`.
    pub sacked: u64,
    /// Bytes of `unacked` that are marked lost: `tcpi_lost`.
    pub lost: u64,
    /// Bytes of `unacked` that were retransmitted: `tcpi_retrans`.
    pub retrans: u64,
    /// Reordering was detected.
    pub reordering_seen: bool,
    /// Bytes in this host's interface queue; 0 if the driver reports no departures.
    pub local_queue: u64,
    /// The state of loss recovery.
    pub recovery: Recovery,
    /// Retransmitted segments.
    pub retransmissions: u64,
    /// Retransmitted bytes.
    pub retransmitted_bytes: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// The number of fast recoveries.
    pub recoveries: u64,
    /// Window reductions that were undone after a spurious loss: see [`crate::SpuriousLoss`].
    pub undone: u64,
    /// Bytes that wait out of order at the subflow level.
    pub out_of_order: u64,
    /// Counters of segments and bytes.
    pub stats: SubflowStats,
}
