//! What goes out next: control, retransmissions, data again on other subflows, new data, FINs,
//! acknowledgements, in that order.

use arrayvec::ArrayVec;
use bytes::Bytes;
use mptcp_clock::{Duration, Instant};
use mptcp_wire::{Checksum, DataSequence, Dss, Flags, Mapping, MpTcpRst, MptcpOption, Segment, Timestamps};

use super::limits::Limit;
use super::outgoing::{Chunk, carrier};
use super::{Connection, Mode};
use crate::scheduler::{Candidate, Candidates, MAX_SUBFLOWS};
use crate::subflow::{Control, Origin, State};

/// A piece of the stream to be put on a subflow.
#[derive(Clone, Debug)]
struct Piece {
    start: u64,
    data: u64,
    payload: Bytes,
    fin: bool,
}

impl Connection {
    /// The next segment to send and the subflow it belongs to.
    pub(crate) fn poll_transmit(&mut self, now: Instant) -> Option<(usize, Segment)> {
        if let Some(sent) = self.transmit_control(now) {
            return Some(sent);
        }
        if let Some(sent) = self.transmit_retransmission(now) {
            return Some(sent);
        }
        if let Some(sent) = self.transmit_data(now) {
            return Some(sent);
        }
        let ending = self.write_closed || self.subflows.iter().any(|subflow| subflow.fin_wanted);
        if ending && let Some(sent) = self.transmit_fin(now) {
            return Some(sent);
        }
        self.transmit_acknowledgement(now)
    }

    fn transmit_control(&mut self, now: Instant) -> Option<(usize, Segment)> {
        let id = self.subflows.iter().position(|subflow| subflow.control.is_some())?;
        let control = self.subflows[id].control.take()?;
        let options = self.handshake_options(id, control);
        let window = self.incoming.window().min(65_535) as u16;
        let scale = self.window_scale();
        let subflow = &mut self.subflows[id];
        let mut segment = Segment::new(subflow.local, subflow.remote);
        segment.options.mptcp = options;
        match control {
            Control::Syn | Control::SynAck => {
                let answering = control == Control::SynAck;
                segment.flags = Flags::SYN;
                segment.sequence = subflow.iss;
                segment.window = window;
                segment.options.mss = Some(self.config.mss);
                // An answer offers only what was offered (RFC 7323 section 1.3).
                if !answering || subflow.timestamps {
                    let echo = if answering { subflow.recent_timestamp } else { 0 };
                    let value = (now.as_millis() as u32).wrapping_add(1);
                    segment.options.timestamps =
                        (answering || self.config.timestamps).then_some(Timestamps { value, echo });
                }
                segment.options.sack_permitted = if answering { subflow.sack } else { self.config.sack };
                segment.options.window_scale =
                    (!answering || subflow.receive_scale > 0 || subflow.send_scale > 0).then_some(scale);
                if answering {
                    segment.flags |= Flags::ACK;
                    segment.acknowledgment = subflow.irs + 1;
                }
            }
            Control::Refuse { sequence } => {
                segment.flags = Flags::RST;
                segment.sequence = sequence;
            }
            Control::Reset { reason, fast_close } => {
                segment.flags = Flags::RST | Flags::ACK;
                segment.sequence = subflow.sequence_at(subflow.sender.board.next.max(1));
                segment.acknowledgment = subflow.irs + subflow.receiver.next() as u32;
                if fast_close && let Some(remote) = self.remote_key {
                    segment.options.mptcp.push(MptcpOption::FastClose(remote.value));
                }
                if let Some(reason) = reason {
                    segment.options.mptcp.push(MptcpOption::TcpRst(MpTcpRst { flags: 0, reason }));
                }
            }
        }
        subflow.tally.segments_sent += 1;
        Some((id, segment))
    }

