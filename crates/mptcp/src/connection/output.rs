//! What goes out next: control, retransmissions, data again on other subflows, new data, FINs,
//! acknowledgements, in that order.

use bytes::Bytes;
use mptcp_clock::Instant;
use mptcp_wire::{Checksum, DataSequence, Dss, Flags, Mapping, MpTcpRst, MptcpOption, Segment, Timestamps};

use super::limits::Limit;
use super::outgoing::{Chunk, carrier};
use super::{Connection, Mode};
use crate::scheduler::Candidate;
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
    /// Puts the next segment to send into `out`; returns the subflow it belongs to.
    pub(crate) fn poll_transmit(&mut self, now: Instant, out: &mut Segment) -> Option<usize> {
        if let Some(sent) = self.transmit_control(now, out) {
            return Some(sent);
        }
        if let Some(sent) = self.transmit_retransmission(now, out) {
            return Some(sent);
        }
        if let Some(sent) = self.transmit_data(now, out) {
            return Some(sent);
        }
        let ending = self.write_closed || self.closed.is_some() || self.subflows.iter().any(|s| s.fin_wanted);
        if ending && let Some(sent) = self.transmit_fin(now, out) {
            return Some(sent);
        }
        self.transmit_acknowledgement(now, out)
    }

    fn transmit_control(&mut self, now: Instant, out: &mut Segment) -> Option<usize> {
        let id = self.subflows.iter().position(|subflow| subflow.control.is_some())?;
        let control = self.subflows[id].control.take()?;
        if control == Control::Probe {
            self.bare_segment(now, id, out);
            out.sequence = self.subflows[id].sequence_at(self.subflows[id].sender.board.una) - 1;
            return Some(id);
        }
        let options = self.handshake_options(id, control);
        let window = self.incoming.window().min(65_535) as u16;
        let scale = self.window_scale();
        let subflow = &mut self.subflows[id];
        let segment = out;
        segment.reset(subflow.local, subflow.remote);
        segment.options.mptcp.extend(options);
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
            Control::Probe => {}
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
        Some(id)
    }

    fn transmit_retransmission(&mut self, now: Instant, out: &mut Segment) -> Option<usize> {
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
                self.data_segment(now, id, piece, out);
                return Some(id);
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
    fn transmit_data(&mut self, now: Instant, out: &mut Segment) -> Option<usize> {
        if self.outgoing.written() == 0 && !self.write_closed {
            // A pure receiver has nothing to weigh.
            return None;
        }
        if self.outgoing.unsent() == 0 && self.outgoing.flight.is_empty() {
            let over = self.closed.is_some() || self.congestion.paths.is_empty();
            return self.rest(
                now,
                if over { Limit::Idle } else { self.writer_limit(self.any_room()) },
                false,
            );
        }
        let mut candidates = std::mem::take(&mut self.candidates);
        self.find_candidates(&mut candidates);
        let sent = self.transmit_on(now, &candidates, out);
        self.candidates = candidates;
        sent
    }

    fn transmit_on(&mut self, now: Instant, candidates: &[Candidate], out: &mut Segment) -> Option<usize> {
        if candidates.is_empty() {
            return self.rest(now, Limit::Idle, false);
        }
        if let Some(sent) = self.transmit_again(now, candidates, out) {
            return Some(sent);
        }
        if self.scheduler.duplicates()
            && let Some(sent) = self.transmit_duplicate(now, candidates, out)
        {
            return Some(sent);
        }
        if self.outgoing.unsent() == 0 {
            return self.on_nothing_new(now, candidates, out);
        }
        let Some(chosen) = self.scheduler.choose(candidates) else {
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
            return self.on_closed_window(now, id, size, out);
        }
        if self.must_wait_for_more(size, mss) {
            return self.on_nothing_new(now, candidates, out);
        }
        Some(self.send_new(now, id, size, out))
    }

    /// Everything written is in flight. What M1 and M2 do for a full receive window they do here for
    /// a full send buffer; an application that has no more to say calls for no penalty.
    fn on_nothing_new(&mut self, now: Instant, candidates: &[Candidate], out: &mut Segment) -> Option<usize> {
        if let Some(chosen) = self.scheduler.choose(candidates) {
            let fast = candidates[chosen].subflow;
            if let Some(start) = self.unblock(now, fast, self.blocked_writer) {
                return self.carry(now, start, fast, out);
            }
        }
        let room = candidates.iter().any(|candidate| candidate.has_room);
        self.rest(now, self.writer_limit(room), false)
    }

    /// The window has no room for a full segment.
    fn on_closed_window(&mut self, now: Instant, id: usize, size: u64, out: &mut Segment) -> Option<usize> {
        let open = self.outgoing.edge.saturating_sub(self.outgoing.next);
        let idle = self.subflows.iter().all(|subflow| subflow.sender.is_idle());
        // RFC 9293 section 3.8.6.2.1: a part goes when it is half of the largest window, or when
        // waiting would never end.
        if open > 0 && (idle || open >= self.outgoing.largest_window / 2) {
            return Some(self.send_new(now, id, open.min(size), out));
        }
        if let Some(start) = self.unblock(now, id, true) {
            return self.carry(now, start, id, out);
        }
        let limit = if self.peer_holds_early_data() { Limit::HeadOfLine } else { Limit::ReceiveWindow };
        self.rest(now, limit, true)
    }

    /// Whether the peer has received data it cannot deliver yet: more is acknowledged by subflows
    /// than at the data level.
    fn peer_holds_early_data(&self) -> bool {
        let boards = self.subflows.iter().map(|subflow| &subflow.sender.board);
        let outstanding: u64 = boards.filter(|board| board.una > 0).map(|board| board.next - board.una).sum();
        self.mode == Mode::Multipath && self.outgoing.next - self.outgoing.una > outstanding
    }

    /// Why nothing is left to send: the application, or a send buffer full of data in flight. When
    /// the windows have no room either, a larger buffer would not help.
    fn writer_limit(&self, room: bool) -> Limit {
        if !self.blocked_writer {
            Limit::Application
        } else if !room {
            Limit::CongestionWindow
        } else if self.peer_holds_early_data() {
            Limit::HeadOfLine
        } else {
            Limit::SendBuffer
        }
    }

    /// Whether any congestion window has room.
    fn any_room(&self) -> bool {
        let windows = self.subflows.iter().zip(&self.congestion.paths);
        windows
            .filter(|(subflow, _)| subflow.can_send())
            .any(|(s, path)| s.sender.in_flight() + path.mss <= path.cwnd)
    }

    /// Nagle (RFC 9293 section 3.7.4): a small segment waits while data is in flight.
    fn must_wait_for_more(&self, size: u64, mss: u64) -> bool {
        self.config.nagle && size < mss && !self.write_closed && self.outgoing.next > self.outgoing.una
    }

    /// Nothing more to send now.
    fn rest(&mut self, now: Instant, limit: Limit, window_closed: bool) -> Option<usize> {
        self.limits.note(now, limit);
        self.arm(now, window_closed);
        None
    }

    /// The subflows that may carry data. Backups only when nothing else works; those in timeout not
    /// at all, unless there is no other.
    fn find_candidates(&self, found: &mut Vec<Candidate>) {
        found.clear();
        // Backup or not, then in timeout or not: the first kind that exists is used.
        let mut best = u8::MAX;
        for (id, subflow) in self.subflows.iter().enumerate() {
            if !subflow.can_send() {
                continue;
            }
            let backup = subflow.peer_backup || subflow.backup;
            let kind = 2 * u8::from(subflow.sender.in_loss()) + u8::from(backup);
            if kind > best {
                continue;
            }
            if kind < best {
                best = kind;
                found.clear();
            }
            let path = &self.congestion.paths[id];
            let in_flight = subflow.sender.in_flight();
            found.push(Candidate {
                subflow: id,
                srtt: path.srtt.unwrap_or_default(),
                cwnd: path.cwnd,
                in_flight,
                mss: path.mss,
                has_room: in_flight + path.mss <= path.cwnd || subflow.sender.wants_probe(),
                backup,
            });
        }
    }

    fn send_new(&mut self, now: Instant, id: usize, size: u64, out: &mut Segment) -> usize {
        let data = self.outgoing.next;
        let payload = self.outgoing.cut(size);
        self.wake_writer();
        if self.mode != Mode::Plain {
            let chunk = Chunk { start: data, payload: payload.clone(), carriers: carrier(id), queued: false };
            self.outgoing.flight.push_back(chunk);
        }
        self.put(now, id, data, payload, out)
    }

    /// Puts stream data on a subflow as new subflow data.
    fn put(&mut self, now: Instant, id: usize, data: u64, payload: Bytes, out: &mut Segment) -> usize {
        let sender = &mut self.subflows[id].sender;
        let piece = Piece { start: sender.board.next, data, payload: payload.clone(), fin: false };
        sender.send(now, data, payload, false);
        self.data_segment(now, id, piece, out);
        id
    }

    /// Carries the oldest requested chunk on a subflow that has not carried it yet.
    fn transmit_again(&mut self, now: Instant, candidates: &[Candidate], out: &mut Segment) -> Option<usize> {
        while let Some(&start) = self.outgoing.again.first() {
            let una = self.outgoing.una;
            let Some(chunk) = self.outgoing.chunk_at(start).filter(|chunk| chunk.queued && chunk.end() > una)
            else {
                self.outgoing.again.pop_first();
                continue;
            };
            // A working subflow that has yet to get it through will do so by its own retransmissions;
            // so will those in a stall, when there is no other to take it.
            let end = chunk.end();
            let on_its_way = |c: &Candidate| {
                let sender = &self.subflows[c.subflow].sender;
                !sender.in_loss() && sender.board.holds(start, end)
            };
            let mut carriers = candidates.iter().filter(|c| chunk.carried_by(c.subflow));
            let settled = carriers.any(on_its_way) || candidates.iter().all(|c| chunk.carried_by(c.subflow));
            if settled {
                chunk.queued = false;
                self.outgoing.again.pop_first();
                continue;
            }
            // Not where options are eaten: a peer that has fallen back would take it for what follows.
            let fresh = candidates.iter().filter(|c| c.has_room && !chunk.carried_by(c.subflow));
            let fresh = fresh.filter(|c| !self.subflows[c.subflow].optionless);
            let id = fresh.min_by_key(|c| c.srtt)?.subflow;
            self.outgoing.again.pop_first();
            return self.carry(now, start, id, out);
        }
        None
    }

    /// Puts the chunk at `start` on a further subflow.
    fn carry(&mut self, now: Instant, start: u64, id: usize, out: &mut Segment) -> Option<usize> {
        let chunk = self.outgoing.chunk_at(start)?;
        chunk.queued = false;
        chunk.carriers |= carrier(id);
        let (data, payload) = (chunk.start, chunk.payload.clone());
        self.reinjected_bytes += payload.len() as u64;
        self.subflows[id].tally.bytes_reinjected += payload.len() as u64;
        Some(self.put(now, id, data, payload, out))
    }

    /// The redundant scheduler: the first chunk that some subflow with room has not carried.
    fn transmit_duplicate(
        &mut self,
        now: Instant,
        candidates: &[Candidate],
        out: &mut Segment,
    ) -> Option<usize> {
        for candidate in candidates.iter().filter(|c| c.has_room) {
            let id = candidate.subflow;
            let Some(chunk) = self.outgoing.flight.iter_mut().find(|chunk| !chunk.carried_by(id)) else {
                continue;
            };
            chunk.carriers |= carrier(id);
            let (data, payload) = (chunk.start, chunk.payload.clone());
            self.subflows[id].tally.bytes_reinjected += payload.len() as u64;
            return Some(self.put(now, id, data, payload, out));
        }
        None
    }

    /// DATA_FIN when everything was sent, FINs when the streams are over.
    fn transmit_fin(&mut self, now: Instant, out: &mut Segment) -> Option<usize> {
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
                self.data_segment(now, id, piece, out);
                return Some(id);
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
        self.bare_segment(now, id, out);
        // RFC 8684 section 3.3.3: alone it has subflow sequence 0 and length 1.
        let mapping = Mapping {
            sequence: DataSequence::Wide(self.local_key.at(self.outgoing.next)),
            subflow_sequence: 0,
            length: 1,
            checksum: self.dss_checksum(self.outgoing.next, 0, 1, &[]),
        };
        // Also in place of the keys on an acknowledgement that would repeat them.
        out.options.mptcp.clear();
        out.options.dss = Some(Dss { ack: Some(self.data_ack()), mapping: Some(mapping), data_fin: true });
        while out.options.length() > mptcp_wire::Options::SPACE && out.options.sack.pop().is_some() {}
        Some(id)
    }

    /// The subflow for a message that is repeated until it is answered: the one that answers soonest,
    /// at each further try the next one, because silence may be the path's.
    fn messenger(&self, tries: u32) -> Option<usize> {
        let subflows = self.subflows.iter().enumerate().filter(|(_, subflow)| subflow.can_send());
        let mut usable: Vec<_> = subflows
            .map(|(id, subflow)| (subflow.sender.in_loss(), self.congestion.paths[id].srtt, id))
            .collect();
        usable.sort_unstable();
        let at = (tries as usize).checked_rem(usable.len())?;
        usable.get(at).map(|&(_, _, id)| id)
    }

    fn transmit_acknowledgement(&mut self, now: Instant, out: &mut Segment) -> Option<usize> {
        if !self.signals.is_empty()
            && let Some(sent) = self.transmit_signal(now, out)
        {
            return Some(sent);
        }
        if std::mem::take(&mut self.timers.probe_wanted)
            && let Some(sent) = self.transmit_window_probe(now, out)
        {
            return Some(sent);
        }
        let id = self.subflows.iter().position(|s| s.receiver.wants_ack() && s.is_synchronised())?;
        self.bare_segment(now, id, out);
        Some(id)
    }

    /// RFC 9293 section 3.8.6.1, in Linux's form: an old sequence number, so that the peer answers
    /// with its window and nothing can go wrong.
    fn transmit_window_probe(&mut self, now: Instant, out: &mut Segment) -> Option<usize> {
        let id = self.messenger(self.timers.probes())?;
        self.bare_segment(now, id, out);
        out.sequence = out.sequence - 1;
        self.arm(now, true);
        Some(id)
    }

    fn transmit_signal(&mut self, now: Instant, out: &mut Segment) -> Option<usize> {
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
        self.bare_segment(now, id, out);
        // RFC 8684 section 3.4.1 and the room there is: ADD_ADDR goes alone.
        if matches!(option, MptcpOption::AddAddress(_)) {
            out.options.dss = None;
            out.options.sack.clear();
        }
        out.options.mptcp.push(option);
        while out.options.length() > mptcp_wire::Options::SPACE && out.options.sack.pop().is_some() {}
        Some(id)
    }

    /// A segment without payload that acknowledges.
    fn bare_segment(&mut self, now: Instant, id: usize, segment: &mut Segment) {
        self.header(now, id, segment);
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
        self.add_blocks(id, segment);
        self.subflows[id].acknowledgement_sent();
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

    fn data_segment(&mut self, now: Instant, id: usize, piece: Piece, segment: &mut Segment) {
        self.header(now, id, segment);
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
            self.add_mapping(id, segment, &piece);
        } else if length > 0 && self.infinite_from == Some(piece.start) {
            self.add_infinite_mapping(segment, &piece);
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
    fn header(&mut self, now: Instant, id: usize, segment: &mut Segment) {
        let window = self.incoming.window();
        let subflow = &mut self.subflows[id];
        subflow.tally.segments_sent += 1;
        segment.reset(subflow.local, subflow.remote);
        segment.flags = Flags::ACK;
        segment.acknowledgment = subflow.irs + subflow.receiver.next() as u32;
        segment.window = (window >> subflow.receive_scale).min(65_535) as u16;
        segment.options.timestamps = subflow.timestamps_at(now);
        debug_assert!(subflow.origin != Origin::Initial || id == 0, "only the first subflow is initial");
    }
}
