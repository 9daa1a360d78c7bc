//! Segments fit the path: they shrink when it carries less than was thought, and may grow again (RFC 1191, RFC 8201, RFC 4821).
//!
//! Owns what follows from what a subflow knows (`subflow/path_mtu.rs`): payload of full segments, what goes again in parts,
//! when a larger segment is tried. Mappings survive: each part carries that of the whole.

use mptcp_clock::Instant;

use crate::config::MtuProbing;
use crate::connection::Connection;
use crate::subflow::Subflow;
use crate::subflow::mtu_probe::MtuProbe;
use crate::subflow::path_mtu::{TooBig, TooBigReport};

/// Timeouts in a row after which large packets may be what vanishes: Linux's `tcp_retries1`.
const BLACK_HOLE_TIMEOUTS: u32 = 3;
/// A probe goes while the window has so many segments, as in Linux: the loss of one is then found without a timeout.
const PROBE_WINDOW: u64 = 11;
/// Segments that follow a probe, so that its loss is found.
const SEGMENTS_AFTER_PROBE: u64 = 4;

impl Connection {
    /// A router could not pass on the segment that holds `offset`, for a packet has at most `mtu` bytes. Returns whether it is
    /// believed.
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

    /// The retransmission timer of a subflow ran out: maybe its segments are too large.
    #[cold]
    pub(crate) fn suspect_black_hole(&mut self, now: Instant, id: usize) {
        let full = self.negotiated_mss(id);
        let subflow = &mut self.subflows[id];
        let lost = subflow.sender().timeout.consecutive() >= BLACK_HOLE_TIMEOUTS
            && self.config.mtu_probing != MtuProbing::Off;
        if subflow.mtu_mut().on_timeout(now) || lost && subflow.mtu_mut().on_black_hole(now, full) {
            self.apply_path_mtu(id);
            // RFC 5681 section 3.1: the window after a timeout is one segment, and they are smaller now.
            let path = &mut self.congestion.paths[id];
            path.cwnd = path.cwnd.min(path.mss);
        }
    }

    /// New data was acknowledged on a subflow that knows something of its path, or has a probe out.
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

    /// What a subflow begins with.
    pub(crate) fn start_path_mtu(&mut self, id: usize) {
        if self.config.mtu_probing == MtuProbing::On {
            let full = self.negotiated_mss(id);
            self.subflows[id].mtu_mut().begin_search(full);
        }
    }

    /// The payload of a segment that tries whether the path carries more, where one may go in place of a full one.
    #[cold]
    pub(crate) fn mtu_probe_size(&self, id: usize) -> Option<u64> {
        let (subflow, path) = (&self.subflows[id], &self.congestion.paths[id]);
        let size = subflow.mtu().next_probe()?;
        let options = u64::from(self.negotiated_mss(id).min(subflow.mtu().limit())).saturating_sub(path.mss);
        let payload = u64::from(size).saturating_sub(options);
        let whole = payload + SEGMENTS_AFTER_PROBE * path.mss;
        let fits = self.send.unsent() >= whole
            && self.send.window_space() >= whole
            && subflow.sender().in_flight() + whole <= path.cwnd;
        let calm = subflow.sender().may_probe_mtu() && path.cwnd >= PROBE_WINDOW * path.mss;
        (fits && calm && payload > path.mss).then_some(payload)
    }

    /// A segment of `payload` bytes has left that was larger than others.
    #[cold]
    pub(crate) fn on_mtu_probe_sent(&mut self, id: usize, payload: u64, mss: u64) {
        if payload <= mss {
            // What lay together in the send buffer was less.
            return;
        }
        let full = self.negotiated_mss(id);
        let subflow = &mut self.subflows[id];
        let options = u64::from(full.min(subflow.mtu().limit())).saturating_sub(mss);
        subflow.sender_mut().mtu_probe_sent(payload, (payload + options) as u16);
    }

    /// The payload of full segments follows the path, and what is under way and too large goes again in parts.
    fn apply_path_mtu(&mut self, id: usize) {
        let multipath = !self.negotiation.is_plain();
        let subflow = &mut self.subflows[id];
        let mss = subflow.payload_size(&self.config, multipath);
        let path = &mut self.congestion.paths[id];
        if mss < path.mss {
            subflow.sender_mut().cut_larger(mss);
        }
        path.mss = mss;
        // A window of less than a segment would let nothing go, and nothing would end that.
        path.cwnd = path.cwnd.max(mss);
        self.scheduler.invalidate();
    }

    /// The largest segment that both ends want.
    fn negotiated_mss(&self, id: usize) -> u16 {
        self.subflows[id].peer_mss().min(self.config.mss)
    }

    /// The longest packet that goes on a subflow, bytes: `tcpi_pmtu`.
    pub(crate) fn path_mtu_of(&self, subflow: &Subflow) -> u32 {
        let headers = if subflow.addresses().local.is_ipv4() { 40 } else { 60 };
        u32::from(subflow.peer_mss().min(self.config.mss).min(subflow.mtu().limit())) + headers
    }
}