    fn transmit_retransmission(&mut self, now: Instant) -> Option<(usize, Segment)> {
        for id in 0..self.subflows.len() {
            // A probe prefers new data, which `transmit_data` then sends (RFC 8985 section 7.3).
            let probing = self.subflows[id].sender.wants_probe() && !self.has_new_data_for_probe(id);
            let sender = &mut self.subflows[id].sender;
            if sender.board.lost == 0 && !probing {
                continue;
            }
            let cwnd = self.congestion.paths[id].cwnd;
            if let Some(sent) = sender.retransmit(now, cwnd) {
                let piece = Piece {
                    start: sent.start,
                    data: sent.data,
                    payload: sent.payload.clone(),
                    fin: sent.fin,
                };
                return Some((id, self.data_segment(now, id, piece)));
            }
        }
        None
    }

    /// Whether `transmit_data` would now give this subflow new data.
    fn has_new_data_for_probe(&self, id: usize) -> bool {
        let mss = self.congestion.paths[id].mss;
        let size = self.outgoing.unsent().min(mss);
        size > 0
            && self.outgoing.next + size <= self.outgoing.edge
            && !self.must_wait_for_more(size, mss)
            && self.subflows.iter().filter(|subflow| subflow.can_send()).count() == 1
            && self.subflows[id].can_send()
    }

    /// New data, or data that another subflow did not get through.
    fn transmit_data(&mut self, now: Instant) -> Option<(usize, Segment)> {
        if self.outgoing.unsent() == 0 && self.outgoing.again.is_empty() && !self.scheduler.duplicates() {
            if let Some(sent) = self.on_full_send_buffer(now) {
                return Some(sent);
            }
            let limit = if self.closed.is_some() || self.congestion.paths.is_empty() {
                Limit::Idle
            } else if self.blocked_writer {
                self.send_buffer_limit()
            } else {
                Limit::Application
            };
            return self.rest(now, limit, false);
        }
        let candidates = self.candidates();
        if candidates.is_empty() {
            return self.rest(now, Limit::Idle, false);
        }
        if let Some(sent) = self.transmit_again(now, &candidates) {
            return Some(sent);
        }
        if self.scheduler.duplicates()
            && let Some(sent) = self.transmit_duplicate(now, &candidates)
        {
            return Some(sent);
        }
        if self.outgoing.unsent() == 0 {
            return self.rest(now, Limit::Application, false);
        }
        let Some(chosen) = self.scheduler.choose(&candidates) else {
            let limit = if candidates.iter().any(|c| c.has_room) {
                Limit::Scheduler
            } else {
                Limit::CongestionWindow
            };
            return self.rest(now, limit, false);
        };
        let Candidate { subflow: id, mss, .. } = candidates[chosen];
        let size = self.outgoing.unsent().min(mss);
        if self.outgoing.next + size > self.outgoing.edge {
            return self.on_closed_window(now, id, &candidates, size);
        }
        if self.must_wait_for_more(size, mss) {
            // What is held back does not fill a segment, and the send buffer may have no room for more.
            if let Some(sent) = self.on_full_send_buffer(now) {
                return Some(sent);
            }
            let limit = if self.blocked_writer { self.send_buffer_limit() } else { Limit::Application };
            return self.rest(now, limit, false);
        }
        Some(self.send_new(now, id, size))
    }

    /// The window has no room for a full segment.
    fn on_closed_window(
        &mut self,
        now: Instant,
        id: usize,
        candidates: &Candidates,
        size: u64,
    ) -> Option<(usize, Segment)> {
        let open = self.outgoing.edge.saturating_sub(self.outgoing.next);
        let idle = self.subflows.iter().all(|subflow| subflow.sender.is_idle());
        // RFC 9293 section 3.8.6.2.1: a part goes when it is half of the largest window, or when
        // waiting would never end.
        if open > 0 && (idle || open >= self.outgoing.largest_window / 2) {
            return Some(self.send_new(now, id, open.min(size)));
        }
        if self.on_window_blocked(now, id)
            && let Some(sent) = self.transmit_again(now, candidates)
        {
            return Some(sent);
        }
        let limit = if self.peer_holds_early_data() { Limit::HeadOfLine } else { Limit::ReceiveWindow };
        self.rest(now, limit, true)
    }

