//! Segments with data and acknowledgements: header fields, mappings, DATA_ACKs and SACK blocks.
//!
//! Owns the form of these segments and the bookkeeping for data that is mapped to a subflow. Never decides which
//! segment is sent next, or which data on which subflow.

use bytes::Bytes;
use mptcp_clock::Instant;
use mptcp_wire::crypto::Version;
use mptcp_wire::{Checksum, DataSequence, Dss, Flags, Mapping, MptcpOption, Segment};

use crate::connection::Connection;
use crate::connection::stream::send_buffer::{Chunk, SubflowMapping};
use crate::subflow::scoreboard::OriginalMapping;
use crate::subflow::{State, Subflow};

impl Connection {
    /// Sends new data on a subflow that the scheduler did not choose.
    #[inline(never)]
    pub(crate) fn send_unscheduled(
        &mut self,
        now: Instant,
        id: usize,
        size: u64,
        out: &mut Segment,
    ) -> usize {
        self.scheduler.on_unscheduled_sent();
        self.send_new(now, id, size, out)
    }

    #[inline(always)]
    pub(crate) fn send_new(&mut self, now: Instant, id: usize, size: u64, out: &mut Segment) -> usize {
        let data = self.send.next();
        let mss = self.congestion.paths[id].mss;
        let payload = self.send.cut(size, mss);
        if (payload.len() as u64) < mss && self.send.note_small(data) {
            let end = self.subflows[id].sender().board.next + payload.len() as u64;
            self.subflows[id].sender_mut().board.on_small_segment(end);
        }
        self.wake_writer(now);
        if !self.negotiation.is_plain() {
            let end = self.subflows[id].sender().board.next + payload.len() as u64;
            let mapping = SubflowMapping { subflow: self.subflow_id(id), end };
            self.data_ack_leads.watch(id, mapping.subflow, end, self.send.next());
            self.send.send(Chunk::new(data, payload.clone(), mapping));
        }
        let fin = self.config.linux_compat.fin_with_data && self.ends_with_data();
        let sent = self.put(now, id, data, payload, fin, out);
        if self.writer.is_closed() && self.config.pacing {
            self.delay_last_segment(now, id);
        }
        sent
    }

    /// Whether a FIN can accompany the data cut last: the end of a closed TCP stream.
    #[cold]
    fn ends_with_data(&self) -> bool {
        self.negotiation.is_plain() && self.writer.is_closed() && self.send.unsent() == 0
    }

    /// Sends stream data on a subflow as new subflow data.
    #[inline(always)]
    fn put(
        &mut self,
        now: Instant,
        id: usize,
        data: u64,
        payload: Bytes,
        fin: bool,
        out: &mut Segment,
    ) -> usize {
        let subflow = &mut self.subflows[id];
        let start = subflow.sender().board.next;
        let capable = subflow.sender().marks.is_on();
        let piece = SentRange { start, data, whole: None, fin };
        subflow.sender_mut().send(now, data, payload.clone(), fin, &self.congestion.paths[id]);
        if fin {
            subflow.want_fin();
            subflow.fin_sent();
        }
        self.pace(now, id, payload.len() as u64);
        self.data_segment(now, id, &piece, payload, out);
        if capable {
            self.subflows[id].mark_capable(out);
        }
        id
    }

    /// Sends data that another subflow has already carried.
    #[inline(never)]
    pub(crate) fn send_reinjection(
        &mut self,
        now: Instant,
        id: usize,
        data: u64,
        payload: Bytes,
        out: &mut Segment,
    ) -> usize {
        self.put(now, id, data, payload, false, out)
    }
}

/// The position of a segment in the subflow's stream (`start`) and in the connection's (`data`).
#[derive(Clone, Debug)]
pub(crate) struct SentRange {
    pub start: u64,
    pub data: u64,
    /// The mapping that the segment is part of. `None` if the segment has its own mapping.
    pub whole: Option<Box<OriginalMapping>>,
    pub fin: bool,
}

impl Connection {
    /// Builds a segment without payload that acknowledges.
    #[inline(never)]
    pub(crate) fn bare_segment(&mut self, now: Instant, id: usize, segment: &mut Segment) {
        self.acknowledgement(now, id, segment);
    }

