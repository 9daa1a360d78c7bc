//! What a segment says at the data level: acknowledgements, the window, mappings, payload.
//!
//! Owns the way from a DSS option to the stream; the subflow's own sequence numbers were dealt with before.

use bytes::Bytes;
use mptcp_clock::Instant;
use mptcp_wire::{DataSequence, Dss, Mapping, ResetReason, Segment};

use super::incoming::Placed;
use super::{Connection, Mode};
use crate::memory::most_pieces;
use crate::subflow::Subflow;
use crate::subflow::mapping::{ReceivedMapping, WireMapping};
use crate::subflow::receiver::Arrival;

impl Connection {
    pub(super) fn take_data_ack(&mut self, now: Instant, dss: &Dss) {
        let Some(offset) = dss.ack.and_then(|ack| self.local_key.offset(ack, self.outgoing.una)) else {
            return;
        };
        if offset == self.outgoing.written() + 1 && self.data_fin_sent {
            self.data_fin_acknowledged = true;
            self.acknowledge_data(now, offset - 1);
            self.finish_if_done(now);
        } else {
            self.acknowledge_data(now, offset);
        }
    }

    pub(super) fn acknowledge_data(&mut self, now: Instant, offset: u64) {
        if self.outgoing.acknowledge(offset) == 0 {
            return;
        }
        self.timers.data_progress(now);
        self.wake_writer();
        if self.mode == Mode::Plain {
            self.finish_if_done(now);
        }
    }

    /// The peer's window: its right edge counts from the data-level acknowledgement, and is the
    /// furthest over all subflows (RFC 8684 section 3.3.4).
    pub(super) fn note_window(&mut self, id: usize, segment: &Segment) {
        let subflow = &self.subflows[id];
        let scale = if segment.flags.syn() { 0 } else { subflow.send_scale };
        let window = u64::from(segment.window) << scale;
        let from = match (self.mode, segment.options.dss.and_then(|dss| dss.ack)) {
            (Mode::Multipath, Some(ack)) => self.local_key.offset(ack, self.outgoing.una),
            (Mode::Plain, _) if subflow.is_synchronised() => {
                subflow.send_offset(segment.acknowledgment).map(|ack| subflow.stream_offset(ack))
            }
            // Who still sends keys has received nothing. Without any of these it may be late, and its
            // window may count from less than what is acknowledged now.
            (Mode::Multipath, None) => super::offers::capable(&segment.options).map(|_| 0),
            _ => Some(self.outgoing.una),
        };
        let Some(from) = from.filter(|&from| from <= self.outgoing.next + 1) else { return };
        self.outgoing.largest_window = self.outgoing.largest_window.max(window);
        if self.mode == Mode::Plain && self.subflows[id].is_synchronised() {
            if !self.subflows[id].window_is_news(segment) {
                return;
            }
            // RFC 9293 section 3.8.6: a window may shrink, and nothing new goes where it was. Over several subflows no order
            // tells which window is the last one, and the furthest edge holds (RFC 8684 section 3.3.4).
            self.outgoing.edge = self.outgoing.edge.min(from + window);
        }
        if from + window > self.outgoing.edge {
            self.outgoing.edge = from + window;
            self.timers.window_opened();
        }
    }

    /// Stores a mapping, and the DATA_FIN that may stand at its end. False when the payload of the segment must not be
    /// taken: its mapping has no place, or ended the subflow.
    pub(super) fn take_mapping(
        &mut self,
        now: Instant,
        id: usize,
        mapping: Mapping,
        data_fin: bool,
        start: u64,
        end: u64,
    ) -> bool {
        let Some(remote) = self.remote_key else { return true };
        // A number before the stream's first maps nothing that can be taken.
        let Some(data) = remote.offset(mapping.sequence, self.incoming.next) else { return false };
        if mapping.length == 0 {
            // RFC 8684 section 3.7 speaks of the data that it maps: without any it says nothing.
            if end > start {
                self.on_infinite_mapping(now, id);
            }
            return !self.subflows[id].is_closed();
        }
        if self.checksum && mapping.checksum.is_none() {
            // RFC 8684 section 3.3: without the checksum that was agreed on, the subflow is broken.
            self.reset_subflow(now, id, Some(ResetReason::MPTCP));
            return false;
        }
        let length = u64::from(mapping.length) - u64::from(data_fin);
        if data_fin {
            // RFC 8684 section 3.3.3: it takes the last number of the mapping.
            self.take_data_fin(id, data + length);
        }
        let subflow = &mut self.subflows[id];
        let next = subflow.receiver.next();
        if length > 0 && start <= next {
            self.wide_numbers = matches!(mapping.sequence, DataSequence::Wide(_));
        }
        let distance = mapping.subflow_sequence.wrapping_sub(next as u32) as i32;
        let Some(from) = next.checked_add_signed(i64::from(distance)) else { return true };
        if length == 0 || (from, from + length) == (start, end) && start < next {
            return true;
        }
        let checksum = mapping.checksum.filter(|_| self.checksum).map(|checksum| WireMapping {
            dsn: remote.at(data),
            subflow_sequence: mapping.subflow_sequence,
            length: mapping.length,
            checksum,
        });
        if from > next && !self.has_room_for_mapping() {
            return false;
        }
        let mapper = &mut self.subflows[id].mapper;
        mapper.announce(ReceivedMapping { start: from, length, data, checksum }, next)
    }

