//! Path MTU of a connection's subflows: segments shrink to fit the path, and may grow again (RFC 1191, RFC 8201, RFC
//! 4821).
//!
//! Owns the response to a subflow's path MTU (`subflow/path_mtu.rs`): the payload of full segments, the split
//! of segments that are too large, and the time of a probe. Never changes a mapping: each part of a split
//! segment carries the mapping of the whole segment.

use mptcp_clock::Instant;

use crate::config::MtuProbing;
use crate::connection::Connection;
use crate::subflow::Subflow;
use crate::subflow::mtu_probe::MtuProbe;
use crate::subflow::path_mtu::{TooBig, TooBigReport};

/// Consecutive timeouts after which a black hole for large packets is suspected: Linux's `tcp_retries1`.
const BLACK_HOLE_TIMEOUTS: u32 = 3;
/// The congestion window in segments above which a probe is sent, as in Linux. The loss of a probe is then found
/// without a timeout.
const PROBE_WINDOW: u64 = 11;
/// Segments that must follow a probe, so that its loss is found.
const SEGMENTS_AFTER_PROBE: u64 = 4;

impl Connection {
    /// Handles an ICMP report that the segment with `offset` exceeds `mtu` bytes. Returns whether the report is
    /// plausible.
    #[cold]
    pub(crate) fn on_too_big(&mut self, now: Instant, id: usize, offset: u64, mtu: u32) -> bool {
        let mss = self.congestion.paths[id].mss;
        let full = self.negotiated_mss(id);
        let subflow = &mut self.subflows[id];
        let Some(sent) = subflow.sender().board.outstanding(offset + 1) else { return false };
        let options = u64::from(full.min(subflow.mtu().limit())).saturating_sub(mss);
        let largest = subflow.sender().mtu_probe_payload().unwrap_or(mss);
        let size = (sent.payload.len() as u64).min(largest) + options;
        let proven = match subflow.sender().longest_acked.min(mss) {
            0 => 0,
            payload => payload + options,
        };
        let headers = if subflow.addresses().local.is_ipv4() { 40 } else { 60 };
        let report = TooBigReport { size: size as u16, offset, sent_at: sent.sent_at, mtu, headers };
        match subflow.mtu_mut().on_too_big(now, report, proven as u16) {
            TooBig::Ignored => false,
            TooBig::Later => true,
            TooBig::Now => {
                self.apply_path_mtu(id);
                true
            }
        }
    }

    /// Handles a retransmission timeout, which segments above the path MTU may have caused.
    #[cold]
    pub(crate) fn suspect_black_hole(&mut self, now: Instant, id: usize) {
        let full = self.negotiated_mss(id);
        let subflow = &mut self.subflows[id];
        let lost = subflow.sender().timeout.consecutive() >= BLACK_HOLE_TIMEOUTS
            && self.config.mtu_probing != MtuProbing::Off;
        if subflow.mtu_mut().on_timeout(now) || lost && subflow.mtu_mut().on_black_hole(now, full) {
            self.apply_path_mtu(id);
            // RFC 5681 section 3.1: the window after a timeout is one segment, which is smaller now.
            let path = &mut self.congestion.paths[id];
            path.cwnd = path.cwnd.min(path.mss);
        }
    }

    /// Updates the path MTU after new data was acknowledged on a subflow with a known path MTU or a probe in flight.
    #[cold]
    pub(crate) fn update_path_mtu(&mut self, now: Instant, id: usize) {
        let full = self.negotiated_mss(id);
        let subflow = &mut self.subflows[id];
        let outcome = subflow.sender_mut().take_mtu_probe_outcome();
        let una = subflow.sender().board.una;
        let mtu = subflow.mtu_mut();
        mtu.on_arrival(una);
        let grows = match outcome {
            MtuProbe::Arrived { size } => {
                mtu.on_probe_arrived(now, size);
                true
            }
            MtuProbe::Lost { size } => {
                mtu.on_probe_lost(now, size);
                false
            }
            MtuProbe::None | MtuProbe::Sent { .. } => mtu.raise(now, full),
        };
        if grows {
            self.apply_path_mtu(id);
        }
    }

    /// Starts the path MTU search of a new subflow.
    pub(crate) fn start_path_mtu(&mut self, id: usize) {
        if self.config.mtu_probing == MtuProbing::On {
            let full = self.negotiated_mss(id);
            self.subflows[id].mtu_mut().begin_search(full);
        }
    }

    /// The payload of a path MTU probe, bytes. `None` if no probe may replace a full segment now.
    #[cold]
    pub(crate) fn mtu_probe_size(&self, id: usize) -> Option<u64> {
        let (subflow, path) = (&self.subflows[id], &self.congestion.paths[id]);
        let size = subflow.mtu().next_probe()?;
        let options = u64::from(self.negotiated_mss(id).min(subflow.mtu().limit())).saturating_sub(path.mss);
        let payload = u64::from(size).saturating_sub(options);
        let needed = payload + SEGMENTS_AFTER_PROBE * path.mss;
        let fits = self.send.unsent() >= needed
            && self.send.window_space() >= needed
            && subflow.sender().in_flight() + needed <= path.cwnd;
        let may_probe = subflow.sender().may_probe_mtu() && path.cwnd >= PROBE_WINDOW * path.mss;
        (fits && may_probe && payload > path.mss).then_some(payload)
    }

    /// Notes that a segment of `payload` bytes, larger than `mss`, was sent.
    #[cold]
    pub(crate) fn on_mtu_probe_sent(&mut self, id: usize, payload: u64, mss: u64) {
        if payload <= mss {
            // The send buffer had fewer contiguous bytes.
            return;
        }
        let full = self.negotiated_mss(id);
        let subflow = &mut self.subflows[id];
        let options = u64::from(full.min(subflow.mtu().limit())).saturating_sub(mss);
        subflow.sender_mut().mtu_probe_sent(payload, (payload + options) as u16);
    }

    /// Applies the path MTU to full segments, and splits segments in flight that are too large.
    fn apply_path_mtu(&mut self, id: usize) {
        let multipath = !self.negotiation.is_plain();
        let subflow = &mut self.subflows[id];
        let mss = subflow.payload_size(&self.config, multipath);
        let path = &mut self.congestion.paths[id];
        if mss < path.mss {
            subflow.sender_mut().cut_larger(mss);
        }
        path.mss = mss;
        // A window below one segment would block the subflow forever.
        path.cwnd = path.cwnd.max(mss);
        self.scheduler.invalidate();
    }

    /// The negotiated MSS, bytes.
    fn negotiated_mss(&self, id: usize) -> u16 {
        self.subflows[id].peer_mss().min(self.config.mss)
    }

    /// The path MTU of a subflow, bytes: `tcpi_pmtu`.
    pub(crate) fn path_mtu_of(&self, subflow: &Subflow) -> u32 {
        let headers = if subflow.addresses().local.is_ipv4() { 40 } else { 60 };
        u32::from(subflow.peer_mss().min(self.config.mss).min(subflow.mtu().limit())) + headers
    }
}