    /// All that was written is under way and the application waits for room: the same blockade as a
    /// closed window, seen from the send buffer (M1 and M2).
    fn on_full_send_buffer(&mut self, now: Instant) -> Option<(usize, Segment)> {
        if !self.blocked_writer || self.mode != Mode::Multipath {
            return None;
        }
        let candidates = self.candidates();
        let fast = candidates.iter().filter(|c| c.has_room).min_by_key(|c| c.srtt)?.subflow;
        if self.on_window_blocked(now, fast) { self.transmit_again(now, &candidates) } else { None }
    }

    /// Whether the peer has received data it cannot deliver yet: more is acknowledged by subflows
    /// than at the data level.
    fn peer_holds_early_data(&self) -> bool {
        let boards = self.subflows.iter().map(|subflow| &subflow.sender.board);
        let outstanding: u64 = boards.filter(|board| board.una > 0).map(|board| board.next - board.una).sum();
        self.mode == Mode::Multipath && self.outgoing.next - self.outgoing.una > outstanding
    }

    /// All that was written is in flight: when windows have room, a larger buffer would be used.
    fn send_buffer_limit(&self) -> Limit {
        let room = self.candidates().iter().any(|candidate| candidate.has_room);
        if room { Limit::SendBuffer } else { Limit::CongestionWindow }
    }

    /// Nagle (RFC 9293 section 3.7.4): a small segment waits while data is in flight.
    fn must_wait_for_more(&self, size: u64, mss: u64) -> bool {
        self.config.nagle && size < mss && !self.write_closed && self.outgoing.next > self.outgoing.una
    }

    /// Nothing more to send now.
    fn rest(&mut self, now: Instant, limit: Limit, window_closed: bool) -> Option<(usize, Segment)> {
        self.limits.note(now, limit);
        self.arm(now, window_closed);
        None
    }

    /// The subflows that may carry data. Backups only when nothing else works; those in timeout not
    /// at all, unless there is no other.
    fn candidates(&self) -> Candidates {
        let mut found = Candidates::new();
        for wanted in [(false, false), (true, false), (false, true), (true, true)] {
            for (id, subflow) in self.subflows.iter().enumerate() {
                let path = &self.congestion.paths[id];
                let key = (subflow.peer_backup || subflow.backup, subflow.sender.in_loss());
                if !subflow.can_send() || key != wanted || found.is_full() {
                    continue;
                }
                let in_flight = subflow.sender.in_flight();
                found.push(Candidate {
                    subflow: id,
                    srtt: path.srtt.unwrap_or_default(),
                    cwnd: path.cwnd,
                    in_flight,
                    mss: path.mss,
                    has_room: in_flight + path.mss <= path.cwnd || subflow.sender.wants_probe(),
                    backup: wanted.0,
                });
            }
            if !found.is_empty() {
                break;
            }
        }
        found
    }

    fn send_new(&mut self, now: Instant, id: usize, size: u64) -> (usize, Segment) {
        let data = self.outgoing.next;
        let payload = self.outgoing.cut(size);
        if self.mode != Mode::Plain {
            let chunk = Chunk { start: data, payload: payload.clone(), carriers: carrier(id), queued: false };
            self.outgoing.flight.push_back(chunk);
        }
        self.put(now, id, data, payload)
    }

    /// Puts stream data on a subflow as new subflow data.
    fn put(&mut self, now: Instant, id: usize, data: u64, payload: Bytes) -> (usize, Segment) {
        let sender = &mut self.subflows[id].sender;
        let piece = Piece { start: sender.board.next, data, payload: payload.clone(), fin: false };
        sender.send(now, data, payload, false);
        (id, self.data_segment(now, id, piece))
    }

