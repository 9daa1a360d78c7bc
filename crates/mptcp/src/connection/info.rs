//! What a connection tells of itself; the names follow Linux's `mptcp_info` and `tcp_info`.

use std::net::SocketAddr;

use mptcp_clock::{Duration, Instant};
use mptcp_wire::crypto::Version;

use super::limits::Limit;
use super::{Connection, Mode};
use crate::bounds::ConnectionUse;
use crate::event::Closed;
use crate::subflow::sender::Recovery;
use crate::subflow::{Closure, State, Tally};
use crate::{IcmpError, InterfaceId};

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
    pub closed: Option<Closed>,
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
    /// Subflows, those that are over too, in order of their ids.
    pub subflows: Vec<SubflowInfo>,
    /// Subflows that are over and whose ids others have got, the oldest first; the 64 last ones.
    pub past: Vec<SubflowInfo>,
}

/// A subflow at one moment, or at its end.
#[derive(Clone, Debug)]
pub struct SubflowInfo {
    /// Its index, which another one may get once it is over.
    pub id: usize,
    /// Which subflow of its connection it is, from 0.
    pub number: u64,
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
    pub closed_by: Option<Closure>,
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
    /// The MSS option we sent: `tcpi_advmss`.
    pub advmss: u16,
    /// Timestamps are used (RFC 7323).
    pub timestamps: bool,
    /// Selective acknowledgements are used (RFC 2018).
    pub sack: bool,
    /// Shift of the windows that the peer sends.
    pub send_scale: u8,
    /// Shift of the windows that we send.
    pub receive_scale: u8,
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
    /// Bytes that wait out of order at the subflow level.
    pub out_of_order: u64,
    /// Counts.
    pub tally: Tally,
}

impl Connection {
    /// What the connection knows of itself.
    #[must_use]
    pub fn info(&self, now: Instant) -> ConnectionInfo {
        ConnectionInfo {
            at: now,
            mode: self.mode,
            fallback: self.config.multipath && self.mode == Mode::Plain,
            version: self.version,
            checksum: self.checksum,
            client: self.client,
            token: self.local_key.token,
            remote_token: self.remote_key.map(|key| key.token),
            write_seq: self.local_key.at(self.outgoing.written()),
            snd_una: self.local_key.at(self.outgoing.una),
            rcv_nxt: self.remote_key.map_or(0, |key| key.at(self.incoming.next)),
            congestion: self.congestion.name(),
            scheduler: self.scheduler.name(),
            subflows_max: self.config.max_subflows,
            subflows_total: self.opened_subflows(),
            add_addr_signal: self.announced.len(),
            add_addr_accepted: self.remote_addresses.iter().filter(|address| address.id != 0).count(),
            closed: self.closed,
            bytes_sent: self.outgoing.next,
            bytes_written: self.outgoing.written(),
            bytes_acked: self.outgoing.una,
            bytes_received: self.incoming.next,
            out_of_order: self.incoming.early().bytes(),
            duplicate_bytes: self.incoming.duplicate_bytes,
            send_queue: self.outgoing.held(),
            receive_buffer: self.incoming.buffer(),
            peer_window: self.outgoing.edge.saturating_sub(self.outgoing.una),
            reinjected_bytes: self.reinjected_bytes,
            opportunistic_bytes: self.opportunistic_bytes,
            penalties: self.penalties,
            limits: self.limits.totals(now),
            usage: self.usage(),
            subflows: (0..self.subflows.len()).map(|id| self.subflow_info(id)).collect(),
            past: self.past.known.iter().cloned().collect(),
        }
    }

    fn usage(&self) -> ConnectionUse {
        let queues = || self.subflows.iter().map(|subflow| subflow.receiver.queue());
        ConnectionUse {
            receive_bytes: self.incoming.held()
                + queues().map(|queue| queue.held()).sum::<u64>()
                + self.subflows.iter().map(|subflow| subflow.mapper.held()).sum::<u64>(),
            pieces: self.incoming.early().pieces() + queues().map(|queue| queue.pieces()).sum::<usize>(),
            mappings: self.subflows.iter().map(|subflow| subflow.mapper.mappings()).sum(),
            segments_in_flight: self.subflows.iter().map(|subflow| subflow.sender.board.queue.len()).sum(),
            signals: self.signals.len(),
            half_open_joins: self.subflows.iter().filter(|subflow| subflow.is_half_open_join()).count(),
            remote_addresses: self.remote_addresses.len(),
            failed: self.failures.len(),
            subflows: self.subflows.len(),
        }
    }

    pub(super) fn subflow_info(&self, id: usize) -> SubflowInfo {
        let subflow = &self.subflows[id];
        let path = &self.congestion.paths[id];
        let board = &subflow.sender.board;
        SubflowInfo {
            id,
            number: subflow.number,
            opened_at: subflow.opened_at,
            closed_at: subflow.closed_at,
            interface: subflow.interface,
            local: subflow.local,
            remote: subflow.remote,
            state: subflow.state,
            closed_by: subflow.closed_by,
            icmp: subflow.icmp,
            backup: subflow.backup || subflow.peer_backup,
            probation: subflow.probation.is_some(),
            cwnd: path.cwnd,
            ssthresh: (path.ssthresh != u64::MAX).then_some(path.ssthresh),
            mss: path.mss,
            advmss: self.config.mss,
            timestamps: subflow.timestamps,
            sack: subflow.sack,
            send_scale: subflow.send_scale,
            receive_scale: subflow.receive_scale,
            srtt: path.srtt,
            rttvar: subflow.sender.rtt.rttvar(),
            min_rtt: path.min_rtt,
            rto: subflow.sender.rtt.rto(),
            backoff: subflow.sender.rtt.backoff(),
            pacing_rate: path.pacing,
            in_flight: subflow.sender.in_flight(),
            unacked: board.next - board.una,
            sacked: board.sacked,
            lost: board.lost,
            retrans: board.resent,
            reordering_seen: subflow.sender.reordering_seen(),
            local_queue: path.local.bytes,
            recovery: subflow.sender.state,
            retransmissions: subflow.sender.retransmissions,
            retransmitted_bytes: subflow.sender.retransmitted_bytes,
            timeouts: subflow.sender.timeouts,
            recoveries: subflow.sender.recoveries,
            out_of_order: subflow.receiver.queue().bytes(),
            tally: subflow.tally,
        }
    }
}
