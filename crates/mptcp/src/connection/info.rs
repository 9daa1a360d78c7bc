//! Reports of a connection's state for applications.
//!
//! Owns the computation of [`ConnectionInfo`] and [`SubflowInfo`]. Never changes the connection.

use mptcp_clock::Instant;

use crate::bounds::ConnectionUse;
use crate::connection::report::{ConnectionInfo, SubflowInfo};
use crate::connection::{Connection, SubflowTuple};
use crate::ids::{InterfaceId, SubflowId};

impl Connection {
    /// The identifiers and addresses of all subflows with a slot.
    pub(crate) fn subflow_tuple(&self) -> impl Iterator<Item = SubflowTuple> + '_ {
        (0..self.subflows.len()).map(|slot| self.subflows.subflow_tuple(slot))
    }

    /// The identifiers of all subflows with a slot, including closed ones.
    pub fn subflow_ids(&self) -> impl Iterator<Item = SubflowId> + '_ {
        self.subflows.iter().map(|subflow| subflow.record().id)
    }

    /// The payload of a full frame of a subflow, bytes. `None` if the subflow has no slot.
    pub(crate) fn frame_payload(&self, id: SubflowId) -> Option<u64> {
        // If the last segment sent is a path MTU probe, it is one frame, although it exceeds the MSS.
        let slot = self.subflows.slot(id)?;
        let sender = self.subflows[slot].sender();
        let probe = sender.mtu_probe_payload().filter(|_| sender.mtu_probe_is_last());
        probe.or_else(|| self.congestion.paths.get(slot).map(|path| path.mss))
    }

    /// The local port of the first subflow; `None` before this subflow exists.
    #[must_use]
    pub fn local_port(&self) -> Option<u16> {
        self.subflows.first().map(|subflow| subflow.addresses().local.port())
    }

    /// The interface of the subflow in a slot.
    pub(crate) fn interface_of(&self, id: usize) -> InterfaceId {
        self.subflows.get(id).map_or(InterfaceId(0), |subflow| subflow.addresses().interface)
    }

    /// The state of the connection and its subflows.
    #[must_use]
    pub fn info(&self, now: Instant) -> ConnectionInfo {
        ConnectionInfo {
            at: now,
            mode: self.negotiation.mode(),
            fallback: self.config.multipath && self.negotiation.is_plain(),
            version: self.negotiation.version(),
            checksum: self.negotiation.checksum(),
            client: self.negotiation.client(),
            token: self.negotiation.local().token,
            remote_token: self.negotiation.remote().map(|key| key.token),
            write_seq: self.negotiation.local().at(self.send.written()),
            snd_una: self.negotiation.local().at(self.send.una()),
            rcv_nxt: self.negotiation.remote().map_or(0, |key| key.at(self.recv.next())),
            congestion: self.congestion.name(),
            scheduler: self.scheduler.name(),
            subflows_max: self.config.max_subflows,
            subflows_total: self.subflows.opened(),
            add_addr_signal: self.addresses.announcements(),
            add_addr_accepted: self.addresses.remote().iter().filter(|address| address.id != 0).count(),
            closed: self.lifecycle.closed(),
            bytes_sent: self.send.next(),
            bytes_written: self.send.written(),
            bytes_acked: self.send.una(),
            bytes_received: self.recv.next(),
            out_of_order: self.out_of_order(),
            duplicate_bytes: self.recv.duplicate_bytes(),
            send_queue: self.send.held(),
            receive_buffer: self.recv.buffer(),
            peer_window: self.send.edge().saturating_sub(self.send.una()),
            reinjected_bytes: self.reinjection.reinjected(),
            opportunistic_bytes: self.reinjection.opportunistic(),
            penalties: self.congestion.penalties(),
            limits: self.limits.totals(now),
            usage: self.usage(),
            subflows: (0..self.subflows.len()).map(|id| self.subflow_info(id)).collect(),
            past: self.subflows.past().cloned().collect(),
        }
    }

    /// Bytes that wait out of order at the data level ([`ConnectionInfo::out_of_order`]).
    #[must_use]
    pub fn out_of_order(&self) -> u64 {
        self.recv.early().bytes()
    }

    fn usage(&self) -> ConnectionUse {
        let queues = || self.subflows.iter().map(|subflow| subflow.receiver().queue());
        ConnectionUse {
            receive_bytes: self.recv.held()
                + queues().map(|queue| queue.held()).sum::<u64>()
                + self.subflows.iter().map(|subflow| subflow.mapper().held()).sum::<u64>()
                + self.subflows.iter().map(|subflow| subflow.handshake().early_data.bytes()).sum::<u64>(),
            pieces: self.recv.early().pieces() + queues().map(|queue| queue.pieces()).sum::<usize>(),
            mappings: self.subflows.iter().map(|subflow| subflow.mapper().mappings()).sum(),
            segments_in_flight: self.subflows.iter().map(|subflow| subflow.sender().board.queue.len()).sum(),
            signals: self.pending_options.len(),
            half_open_joins: self.subflows.iter().filter(|subflow| subflow.is_half_open_join()).count(),
            remote_addresses: self.addresses.remote().len(),
            failed: self.addresses.failures(),
            subflows: self.subflows.len(),
        }
    }

    pub(crate) fn subflow_info(&self, id: usize) -> SubflowInfo {
        let subflow = &self.subflows[id];
        let path = &self.congestion.paths[id];
        let board = &subflow.sender().board;
        SubflowInfo {
            id: subflow.record().id,
            opened_at: subflow.record().opened_at,
            closed_at: subflow.record().closed_at,
            interface: subflow.addresses().interface,
            local: subflow.addresses().local,
            remote: subflow.addresses().remote,
            state: subflow.state(),
            closed_by: subflow.record().closed_by,
            icmp: subflow.record().icmp,
            backup: subflow.addresses().backup || subflow.addresses().peer_backup,
            probation: subflow.scheduling().probation.is_some(),
            cwnd: path.cwnd,
            ssthresh: (path.ssthresh != u64::MAX).then_some(path.ssthresh),
            mss: path.mss,
            advmss: self.config.mss,
            pmtu: self.path_mtu_of(subflow),
            timestamps: subflow.clock().on,
            sack: subflow.negotiated().sack,
            syn_data: subflow.handshake().first_received > 1 || subflow.handshake().first_sent > 1,
            send_scale: subflow.negotiated().send_scale,
            receive_scale: subflow.negotiated().receive_scale,
            ecn: subflow.echo().is_agreed(),
            delivered_ce: subflow.sender().marks.delivered,
            received_ce: subflow.echo().received,
            mark_reductions: subflow.sender().marks.reductions,
            srtt: path.srtt.filter(|_| subflow.handshake().was_established),
            rttvar: path.rttvar,
            min_rtt: path.min_rtt,
            rto: subflow.sender().timeout.after(path),
            backoff: subflow.sender().timeout.backoff(),
            pacing_rate: path.pacing,
            in_flight: subflow.sender().in_flight(),
            probes: subflow.liveness().kept.max(self.timers.unanswered()),
            ack_delay: crate::subflow::receiver::DELAYED_ACK,
            unacked: board.next - board.una,
            sacked: board.sacked,
            lost: board.lost,
            retrans: board.retransmitted,
            reordering_seen: subflow.sender().reordering_seen(),
            local_queue: path.local.bytes,
            recovery: subflow.sender().state,
            retransmissions: subflow.sender().retransmissions,
            retransmitted_bytes: subflow.sender().retransmitted_bytes,
            timeouts: subflow.sender().timeouts,
            recoveries: subflow.sender().recoveries,
            undone: subflow.sender().spurious.undone,
            out_of_order: subflow.receiver().queue().bytes(),
            stats: subflow.record().stats,
        }
    }
}