    /// Carries the oldest requested chunk on a subflow that has not carried it yet.
    fn transmit_again(&mut self, now: Instant, candidates: &Candidates) -> Option<(usize, Segment)> {
        while let Some(&start) = self.outgoing.again.front() {
            let una = self.outgoing.una;
            let Some(chunk) = self.outgoing.chunk_at(start).filter(|chunk| chunk.queued && chunk.end() > una)
            else {
                self.outgoing.again.pop_front();
                continue;
            };
            let fresh = candidates.iter().filter(|c| !chunk.carried_by(c.subflow));
            let Some(best) = fresh.filter(|c| c.has_room).min_by_key(|c| c.srtt) else {
                // Everyone here carried it already: their own retransmissions will bring it.
                if candidates.iter().all(|c| chunk.carried_by(c.subflow)) {
                    chunk.queued = false;
                    self.outgoing.again.pop_front();
                    continue;
                }
                return None;
            };
            let id = best.subflow;
            chunk.queued = false;
            chunk.carriers |= carrier(id);
            let (data, payload) = (chunk.start, chunk.payload.clone());
            self.outgoing.again.pop_front();
            self.reinjected_bytes += payload.len() as u64;
            self.subflows[id].tally.bytes_reinjected += payload.len() as u64;
            return Some(self.put(now, id, data, payload));
        }
        None
    }

    /// The redundant scheduler: the first chunk that some subflow with room has not carried.
    fn transmit_duplicate(&mut self, now: Instant, candidates: &Candidates) -> Option<(usize, Segment)> {
        for candidate in candidates.iter().filter(|c| c.has_room) {
            let id = candidate.subflow;
            let Some(chunk) = self.outgoing.flight.iter_mut().find(|chunk| !chunk.carried_by(id)) else {
                continue;
            };
            chunk.carriers |= carrier(id);
            let (data, payload) = (chunk.start, chunk.payload.clone());
            self.subflows[id].tally.bytes_reinjected += payload.len() as u64;
            return Some(self.put(now, id, data, payload));
        }
        None
    }

    /// DATA_FIN when everything was sent, FINs when the streams are over.
    fn transmit_fin(&mut self, now: Instant) -> Option<(usize, Segment)> {
        let all_sent = self.outgoing.unsent() == 0;
        if self.mode == Mode::Plain && self.write_closed && all_sent {
            self.subflows.iter_mut().filter(|s| s.can_send()).for_each(|s| s.fin_wanted = true);
        }
        for id in 0..self.subflows.len() {
            let subflow = &mut self.subflows[id];
            if subflow.fin_wanted && matches!(subflow.state, State::Established | State::CloseWait) {
                let piece = Piece {
                    start: subflow.sender.board.next,
                    data: self.outgoing.next,
                    payload: Bytes::new(),
                    fin: true,
                };
                subflow.sender.send(now, piece.data, Bytes::new(), true);
                subflow.fin_sent();
                return Some((id, self.data_segment(now, id, piece)));
            }
        }
        if self.mode != Mode::Multipath || !self.write_closed || !all_sent || self.data_fin_acknowledged {
            self.disarm_data_fin();
            return None;
        }
        let first = !self.data_fin_sent;
        if !first && !self.timers.data_fin_wanted {
            return None;
        }
        let id = self.messenger(self.timers.data_fin_tries())?;
        if !self.confirmed && self.subflows[id].receiver.wants_ack() {
            // The third ACK first, with the keys.
            return None;
        }
        self.data_fin_sent = true;
        self.timers.data_fin_wanted = false;
        self.arm_data_fin(now);
        let mut segment = self.bare_segment(now, id, Flags::ACK);
        // RFC 8684 section 3.3.3: alone it has subflow sequence 0 and length 1.
        let mapping = Mapping {
            sequence: DataSequence::Wide(self.local_key.at(self.outgoing.next)),
            subflow_sequence: 0,
            length: 1,
            checksum: self.dss_checksum(self.outgoing.next, 0, 1, &[]),
        };
        // Also in place of the keys on an acknowledgement that would repeat them.
        segment.options.mptcp.clear();
        segment.options.dss =
            Some(Dss { ack: Some(self.data_ack()), mapping: Some(mapping), data_fin: true });
        while segment.options.length() > mptcp_wire::Options::SPACE && segment.options.sack.pop().is_some() {}
        Some((id, segment))
    }

