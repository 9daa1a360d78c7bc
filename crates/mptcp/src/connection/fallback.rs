//! Giving Multipath TCP up for TCP when the network cannot carry it (RFC 8684 section 3.7).

use bytes::Bytes;
use mptcp_clock::Instant;
use mptcp_wire::{Dss, MptcpOption, ResetReason, Segment};

use super::incoming::Placed;
use super::{Connection, Mode};
use crate::event::FallbackReason;

/// Acknowledgements that tell of a failed checksum, at most.
const MOST_FAILS: u32 = 16;

/// Data that failed its checksum, of which the peer is yet to learn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Failure {
    subflow: usize,
    /// Its first data sequence number.
    number: u64,
    /// Acknowledgements that will tell of it.
    left: u32,
}

impl Connection {
    /// From here on the connection is TCP on the subflow `id`.
    pub(super) fn fall_back(&mut self, id: usize, reason: FallbackReason) {
        if self.mode == Mode::Plain {
            return;
        }
        self.mode = Mode::Plain;
        self.happenings.fell_back = Some(reason).filter(|_| self.config.multipath);
        self.signals.clear();
        self.wanted.clear();
        self.set_plain_mapping(id);
        let mss = self.subflows[id].payload_size(&self.config, false);
        let path = &mut self.congestion.paths[id];
        path.mss = mss;
        path.cwnd = path.cwnd.max(mss);
    }

    /// Maps the subflow's stream one to one onto the connection's, from where both stand now.
    pub(super) fn set_plain_mapping(&mut self, id: usize) {
        let subflow = &mut self.subflows[id];
        if self.mode == Mode::Plain && !subflow.mapper.is_infinite() {
            let next = subflow.receiver.next().max(1);
            subflow.mapper.set_infinite(next, self.incoming.next);
        }
    }

    /// Whether a fallback is still possible: no other subflow was ever open, on which the peer may have
    /// sent data, nothing was resent, nothing is out of order (RFC 8684 section 3.7).
    fn may_fall_back(&self, id: usize) -> bool {
        let mut others = self.subflows.iter().enumerate().filter(|&(other, _)| other != id);
        let only = others.all(|(_, subflow)| subflow.sender.board.una == 0);
        self.is_initial(id) && only && self.reinjected_bytes == 0 && self.incoming.early().is_empty()
    }

    /// The first segments after the handshake show whether the peer, and all boxes on the way, let
    /// MPTCP options through (RFC 8684 section 3.7).
    pub(super) fn confirm(&mut self, now: Instant, id: usize, segment: &Segment, ack: u64, payload: &Bytes) {
        if segment.options.dss.is_some() {
            return self.on_confirmed(now);
        }
        let keys = super::offers::capable(&segment.options).is_some();
        let proves_nothing = payload.is_empty() && ack <= 1 && !segment.flags.fin();
        if keys || proves_nothing || segment.options.has_mptcp() {
            return;
        }
        if !self.may_fall_back(id) {
            // The peer takes a FIN on this subflow for the end of the stream: it gets none.
            if segment.flags.fin() {
                self.reset_subflow(now, id, Some(ResetReason::MPTCP));
            }
            return;
        }
        self.fall_back_here(now, id, Vec::new(), FallbackReason::FirstData);
    }

    /// The peer has shown that it has both keys.
    pub(super) fn on_confirmed(&mut self, now: Instant) {
        if std::mem::replace(&mut self.confirmed, true) {
            return;
        }
        if !self.config.habits.early_announcements {
            self.announce_others(now);
        }
        // RFC 8684 section 3.2: both sides know that MPTCP works, joins may begin.
        self.consult_path_manager(now);
    }

    /// Data or the DATA_FIN was not acknowledged at the data level for too long. When what comes on the
    /// only subflow has lost its options, a box on the way has begun to eat them (RFC 8684 section 3.7);
    /// otherwise such a subflow ends.
    pub(super) fn fall_back_if_stripped(&mut self, now: Instant) {
        let stripped = self.mode == Mode::Multipath
            && self.subflows.first().is_some_and(|first| first.optionless && !first.is_closed())
            && self.may_fall_back(0);
        if stripped {
            return self.fall_back_here(now, 0, Vec::new(), FallbackReason::Stripped);
        }
        // More data could only do harm: a peer that has fallen back takes it for what follows.
        if self.mode == Mode::Multipath {
            for id in 0..self.subflows.len() {
                if self.subflows[id].optionless && self.subflows[id].is_synchronised() {
                    self.reset_subflow(now, id, Some(ResetReason::MIDDLEBOX));
                }
            }
        }
    }

