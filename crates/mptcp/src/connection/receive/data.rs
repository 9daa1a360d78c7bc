//! Reception of stream data: mappings, DATA_FIN and payload.
//!
//! Owns the step from a subflow's bytes to the connection's stream, by the mappings in DSS options. Never
//! checks sequence numbers of the subflow: `Subflow::check` has done so.

use bytes::Bytes;
use mptcp_clock::Instant;
use mptcp_wire::{DataSequence, Mapping, ResetReason};

use crate::connection::close::{Outcome, SubflowError};
use crate::connection::stream::recv::Placed;
use crate::connection::{Admission, Connection};
use crate::event::EventKind;
use crate::memory::most_pieces;
use crate::subflow::mapping::{MappingFault, ReceivedMapping, WireMapping};
use crate::subflow::receiver::Arrival;

impl Connection {
    /// Stores a mapping and the DATA_FIN at its end. `near` means that the segment is close to the expected sequence
    /// number. Returns `false` if the payload must be dropped: no space is left for its mapping, or the mapping is
    /// valid in order only.
    #[inline(always)]
    pub(crate) fn process_mapping(
        &mut self,
        now: Instant,
        id: usize,
        mapping: Mapping,
        (data_fin, near): (bool, bool),
        start: u64,
        end: u64,
    ) -> Outcome<bool> {
        let Some(remote) = self.negotiation.remote() else { return Ok(true) };
        // Data before the start of the stream cannot be received.
        let Some(data) = remote.offset(mapping.sequence, self.recv.next()) else { return Ok(false) };
        if mapping.length == 0 {
            // RFC 8684 section 3.7: an infinite mapping without data has no meaning.
            if end > start {
                if start != self.subflows[id].receiver().next() {
                    // An infinite mapping ends MPTCP, and an off-path host must not forge it. It is accepted only at
                    // the next sequence number, at which the peer retransmits it.
                    return Ok(false);
                }
                self.on_infinite_mapping(now, id)?;
            }
            return Ok(true);
        }
        if self.negotiation.checksum() != mapping.checksum.is_some() {
            // RFC 8684 section 3.3: a checksum that contradicts the negotiation breaks the subflow. A segment out of
            // order may be forged, and breaks nothing.
            let in_order = start <= self.subflows[id].receiver().next();
            return if in_order { Err(SubflowError::because(ResetReason::MPTCP)) } else { Ok(false) };
        }
        let length = u64::from(mapping.length) - u64::from(data_fin);
        if data_fin && (near || matches!(mapping.sequence, DataSequence::Wide(_))) {
            // An 8-byte number cannot be guessed, so the DATA_FIN is not forged. RFC 8684 section 3.3.3: the DATA_FIN
            // occupies the last number of the mapping.
            self.process_data_fin(id, data + length);
        }
        let subflow = &mut self.subflows[id];
        let next = subflow.receiver().next();
        if length > 0 && start <= next {
            self.recv.set_wide_data_acks(matches!(mapping.sequence, DataSequence::Wide(_)));
        }
        let distance = mapping.subflow_sequence.wrapping_sub(next as u32) as i32;
        let Some(from) = next.checked_add_signed(i64::from(distance)) else { return Ok(true) };
        if length == 0 || (from, from + length) == (start, end) && start < next {
            return Ok(true);
        }
        let checksum = mapping.checksum.filter(|_| self.negotiation.checksum()).map(|checksum| WireMapping {
            dsn: remote.at(data),
            subflow_sequence: mapping.subflow_sequence,
            length: mapping.length,
            checksum,
        });
        if from > next && !self.has_room_for_mapping() {
            return Ok(false);
        }
        let mapper = self.subflows[id].mapper_mut();
        Ok(mapper.announce(ReceivedMapping { start: from, length, data, checksum }, next))
    }

    #[cold]
    fn process_data_fin(&mut self, id: usize, offset: u64) {
        self.subflows[id].receiver_mut().acknowledge_now();
        self.recv.end_at(offset);
    }

    /// Processes payload at an offset of a subflow.
    #[inline(always)]
    pub(crate) fn process_payload(&mut self, now: Instant, id: usize, start: u64, payload: Bytes) -> Outcome {
        let (subflow, incoming) = (&mut self.subflows[id], &mut self.recv);
        let (receiver, mapper) = subflow.receiving();
        if !receiver.takes_at_once(start) {
            return self.take_other_payload(now, id, start, payload);
        }
        // The common case: in-order payload within the window and a known mapping, with no data waiting behind it.
        let length = payload.len() as u64;
        let Some(data) = mapper.place_of(start, length).filter(|&data| incoming.takes(data, length)) else {
            return self.map_payload(now, id, start, payload);
        };
        receiver.take_next(now, length);
        let old_next = incoming.next();
        let fills_gap = incoming.place(data, payload) == Placed::Filled;
        if fills_gap && !self.config.linux_stack.buffer_memory {
            receiver.acknowledge_now();
        }
        if incoming.next() > old_next {
            self.lifecycle.note(EventKind::Readable);
        }
        Ok(())
    }

