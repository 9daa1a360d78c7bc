//! What a connection tells of itself; the names follow Linux's `mptcp_info` and `tcp_info`.

use std::net::SocketAddr;

use mptcp_clock::{Duration, Instant};

use super::limits::Limit;
use super::{Connection, Mode};
use crate::InterfaceId;
use crate::subflow::sender::Recovery;
use crate::subflow::{Closure, State, Tally};

/// A connection at one moment.
#[derive(Clone, Debug)]
pub struct ConnectionInfo {
    /// What it speaks.
    pub mode: Mode,
    /// Bytes written by the application.
    pub bytes_written: u64,
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
    /// All subflows that ever were, in order of their ids.
    pub subflows: Vec<SubflowInfo>,
}

/// A subflow at one moment, or at its end.
#[derive(Clone, Debug)]
pub struct SubflowInfo {
    /// Its index.
    pub id: usize,
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
    /// Used only when nothing else works.
    pub backup: bool,
    /// Congestion window, bytes.
    pub cwnd: u64,
    /// Slow start threshold, bytes; None in the first slow start.
    pub ssthresh: Option<u64>,
    /// Payload bytes of a full segment.
    pub mss: u64,
    /// Smoothed round-trip time.
    pub srtt: Option<Duration>,
    /// Round-trip time variation.
    pub rttvar: Duration,
    /// Smallest round-trip time.
    pub min_rtt: Option<Duration>,
    /// Retransmission timeout, with backoff.
    pub rto: Duration,
    /// Bytes in flight.
    pub in_flight: u64,
    /// Bytes sent and not acknowledged at the subflow level.
    pub unacked: u64,
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
            mode: self.mode,
            bytes_written: self.outgoing.written(),
            bytes_acked: self.outgoing.una,
            bytes_received: self.incoming.next,
            out_of_order: self.incoming.early_bytes(),
            duplicate_bytes: self.incoming.duplicate_bytes,
            send_queue: self.outgoing.held(),
            receive_buffer: self.incoming.buffer(),
            peer_window: self.outgoing.edge.saturating_sub(self.outgoing.una),
            reinjected_bytes: self.reinjected_bytes,
            opportunistic_bytes: self.opportunistic_bytes,
            penalties: self.penalties,
            limits: self.limits.totals(now),
            subflows: (0..self.subflows.len()).map(|id| self.subflow_info(id)).collect(),
        }
    }

    fn subflow_info(&self, id: usize) -> SubflowInfo {
        let subflow = &self.subflows[id];
        let path = &self.congestion.paths[id];
        let board = &subflow.sender.board;
        SubflowInfo {
            id,
            interface: subflow.interface,
            local: subflow.local,
            remote: subflow.remote,
            state: subflow.state,
            closed_by: subflow.closed_by,
            backup: subflow.backup || subflow.peer_backup,
            cwnd: path.cwnd,
            ssthresh: (path.ssthresh != u64::MAX).then_some(path.ssthresh),
            mss: path.mss,
            srtt: path.srtt,
            rttvar: subflow.sender.rtt.rttvar(),
            min_rtt: path.min_rtt,
            rto: subflow.sender.rtt.rto(),
            in_flight: subflow.sender.in_flight(),
            unacked: board.next - board.una,
            local_queue: path.local.bytes,
            recovery: subflow.sender.state,
            retransmissions: subflow.sender.retransmissions,
            retransmitted_bytes: subflow.sender.retransmitted_bytes,
            timeouts: subflow.sender.timeouts,
            recoveries: subflow.sender.recoveries,
            out_of_order: subflow.receiver.queued_bytes(),
            tally: subflow.tally,
        }
    }
}
