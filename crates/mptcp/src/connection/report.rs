//! The form of what a connection tells of itself; the names follow Linux's `mptcp_info` and `tcp_info`.

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

/// A connection at one moment.
#[derive(Clone, Debug)]
pub struct ConnectionInfo {
    /// The moment.
    pub at: Instant,
    /// What it speaks.
    pub mode: Mode,
    /// It was opened as Multipath TCP and speaks TCP: `MPTCP_INFO_FLAG_FALLBACK`.
    pub fallback: bool,
    /// The version it speaks.
    pub version: Version,
    /// DSS checksums are used: `mptcpi_csum_enabled`.
    pub checksum: bool,
    /// We opened it.
    pub client: bool,
    /// What our key is called by: `mptcpi_token`.
    pub token: u32,
    /// What the peer's is called by; None before its key came, as `MPTCP_INFO_FLAG_REMOTE_KEY_RECEIVED` says.
    pub remote_token: Option<u32>,
    /// Data sequence number of the next byte to be written: `mptcpi_write_seq`.
    pub write_seq: u64,
    /// First data sequence number that is not acknowledged: `mptcpi_snd_una`.
    pub snd_una: u64,
    /// Data sequence number expected next: `mptcpi_rcv_nxt`; 0 before the peer's key came.
    pub rcv_nxt: u64,
    /// Congestion control, by its name.
    pub congestion: &'static str,
    /// Scheduler, by its name.
    pub scheduler: &'static str,
    /// Most subflows beside the first: `mptcpi_subflows_max`.
    pub subflows_max: u8,
    /// Subflows that there ever were.
    pub subflows_total: u64,
    /// Addresses that the peer was told of: `mptcpi_add_addr_signal`.
    pub add_addr_signal: usize,
    /// Addresses that the peer told of: `mptcpi_add_addr_accepted`.
    pub add_addr_accepted: usize,
    /// How it ended, once it has.
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
    /// Size of the receive buffer now.
    pub receive_buffer: u64,
    /// Bytes the peer's window allows beyond what is acknowledged.
    pub peer_window: u64,
    /// Bytes carried again by another subflow.
    pub reinjected_bytes: u64,
    /// The part of them that M1 asked for.
    pub opportunistic_bytes: u64,
    /// Times that M2 halved a window.
    pub penalties: u64,
    /// Time under each limit so far.
    pub limits: [(Limit, Duration); 8],
    /// What it holds that others decide about; the bounds are in docs/security.md.
    pub usage: ConnectionUse,
    /// Subflows, those that are over too.
    pub subflows: Vec<SubflowInfo>,
    /// Subflows that are over and whose places others have got, the oldest first; the 64 last ones.
    pub past: Vec<SubflowInfo>,
}

/// A subflow at one moment, or at its end.
#[derive(Clone, Debug)]
pub struct SubflowInfo {
    /// What it is known by; [`SubflowId::number`] says which subflow of its connection it is.
    pub id: SubflowId,
    /// When its first SYN left or came.
    pub opened_at: Instant,
    /// When it ended, once it has.
    pub closed_at: Option<Instant>,
    /// Where it leaves this host.
    pub interface: InterfaceId,
    /// Our address.
    pub local: SocketAddr,
    /// The peer's address.
    pub remote: SocketAddr,
    /// TCP state.
    pub state: State,
    /// Why it ended, once it has.
    pub closed_by: Option<SubflowCloseReason>,
    /// What the network said last of its segments; no more than a hint (RFC 5927 section 5.2).
    pub icmp: Option<IcmpError>,
    /// Used only when nothing else works.
    pub backup: bool,
    /// New, and used only when nothing else works until the peer is ready for sure: [`crate::JOIN_PROBATION`].
    pub probation: bool,
    /// Congestion window, bytes.
    pub cwnd: u64,
    /// Slow start threshold, bytes; None in the first slow start.
    pub ssthresh: Option<u64>,
    /// Payload bytes of a full segment: `tcpi_snd_mss`.
    pub mss: u64,
    /// Length of the longest packet that goes, bytes: `tcpi_pmtu`.
    pub pmtu: u32,
    /// The MSS option we sent: `tcpi_advmss`.
    pub advmss: u16,
    /// Timestamps are used (RFC 7323).
    pub timestamps: bool,
    /// Selective acknowledgements are used (RFC 2018).
    pub sack: bool,
    /// A SYN brought data that was taken (RFC 7413): `TCPI_OPT_SYN_DATA`.
    pub syn_data: bool,
    /// Shift of the windows that the peer sends.
    pub send_scale: u8,
    /// Shift of the windows that we send.
    pub receive_scale: u8,
    /// Both sides speak ECN (RFC 3168).
    pub ecn: bool,
    /// Bytes that were acknowledged by segments that spoke of marks: `tcpi_delivered_ce`, there in segments.
    pub delivered_ce: u64,
    /// Data segments that came marked.
    pub received_ce: u64,
    /// Reductions of the window because of marks.
    pub mark_reductions: u64,
    /// Smoothed round-trip time.
    pub srtt: Option<Duration>,
    /// Round-trip time variation.
    pub rttvar: Duration,
    /// Smallest round-trip time.
    pub min_rtt: Option<Duration>,
    /// Retransmission timeout, with backoff.
    pub rto: Duration,
    /// How often it was doubled since the last acknowledgement: `tcpi_backoff`.
    pub backoff: u32,
    /// The most bytes a second that may be sent; None where nothing is paced.
    pub pacing_rate: Option<f64>,
    /// Bytes in flight.
    pub in_flight: u64,
    /// Questions to a closed window or a silent peer since it was heard: `tcpi_probes`.
    pub probes: u32,
    /// How long an acknowledgement may wait: `tcpi_ato`.
    pub ack_delay: Duration,
    /// Bytes sent and not acknowledged at the subflow level.
    pub unacked: u64,
    /// Bytes of them that the peer has out of order: `tcpi_sacked`.
    pub sacked: u64,
    /// Bytes of them that count as lost: `tcpi_lost`.
    pub lost: u64,
    /// Bytes of them that were sent again: `tcpi_retrans`.
    pub retrans: u64,
    /// Segments were seen to overtake others.
    pub reordering_seen: bool,
    /// Bytes of its packets that wait in this host's interface; 0 where the driver reports no departures.
    pub local_queue: u64,
    /// State of loss recovery.
    pub recovery: Recovery,
    /// Segments sent again.
    pub retransmissions: u64,
    /// Bytes sent again.
    pub retransmitted_bytes: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Times that fast recovery began.
    pub recoveries: u64,
    /// Times that a window was reduced and came back, because nothing was lost: see [`crate::SpuriousLoss`].
    pub undone: u64,
    /// Bytes that wait out of order at the subflow level.
    pub out_of_order: u64,
    /// Counts.
    pub stats: SubflowStats,
}
