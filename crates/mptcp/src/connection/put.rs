//! Stream data goes on a subflow: cut off what was written, or carried again.
//!
//! Owns what has to be noted of it at both levels, and its pace. Which data that is, and where it goes, was decided before.

use bytes::Bytes;
use mptcp_clock::Instant;
use mptcp_wire::Segment;

use super::Connection;
use super::segments::Piece;
use super::send_buffer::{Chunk, Put};

impl Connection {
    /// New data that is not the scheduler's to give.
    #[inline(never)]
    pub(super) fn send_out_of_turn(
        &mut self,
        now: Instant,
        id: usize,
        size: u64,
        out: &mut Segment,
    ) -> usize {
        self.choice.sent = usize::MAX;
        self.send_new(now, id, size, out)
    }

    #[inline(always)]
    pub(super) fn send_new(&mut self, now: Instant, id: usize, size: u64, out: &mut Segment) -> usize {
        let data = self.send.buffer.next();
        let mss = self.congestion.paths[id].mss;
        let payload = self.send.buffer.cut(size, mss);
        if (payload.len() as u64) < mss && self.send.buffer.note_small(data) {
            let end = self.subflows[id].sender().board.next + payload.len() as u64;
            self.subflows[id].backlog_mut().note_small(end);
        }
        self.wake_writer(now);
        if !self.negotiation.is_plain() {
            let end = self.subflows[id].sender().board.next + payload.len() as u64;
            let put = Put { subflow: self.subflow_id(id), end };
            self.choice.leads.watch(id, put.subflow, end, self.send.buffer.next());
            self.send.buffer.send(Chunk::new(data, payload.clone(), put));
        }
        let fin = self.config.linux_compat.fin_with_data && self.ends_with_data();
        let sent = self.put(now, id, data, payload, fin, out);
        if self.send.writer.is_closed() && self.config.pacing {
            self.hold_the_last(now, id);
        }
        sent
    }

    /// Whether what was cut last is the end of a TCP's stream.
    #[cold]
    fn ends_with_data(&self) -> bool {
        self.negotiation.is_plain() && self.send.writer.is_closed() && self.send.buffer.unsent() == 0
    }

    /// Puts stream data on a subflow as new subflow data.
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
        let piece = Piece { start, data, whole: None, fin };
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

    /// The same for data that was on another one before.
    #[inline(never)]
    pub(super) fn put_again(
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