    fn take_data_fin(&mut self, id: usize, offset: u64) {
        self.subflows[id].receiver.acknowledge_now();
        self.incoming.end_at(offset);
    }

    pub(super) fn take_payload(&mut self, now: Instant, id: usize, start: u64, payload: Bytes) {
        if start > self.subflows[id].receiver.next() && !self.has_room_out_of_order(payload.len() as u64) {
            // It counts as lost: the peer sends it again.
            return self.subflows[id].receiver.acknowledge_now();
        }
        let (subflow, incoming) = (&mut self.subflows[id], &mut self.incoming);
        let Subflow { receiver, mapper, .. } = subflow;
        let before = incoming.next;
        let (mut fault, mut filled, mut rest) = (None, false, Vec::new());
        let arrival = receiver.on_data(now, start, payload, |offset, bytes| {
            if fault.is_some() {
                rest.push(bytes);
                return;
            }
            let result = mapper.map(offset, bytes, |data, bytes| {
                filled |= incoming.place(data, bytes) == Placed::Filled;
            });
            if let Err((error, unmapped)) = result {
                fault = Some(error);
                rest.push(unmapped);
            }
        });
        if filled && arrival == Arrival::InOrder {
            receiver.acknowledge_now();
        }
        if self.incoming.next > before {
            self.happenings.readable = true;
        }
        if let Some(error) = fault {
            self.on_mapping_fault(now, id, rest, error);
        }
    }

    /// In TCP, where an acknowledgement of the subflow is one of the stream, what lies beyond the window is cut off: it is not
    /// acknowledged, and comes again (RFC 9293 section 3.10.7.4). Says whether anything was.
    pub(super) fn fit_window(&mut self, id: usize, start: u64, mut payload: Bytes) -> (Bytes, bool) {
        let subflow = &mut self.subflows[id];
        let end = start + payload.len() as u64;
        let over = match subflow.mapper.data_at(end) {
            Some(end) if self.mode == Mode::Plain => end.saturating_sub(self.incoming.limit()),
            _ => 0,
        };
        if over > 0 {
            payload.truncate(payload.len().saturating_sub(over as usize));
            subflow.receiver.acknowledge_now();
        }
        (payload, over > 0)
    }

    /// Whether what waits out of order on all subflows may grow. The window is one for all of them (RFC 8684 section
    /// 3.3.1), and data that several carry waits on each: twice the buffer is what honest peers need, in bytes and in
    /// pieces.
    fn has_room_out_of_order(&self, more: u64) -> bool {
        let queues =
            self.subflows.iter().map(|subflow| subflow.receiver.queue()).chain([self.incoming.early()]);
        let (bytes, pieces) =
            queues.fold((0, 0), |sum, queue| (sum.0 + queue.bytes(), sum.1 + queue.pieces()));
        let most = 2 * most_pieces(self.config.receive_buffer);
        bytes + more <= 2 * self.incoming.buffer() + 65_536 && pieces < most
    }

    /// Whether a mapping of data that is not next has a place among those of all subflows.
    fn has_room_for_mapping(&self) -> bool {
        let mappings: usize = self.subflows.iter().map(|subflow| subflow.mapper.mappings()).sum();
        mappings < 2 * most_pieces(self.config.receive_buffer)
    }
}
