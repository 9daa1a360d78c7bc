//! Giving Multipath TCP up for TCP when the network cannot carry it (RFC 8684 section 3.7).

use bytes::Bytes;
use mptcp_clock::Instant;
use mptcp_wire::{MptcpOption, ResetReason, Segment};

use super::{Connection, Mode};

impl Connection {
    /// From here on the connection is TCP on the subflow `id`.
    pub(super) fn fall_back(&mut self, id: usize) {
        if self.mode == Mode::Plain {
            return;
        }
        self.mode = Mode::Plain;
        self.happenings.fell_back = self.config.multipath;
        self.signals.clear();
        self.wanted.clear();
        self.set_plain_mapping(id);
        let mss = self.subflows[id].payload_size(&self.config, false);
        self.congestion.paths[id].mss = mss;
    }

    /// Maps the subflow's stream one to one onto the connection's, from where both stand now.
    pub(super) fn set_plain_mapping(&mut self, id: usize) {
        let subflow = &mut self.subflows[id];
        if self.mode == Mode::Plain && !subflow.mapper.is_infinite() {
            let next = subflow.receiver.next().max(1);
            subflow.mapper.set_infinite(next, self.incoming.next);
        }
    }

    /// Whether a fallback is still possible: one subflow that ever carried data, nothing resent
    /// elsewhere, nothing out of order (RFC 8684 section 3.7).
    fn may_fall_back(&self, id: usize) -> bool {
        let only =
            self.subflows.iter().enumerate().all(|(other, subflow)| other == id || subflow.is_closed());
        self.is_initial(id) && only && self.reinjected_bytes == 0 && self.incoming.early_bytes() == 0
    }

    /// The first segments after the handshake show whether the peer, and all boxes on the way, let
    /// MPTCP options through (RFC 8684 section 3.7).
    pub(super) fn confirm(&mut self, id: usize, segment: &Segment, ack: u64, payload: &Bytes) {
        if segment.options.dss.is_some() {
            self.confirmed = true;
            // RFC 8684 section 3.2: both sides know that MPTCP works, joins may begin.
            self.consult_path_manager();
            return;
        }
        let keys = super::handshake::capable(&segment.options).is_some();
        let proves_nothing = payload.is_empty() && ack <= 1 && !segment.flags.fin();
        if keys || proves_nothing || segment.options.has_mptcp() || !self.may_fall_back(id) {
            return;
        }
        if payload.is_empty() && ack > 1 || !payload.is_empty() {
            self.fall_back_here(id);
        }
    }

    /// Falls back in mid-stream: the peer's acknowledgements count for data from now on.
    fn fall_back_here(&mut self, id: usize) {
        self.fall_back(id);
        self.outgoing.again.clear();
        self.outgoing.flight.clear();
    }

    /// A mapping of length 0: the peer has fallen back (RFC 8684 section 3.7).
    pub(super) fn on_infinite_mapping(&mut self, now: Instant, id: usize, start: u64, data: u64) {
        if !self.may_fall_back(id) {
            return self.reset_subflow(now, id, Some(ResetReason::MPTCP));
        }
        self.fall_back_here(id);
        self.subflows[id].mapper.set_infinite(start, data);
    }

    /// Payload without a mapping: TCP's if MPTCP never worked here, an error otherwise.
    pub(super) fn on_unmapped(&mut self, now: Instant, id: usize, offset: u64, bytes: Bytes) {
        if !self.may_fall_back(id) {
            return self.reset_subflow(now, id, Some(ResetReason::MPTCP));
        }
        self.fall_back_here(id);
        let data = self.incoming.next;
        let mapper = &mut self.subflows[id].mapper;
        let next = offset + bytes.len() as u64;
        self.incoming.place(data, bytes);
        mapper.set_infinite(next, self.incoming.next);
        self.happenings.readable = true;
    }

    /// Something on the way changed the payload (RFC 8684 section 3.7).
    pub(super) fn on_bad_checksum(&mut self, now: Instant, id: usize, data: u64) {
        let Some(remote) = self.remote() else { return };
        let fail = MptcpOption::Fail(remote.at(data));
        let rejected = self.subflows[id].mapper.take_rejected();
        if !self.may_fall_back(id) {
            self.signals.push_back((Some(id), fail));
            return self.reset_subflow(now, id, Some(ResetReason::MIDDLEBOX));
        }
        // Alone, the subflow goes on as TCP: the stream is what the middlebox made of it.
        self.fall_back_here(id);
        for bytes in rejected {
            let next = self.incoming.next;
            self.incoming.place(next, bytes);
        }
        let subflow = &mut self.subflows[id];
        subflow.mapper.set_infinite(subflow.receiver.next(), self.incoming.next);
        self.signals.push_back((Some(id), fail));
        self.happenings.readable = true;
    }

    /// The peer found a bad checksum in what we sent: answers with MP_FAIL and goes on as TCP.
    pub(super) fn on_mp_fail(&mut self, now: Instant, id: usize, number: u64) {
        if self.mode != Mode::Multipath {
            return;
        }
        if !self.may_fall_back(id) {
            return self.reset_subflow(now, id, Some(ResetReason::MIDDLEBOX));
        }
        self.fall_back_here(id);
        self.signals.push_back((Some(id), MptcpOption::Fail(number)));
    }
}