    /// Processes in-order payload that may have several mappings, a pending checksum or no space.
    #[inline(never)]
    fn map_payload(&mut self, now: Instant, id: usize, start: u64, payload: Bytes) -> Outcome {
        let admission = self.admits(now, id, start, payload.len() as u64);
        if admission == Admission::Refused {
            self.subflows[id].receiver_mut().acknowledge_now();
            return Ok(());
        }
        let (subflow, incoming) = (&mut self.subflows[id], &mut self.recv);
        let (receiver, mapper) = subflow.receiving();
        receiver.take_next(now, payload.len() as u64);
        let (old_next, mut fills_gap) = (incoming.next(), false);
        let mapped = mapper.map(start, payload, |data, bytes| {
            if admission == Admission::Kept {
                fills_gap |= incoming.place(data, bytes) == Placed::Filled;
            }
        });
        if fills_gap && !self.config.linux_stack.buffer_memory {
            receiver.acknowledge_now();
        }
        if incoming.next() > old_next {
            self.lifecycle.note(EventKind::Readable);
        }
        match mapped {
            Ok(()) => Ok(()),
            Err((fault, rest)) => self.on_mapping_fault(now, id, vec![rest], fault),
        }
    }

    /// Processes the payload of a SYN/ACK.
    #[inline(never)]
    pub(crate) fn take_payload_of_syn(&mut self, now: Instant, id: usize, payload: Bytes) -> Outcome {
        self.process_payload(now, id, 1, payload)
    }

    /// Processes the FIN of a SYN/ACK, after its payload.
    #[cold]
    pub(crate) fn take_fin_of_syn(&mut self, now: Instant, id: usize, offset: u64) {
        let receiver = self.subflows[id].receiver_mut();
        receiver.on_fin(offset);
        if receiver.finished() {
            self.note_fin(now, id);
        }
        if self.recv.report_finish() {
            self.note_end(now);
        }
    }

    #[inline(never)]
    fn take_other_payload(&mut self, now: Instant, id: usize, start: u64, payload: Bytes) -> Outcome {
        let length = payload.len() as u64;
        let fits = start <= self.subflows[id].receiver().next() || self.has_room_out_of_order(length);
        let admission = if fits { self.admits(now, id, start, length) } else { Admission::Refused };
        if admission == Admission::Refused {
            // The payload counts as lost, and the peer retransmits it.
            self.subflows[id].receiver_mut().acknowledge_now();
            return Ok(());
        }
        let (subflow, incoming) = (&mut self.subflows[id], &mut self.recv);
        let (receiver, mapper) = subflow.receiving();
        let old_next = incoming.next();
        let (mut fault, mut fills_gap, mut unmapped_data) = (None, false, Vec::new());
        let arrival = receiver.on_data(now, start, payload, |offset, bytes| {
            if fault.is_some() {
                unmapped_data.push(bytes);
                return;
            }
            let is_kept = admission == Admission::Kept || offset >= start + length;
            let result = mapper.map(offset, bytes, |data, bytes| {
                if is_kept {
                    fills_gap |= incoming.place(data, bytes) == Placed::Filled;
                }
            });
            if let Err((error, unmapped)) = result {
                fault = Some(error);
                unmapped_data.push(unmapped);
            }
        });
        if fills_gap && arrival == Arrival::InOrder && !self.config.linux_stack.buffer_memory {
            receiver.acknowledge_now();
        }
        if self.recv.next() > old_next {
            self.lifecycle.note(EventKind::Readable);
        }
        match fault {
            Some(error) => self.on_mapping_fault(now, id, unmapped_data, error),
            None => Ok(()),
        }
    }

    /// Whether `more` bytes may wait out of order. All subflows share the window (RFC 8684 section 3.3.1),
    /// and reinjected data may wait on several subflows. Correct peers need at most twice the buffer, in
    /// bytes and in pieces.
    fn has_room_out_of_order(&self, more: u64) -> bool {
        let queues =
            self.subflows.iter().map(|subflow| subflow.receiver().queue()).chain([self.recv.early()]);
        let (bytes, pieces) =
            queues.fold((0, 0), |sum, queue| (sum.0 + queue.bytes(), sum.1 + queue.pieces()));
        let max_pieces = 2 * most_pieces(self.config.receive_buffer);
        bytes + more <= 2 * self.recv.buffer() + 65_536 && pieces < max_pieces
    }

    /// Whether another mapping of out-of-order data may be stored.
    fn has_room_for_mapping(&self) -> bool {
        let mappings: usize = self.subflows.iter().map(|subflow| subflow.mapper().mappings()).sum();
        mappings < 2 * most_pieces(self.config.receive_buffer)
    }

    /// Handles data that the mapper could not map (`close/fallback.rs`).
    #[cold]
    pub(crate) fn on_mapping_fault(
        &mut self,
        now: Instant,
        id: usize,
        rest: Vec<Bytes>,
        fault: MappingFault,
    ) -> Outcome {
        match fault {
            MappingFault::Unmapped => self.on_unmapped(now, id, rest),
            MappingFault::BadChecksum { data } => self.on_bad_checksum(now, id, data, rest),
        }
    }
}
