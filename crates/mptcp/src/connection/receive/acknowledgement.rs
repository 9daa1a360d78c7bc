//! Reception of acknowledgements at the data level: DATA_ACKs and the peer's receive window.
//!
//! A DATA_ACK frees data in the send buffer, and the window permits new data. Owns these updates of the send
//! buffer. Never touches the subflow's own acknowledgements (`process_ack`).

use mptcp_clock::Instant;
use mptcp_wire::{Dss, Segment};

use crate::connection::handshake::negotiation::ReceiptQuery;
use crate::connection::{Connection, Mode};

/// The position of a segment that updates the window: its offset and its acknowledgement on the subflow, and
/// the stream offset of its DATA_ACK. `None` if unknown or absent.
pub(crate) struct WindowUpdate {
    pub start: Option<u64>,
    pub ack: Option<u64>,
    pub acknowledged: Option<u64>,
}

impl Connection {
    /// Processes a DATA_ACK. Returns its offset in the stream.
    #[inline(always)]
    pub(crate) fn process_data_ack(&mut self, now: Instant, dss: &Dss) -> Option<u64> {
        let offset = self.negotiation.local().offset(dss.ack?, self.send.una())?;
        if offset == self.send.written() + 1 && self.data_fin.is_sent() {
            self.data_fin.acknowledge();
            self.acknowledge_data(now, offset - 1);
            self.finish_if_done(now);
        } else {
            self.acknowledge_data(now, offset);
        }
        Some(offset)
    }

    #[inline(always)]
    pub(crate) fn acknowledge_data(&mut self, now: Instant, offset: u64) {
        if offset > self.send.una() {
            self.acknowledge_more(now, offset);
        } else if self.negotiation.receipt_query() == ReceiptQuery::Asked {
            self.negotiation.set_receipt_query(ReceiptQuery::Answered);
        }
    }

    #[inline(never)]
    fn acknowledge_more(&mut self, now: Instant, offset: u64) {
        if self.send.acknowledge(offset) == 0 {
            return;
        }
        self.data_ack_leads.on_data_acknowledged(now, offset);
        self.timers.on_data_acked(now);
        self.negotiation.set_receipt_query(ReceiptQuery::None);
        self.wake_writer(now);
        if self.negotiation.is_plain() {
            self.finish_if_done(now);
        }
    }

    /// Processes the window of a segment whose position is not known. The window's right edge is relative to
    /// the DATA_ACK, and the maximum over all subflows applies (RFC 8684 section 3.3.4).
    #[inline(never)]
    pub(crate) fn note_window(&mut self, now: Instant, id: usize, segment: &Segment) {
        let (start, ack) = self.subflows[id].place_of(segment);
        let acknowledged =
            segment.options.dss.and_then(|dss| self.negotiation.local().offset(dss.ack?, self.send.una()));
        self.process_window(now, id, segment, WindowUpdate { start, ack, acknowledged });
    }

    /// Processes the window of a segment at a known position.
    #[inline(always)]
    pub(crate) fn process_window(&mut self, now: Instant, id: usize, segment: &Segment, place: WindowUpdate) {
        let WindowUpdate { start, ack, acknowledged } = place;
        let subflow = &mut self.subflows[id];
        let scale = if segment.flags.syn() { 0 } else { subflow.negotiated().send_scale };
        let window = u64::from(segment.window) << scale;
        if ack == Some(subflow.sender().board.una) {
            subflow.window_mut().heard = window;
        }
        let plain = self.negotiation.is_plain() && subflow.is_synchronised();
        let has_ack = || segment.options.dss.as_ref().is_some_and(|dss| dss.ack.is_some());
        let from = match self.negotiation.mode() {
            _ if plain => ack.map(|ack| subflow.stream_offset(ack)),
            Mode::Multipath if has_ack() => acknowledged,
            // A peer that still sends keys has received nothing. A segment without keys or DATA_ACK may be old, and its
            // window may be relative to an older acknowledgement.
            Mode::Multipath => crate::connection::handshake::options::capable(&segment.options).map(|_| 0),
            _ => Some(self.send.una()),
        };
        let Some(from) = from.filter(|&from| from <= self.send.next() + 1) else { return };
        let window = match (start, ack) {
            // The peer's sequence numbers are known after its SYN.
            (Some(start), Some(ack))
                if !plain
                    && self.config.linux_stack.windows_by_subflow
                    && self.config.linux_stack.has_data_level_timer()
                    && !segment.flags.syn() =>
            {
                subflow.update_snd_wnd(start, ack, window)
            }
            _ => window,
        };
        self.send.note_window(window);
        if plain {
            let (Some(start), Some(ack)) = (start, ack) else { return };
            if !subflow.is_window_update(start, ack) {
                return;
            }
        }
        // RFC 9293 section 3.8.6: a window may shrink, and no new data is sent beyond it. Across subflows the order of
        // windows is unknown, so the maximum applies (RFC 8684 section 3.3.4).
        if self.send.offer(from, window, plain) {
            if self.timers.is_probing_window() {
                self.on_window_opened(id);
            }
            if self.config.linux_stack.subflow_queues {
                self.push_pending(now);
            }
        }
    }

    /// Stops the window probes if the window has opened far enough for a segment.
    #[cold]
    fn on_window_opened(&mut self, id: usize) {
        let buffer = &self.send;
        let enough = self.congestion.paths[id].mss.min(buffer.unsent()).min(buffer.largest_window() / 2);
        self.timers.on_window_opened_by(buffer.window_space() >= enough);
    }

    /// Applies the subflow's acknowledgement to the stream of a TCP connection, which has no DATA_ACK.
    pub(crate) fn acknowledge_plainly(&mut self, now: Instant, id: usize) {
        let subflow = &self.subflows[id];
        let offset = subflow.stream_offset(subflow.sender().board.una).min(self.send.next());
        self.acknowledge_data(now, offset);
    }
}