    /// The subflow for a message that is repeated until it is answered: the one that answers soonest,
    /// at each further try the next one, because silence may be the path's.
    fn messenger(&self, tries: u32) -> Option<usize> {
        let mut usable: ArrayVec<(bool, Option<Duration>, usize), MAX_SUBFLOWS> = ArrayVec::new();
        for (id, subflow) in self.subflows.iter().enumerate().filter(|(_, subflow)| subflow.can_send()) {
            // More subflows than this are not used at a time.
            let _ = usable.try_push((subflow.sender.in_loss(), self.congestion.paths[id].srtt, id));
        }
        usable.sort_unstable();
        let at = (tries as usize).checked_rem(usable.len())?;
        usable.get(at).map(|&(_, _, id)| id)
    }

    fn transmit_acknowledgement(&mut self, now: Instant) -> Option<(usize, Segment)> {
        if !self.signals.is_empty()
            && let Some(sent) = self.transmit_signal(now)
        {
            return Some(sent);
        }
        if std::mem::take(&mut self.timers.probe_wanted)
            && let Some(sent) = self.transmit_window_probe(now)
        {
            return Some(sent);
        }
        let id = self.subflows.iter().position(|s| s.receiver.wants_ack() && s.is_synchronised())?;
        Some((id, self.bare_segment(now, id, Flags::ACK)))
    }

    /// RFC 9293 section 3.8.6.1, in Linux's form: an old sequence number, so that the peer answers
    /// with its window and nothing can go wrong.
    fn transmit_window_probe(&mut self, now: Instant) -> Option<(usize, Segment)> {
        let id = self.messenger(self.timers.probes())?;
        let mut segment = self.bare_segment(now, id, Flags::ACK);
        segment.sequence = segment.sequence - 1;
        self.arm(now, true);
        Some((id, segment))
    }

    fn transmit_signal(&mut self, now: Instant) -> Option<(usize, Segment)> {
        let usable =
            |s: &crate::subflow::Subflow| s.is_synchronised() && !s.unconfirmed && s.state != State::TimeWait;
        let at = self.signals.iter().position(|(on, _)| match on {
            Some(id) => usable(&self.subflows[*id]),
            None => self.subflows.iter().any(usable),
        })?;
        let (on, option) = self.signals.remove(at)?;
        let id = match on {
            Some(id) => id,
            None => self.messenger(0).or_else(|| self.subflows.iter().position(usable))?,
        };
        let mut segment = self.bare_segment(now, id, Flags::ACK);
        // RFC 8684 section 3.4.1 and the room there is: ADD_ADDR goes alone.
        if matches!(option, MptcpOption::AddAddress(_)) {
            segment.options.dss = None;
            segment.options.sack.clear();
        }
        segment.options.mptcp.push(option);
        while segment.options.length() > mptcp_wire::Options::SPACE && segment.options.sack.pop().is_some() {}
        Some((id, segment))
    }

    /// A segment without payload that acknowledges.
    fn bare_segment(&mut self, now: Instant, id: usize, flags: Flags) -> Segment {
        let mut segment = self.header(now, id, flags);
        segment.sequence = self.subflows[id].sequence_at(self.subflows[id].sender.board.next);
        if self.mode == Mode::Multipath {
            if !self.confirmed && self.client && self.is_initial(id) && self.outgoing.next == 0 {
                // The third ACK.
                segment.options.mptcp.extend(self.capable_with_keys(None));
            } else if self.subflows[id].unconfirmed {
                segment.options.mptcp.extend(self.join_with_hmac(id));
            } else {
                segment.options.dss =
                    Some(Dss { ack: Some(self.data_ack()), mapping: None, data_fin: false });
            }
        }
        self.add_blocks(id, &mut segment);
        self.subflows[id].acknowledgement_sent();
        segment
    }

    /// As many SACK blocks as fit beside the other options.
    fn add_blocks(&self, id: usize, segment: &mut Segment) {
        let subflow = &self.subflows[id];
        if !subflow.sack || !subflow.receiver.has_blocks() {
            return;
        }
        let room = mptcp_wire::Options::SPACE.saturating_sub(segment.options.length());
        let irs = subflow.irs;
        for (left, right) in subflow.receiver.blocks(room.saturating_sub(4) / 8) {
            segment.options.sack.push((irs + left as u32, irs + right as u32));
        }
    }