    /// Builds an acknowledgement (inlined form of `bare_segment`).
    #[inline(always)]
    pub(crate) fn acknowledgement(&mut self, now: Instant, id: usize, segment: &mut Segment) {
        let window = self.recv.window();
        let subflow = &mut self.subflows[id];
        fill_header(subflow, now, window, segment);
        segment.sequence = subflow.sequence_at(subflow.sender().board.next);
        let without_options = self.config.linux_compat.plain_time_wait && subflow.state() == State::TimeWait;
        let (subflow_id, reports) =
            (subflow.record().id, subflow.negotiated().sack && subflow.receiver().has_blocks());
        if self.negotiation.is_multipath() && !without_options {
            if !self.negotiation.confirmed()
                && self.negotiation.client()
                && self.is_initial(id)
                && self.send.una() == 0
            {
                // The third ACK. It is repeated for a repeated SYN/ACK, because data with the keys may never arrive.
                segment.options.mptcp.extend(self.capable_with_keys(None));
            } else if self.subflows[id].handshake().awaits_join_confirmation {
                segment.options.mptcp.extend(self.join_with_hmac(id));
            } else {
                segment.options.dss =
                    Some(Dss { ack: Some(self.data_ack()), mapping: None, data_fin: false });
            }
        }
        if let Some(number) = self.negotiation.report_failure(subflow_id) {
            self.add_failure(number, segment);
        }
        if reports {
            self.add_blocks(id, segment);
        }
        self.subflows[id].on_ack_sent();
    }

    /// Adds as many SACK blocks as the option space permits.
    #[inline(never)]
    fn add_blocks(&self, id: usize, segment: &mut Segment) {
        let subflow = &self.subflows[id];
        let space = mptcp_wire::Options::SPACE.saturating_sub(segment.options.length());
        let irs = subflow.handshake().irs;
        for (left, right) in subflow.receiver().blocks(space.saturating_sub(4) / 8) {
            segment.options.sack.push((irs + left as u32, irs + right as u32));
        }
    }

    #[inline(always)]
    pub(crate) fn data_segment(
        &mut self,
        now: Instant,
        id: usize,
        piece: &SentRange,
        payload: Bytes,
        segment: &mut Segment,
    ) {
        let window = self.recv.window();
        let subflow = &mut self.subflows[id];
        fill_header(subflow, now, window, segment);
        segment.sequence = subflow.sequence_at(piece.start);
        let length = payload.len() as u64;
        segment.payload = payload;
        if piece.fin {
            segment.flags |= Flags::FIN;
        }
        if subflow.negotiated().sack && subflow.receiver().has_blocks() {
            // SACK blocks would make a full segment too long (RFC 9293 section 3.7.1). A separate acknowledgement
            // carries them.
            subflow.on_ack_number_sent();
        } else {
            subflow.on_ack_sent();
        }
        if length > 0 {
            subflow.receiver_mut().data_sent(now);
            subflow.record_mut().stats.data_segments_sent += 1;
            subflow.record_mut().stats.bytes_sent += length;
            if self.pushes(piece.data + length, length, id) {
                segment.flags |= Flags::PSH;
            }
        }
        if self.negotiation.is_multipath() {
            self.add_mapping(id, segment, piece);
        } else if length > 0 && self.negotiation.infinite_from() == Some(piece.start) {
            self.add_infinite_mapping(segment, piece);
        }
    }

    /// Builds a retransmission or a FIN (form of `data_segment` that is not inlined).
    #[inline(never)]
    pub(crate) fn retransmitted_segment(
        &mut self,
        now: Instant,
        id: usize,
        piece: &SentRange,
        payload: Bytes,
        segment: &mut Segment,
    ) {
        self.data_segment(now, id, piece, payload, segment);
    }

    #[inline(always)]
    pub(crate) fn add_mapping(&self, id: usize, segment: &mut Segment, piece: &SentRange) {
        let length = segment.payload.len() as u16;
        // RFC 8684 section 3.1. In version 0 the first data carries an ordinary mapping.
        let first = piece.start == self.subflows[id].handshake().first_sent
            && piece.data == 0
            && self.negotiation.client()
            && self.negotiation.version() == Version::V1;
        if first && length > 0 && !self.negotiation.confirmed() && self.is_initial(id) {
            return self.add_keys(segment, piece);
        }
        let (start, data, payload) = match &piece.whole {
            Some(whole) => (whole.start as u32, whole.data, &whole.payload),
            None => (piece.start as u32, piece.data, &segment.payload),
        };
        let mapping = if length > 0 {
            Some(Mapping {
                sequence: DataSequence::Wide(self.negotiation.local().at(data)),
                subflow_sequence: start,
                length: payload.len() as u16,
                checksum: self.dss_checksum(data, start, payload.len() as u16, payload),
            })
        } else {
            None
        };
        segment.options.dss = Some(Dss { ack: Some(self.data_ack()), mapping, data_fin: false });
    }