    /// Falls back in mid-stream: what could not be mapped is the stream's, after what is here, and the
    /// peer's acknowledgements count for data from now on.
    fn fall_back_here(&mut self, now: Instant, id: usize, rest: Vec<Bytes>, reason: FallbackReason) {
        if self.closed.is_some() {
            // Both streams have ended: there is nothing to go on with.
            return self.reset_subflow(now, id, None);
        }
        let held = self.subflows[id].mapper.take_held();
        for bytes in held.into_iter().chain(rest).filter(|bytes| !bytes.is_empty()) {
            let next = self.incoming.next;
            if self.incoming.place(next, bytes) == Placed::Beyond {
                // What was acknowledged would be missing from the stream.
                return self.reset_subflow(now, id, None);
            }
            self.happenings.readable = true;
        }
        self.fall_back(id, reason);
        // Joins that were under way have lost their connection.
        for other in (0..self.subflows.len()).filter(|&other| other != id) {
            self.reset_subflow(now, other, None);
        }
        self.outgoing.again.clear();
        self.outgoing.flight.clear();
        // What the subflow has had acknowledged is done, whatever the data level knew of it.
        self.acknowledge_plainly(now, id);
    }

    /// A mapping of length 0: the peer has fallen back (RFC 8684 section 3.7).
    pub(super) fn on_infinite_mapping(&mut self, now: Instant, id: usize) {
        if !self.may_fall_back(id) {
            return self.reset_subflow(now, id, Some(ResetReason::MPTCP));
        }
        // The stream goes on where it stands: this segment may have overtaken others.
        self.fall_back_here(now, id, Vec::new(), FallbackReason::InfiniteMapping);
    }

    /// Payload without a mapping: TCP's if MPTCP never worked here, an error otherwise.
    pub(super) fn on_unmapped(&mut self, now: Instant, id: usize, rest: Vec<Bytes>) {
        if !self.may_fall_back(id) {
            return self.reset_subflow(now, id, Some(ResetReason::MPTCP));
        }
        self.fall_back_here(now, id, rest, FallbackReason::Unmapped);
    }

    /// Something on the way changed the payload (RFC 8684 section 3.7).
    pub(super) fn on_bad_checksum(&mut self, now: Instant, id: usize, data: u64, rest: Vec<Bytes>) {
        let Some(remote) = self.remote() else { return };
        let number = remote.at(data);
        if !self.may_fall_back(id) {
            return self.reset_failed(now, id, Some(ResetReason::MIDDLEBOX), Some(number));
        }
        // Alone, the subflow goes on as TCP: the stream is what the middlebox made of it.
        self.fall_back_here(now, id, rest, FallbackReason::Checksum);
        self.failure = Some(Failure { subflow: id, number, left: MOST_FAILS });
        self.subflows[id].receiver.acknowledge_now();
    }

    /// MP_FAIL goes with each acknowledgement until the peer answers with its own or with the infinite mapping: one alone could
    /// be lost, and a peer that knows nothing of it waits for data acknowledgements (RFC 8684 section 3.7).
    pub(super) fn tell_failure(&mut self, id: usize, segment: &mut Segment) {
        let Some(failure) = self.failure.filter(|failure| failure.subflow == id) else { return };
        let left = failure.left - 1;
        self.failure = (left > 0).then_some(Failure { left, ..failure });
        segment.options.mptcp.push(MptcpOption::Fail(failure.number));
        segment.options.dss = Some(Dss { ack: Some(self.data_ack()), mapping: None, data_fin: false });
    }

    /// The peer found a bad checksum in what we sent: answers with MP_FAIL and goes on as TCP.
    pub(super) fn on_mp_fail(&mut self, now: Instant, id: usize) {
        self.failure = None;
        if self.mode != Mode::Multipath || self.closed.is_some() {
            return;
        }
        let Some(remote) = self.remote() else { return };
        if !self.may_fall_back(id) {
            return self.reset_subflow(now, id, Some(ResetReason::MIDDLEBOX));
        }
        // Room for one more mapping: the infinite one, which tells the peer.
        let mss = self.congestion.paths[id].mss;
        self.fall_back_here(now, id, Vec::new(), FallbackReason::MpFail);
        self.congestion.paths[id].mss = mss;
        self.infinite_from = Some(self.subflows[id].sender.board.next);
        // The answer speaks of the peer's numbers, as its own spoke of ours.
        self.signals.push(Some(id), MptcpOption::Fail(remote.at(self.incoming.next)));
    }
}