    fn data_segment(&mut self, now: Instant, id: usize, piece: Piece) -> Segment {
        let mut segment = self.header(now, id, Flags::ACK);
        let subflow = &mut self.subflows[id];
        segment.sequence = subflow.sequence_at(piece.start);
        let length = piece.payload.len() as u64;
        if piece.fin {
            segment.flags |= Flags::FIN;
        }
        if length > 0 {
            subflow.tally.data_segments_sent += 1;
            subflow.tally.bytes_sent += length;
            if self.outgoing.unsent() == 0 {
                segment.flags |= Flags::PSH;
            }
        }
        if self.mode == Mode::Multipath {
            self.add_mapping(id, &mut segment, &piece);
        } else if length > 0 && self.infinite_from == Some(piece.start) {
            self.add_infinite_mapping(&mut segment, &piece);
        }
        segment.payload = piece.payload;
        let subflow = &mut self.subflows[id];
        if subflow.sack && subflow.receiver.has_blocks() {
            // Blocks would make a full segment too long (RFC 9293 section 3.7.1): the acknowledgement
            // that brings them stays due.
            subflow.number_acknowledged();
        } else {
            subflow.acknowledgement_sent();
        }
        segment
    }

    fn add_mapping(&self, id: usize, segment: &mut Segment, piece: &Piece) {
        let length = piece.payload.len() as u16;
        let first = piece.start == 1 && piece.data == 0 && self.client;
        if first && length > 0 && !self.confirmed && self.is_initial(id) {
            let checksum = self.dss_checksum(0, 1, length, &piece.payload);
            segment.options.mptcp.extend(self.capable_with_keys(Some((length, checksum))));
            return;
        }
        let mapping = (length > 0).then(|| Mapping {
            sequence: DataSequence::Wide(self.local_key.at(piece.data)),
            subflow_sequence: piece.start as u32,
            length,
            checksum: self.dss_checksum(piece.data, piece.start as u32, length, &piece.payload),
        });
        segment.options.dss = Some(Dss { ack: Some(self.data_ack()), mapping, data_fin: false });
    }

    /// RFC 8684 section 3.7: length 0 says that all that follows maps one to one.
    fn add_infinite_mapping(&self, segment: &mut Segment, piece: &Piece) {
        let mapping = Mapping {
            sequence: DataSequence::Wide(self.local_key.at(piece.data)),
            subflow_sequence: piece.start as u32,
            length: 0,
            checksum: self.checksum.then_some(0),
        };
        segment.options.dss =
            Some(Dss { ack: Some(self.data_ack()), mapping: Some(mapping), data_fin: false });
    }

    fn dss_checksum(&self, data: u64, subflow_sequence: u32, length: u16, payload: &[u8]) -> Option<u16> {
        self.checksum.then(|| {
            let mut sum = Checksum::dss(self.local_key.at(data), subflow_sequence, length);
            sum.add(payload);
            sum.value()
        })
    }

    /// The low half is enough, and leaves room for SACK (RFC 8684 section 3.3.1).
    fn data_ack(&self) -> DataSequence {
        let first = self.remote_key.map_or(0, |key| key.first);
        let fin = u64::from(self.incoming.finished());
        DataSequence::Short(first.wrapping_add(self.incoming.next + fin) as u32)
    }

    /// Addresses, acknowledgement, window, timestamps.
    fn header(&mut self, now: Instant, id: usize, flags: Flags) -> Segment {
        let window = self.incoming.window();
        let subflow = &mut self.subflows[id];
        subflow.tally.segments_sent += 1;
        let mut segment = Segment::new(subflow.local, subflow.remote);
        segment.flags = flags;
        segment.acknowledgment = subflow.irs + subflow.receiver.next() as u32;
        segment.window = (window >> subflow.receive_scale).min(65_535) as u16;
        segment.options.timestamps = subflow.timestamps_at(now);
        debug_assert!(subflow.origin != Origin::Initial || id == 0, "only the first subflow is initial");
        segment
    }
}