    /// Adds MP_CAPABLE with the keys and the length of the first data.
    #[cold]
    fn add_keys(&self, segment: &mut Segment, piece: &SentRange) {
        let payload = piece.whole.as_ref().map_or(&segment.payload, |whole| &whole.payload);
        let length = payload.len() as u16;
        let checksum = self.dss_checksum(0, 1, length, payload);
        segment.options.mptcp.extend(self.capable_with_keys(Some((length, checksum))));
    }

    /// Adds the infinite mapping: length 0 (RFC 8684 section 3.7).
    #[cold]
    pub(crate) fn add_infinite_mapping(&self, segment: &mut Segment, piece: &SentRange) {
        let mapping = Mapping {
            sequence: DataSequence::Wide(self.negotiation.local().at(piece.data)),
            subflow_sequence: piece.start as u32,
            length: 0,
            checksum: self.negotiation.checksum().then_some(0),
        };
        segment.options.dss =
            Some(Dss { ack: Some(self.data_ack()), mapping: Some(mapping), data_fin: false });
    }

    #[inline(always)]
    pub(crate) fn dss_checksum(
        &self,
        data: u64,
        subflow_sequence: u32,
        length: u16,
        payload: &[u8],
    ) -> Option<u16> {
        if !self.negotiation.checksum() {
            return None;
        }
        Some(self.sum_of(data, subflow_sequence, length, payload))
    }

    #[inline(never)]
    fn sum_of(&self, data: u64, subflow_sequence: u32, length: u16, payload: &[u8]) -> u16 {
        let mut sum = Checksum::dss(self.negotiation.local().at(data), subflow_sequence, length);
        sum.add(payload);
        sum.value()
    }

    /// The DATA_ACK: 64 bits if the peer uses 64-bit numbers (RFC 8684 section 3.3.2), otherwise 32, which leaves space
    /// for SACK.
    pub(crate) fn data_ack(&self) -> DataSequence {
        let first = self.negotiation.remote().map_or(0, |key| key.first);
        let number = first.wrapping_add(self.recv.acknowledged());
        if self.recv.uses_wide_data_acks() && self.config.wide_data_acks {
            return DataSequence::Wide(number);
        }
        DataSequence::Short(number as u32)
    }

    /// Writes addresses, acknowledgement, window and timestamps.
    #[inline(always)]
    pub(crate) fn header(&mut self, now: Instant, id: usize, segment: &mut Segment) {
        let window = self.recv.window();
        fill_header(&mut self.subflows[id], now, window, segment);
        debug_assert!(!self.is_initial(id) || id == 0, "only the first subflow is initial");
    }

    /// Adds MP_FAIL, which accompanies each acknowledgement until the peer answers with MP_FAIL or the infinite
    /// mapping. A single one could be lost, and the peer would wait for DATA_ACKs (RFC 8684 section 3.7).
    #[cold]
    fn add_failure(&self, number: u64, segment: &mut Segment) {
        segment.options.mptcp.push(MptcpOption::Fail(number));
        segment.options.dss = Some(Dss { ack: Some(self.data_ack()), mapping: None, data_fin: false });
    }
}

/// Writes addresses, acknowledgement, window and timestamps of a subflow, and records the advertised `window`.
#[inline(always)]
fn fill_header(subflow: &mut Subflow, now: Instant, window: u64, segment: &mut Segment) {
    subflow.window_mut().advertised = window;
    subflow.record_mut().stats.segments_sent += 1;
    segment.reset(subflow.addresses().local, subflow.addresses().remote);
    // RFC 3168 section 6.1.3: every acknowledgement carries ECE until the peer answers with CWR.
    segment.flags = if subflow.echo().is_on() { Flags::ACK | Flags::ECE } else { Flags::ACK };
    segment.acknowledgment = subflow.handshake().irs + subflow.receiver().next() as u32;
    segment.window = (window >> subflow.negotiated().receive_scale).min(65_535) as u16;
    segment.options.timestamps = subflow.timestamps_at(now);
}
