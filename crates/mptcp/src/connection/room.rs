//! Room in the send buffer, who waits for it, and why there is none.
//!
//! Owns its size: what was set, what M3 makes of it, what Linux would have. The bytes are `send_buffer`'s.

use mptcp_clock::{Duration, Instant};

use super::Connection;
use super::limits::Limit;
use crate::event::EventKind;
use crate::linux_stack::{FRAGMENT, memory_of, send_memory, tuned_send_memory};

impl Connection {
    /// Somebody waits for room in the send buffer.
    pub(crate) fn await_room(&mut self) {
        self.send.writer.set_waiting(true);
    }

    /// Tells a writer that waits of the room there is.
    #[inline(always)]
    pub(super) fn wake_writer(&mut self, now: Instant) {
        if self.send.writer.waits() && !self.has_no_room_yet() {
            let buffer = self.send_buffer();
            self.send.tuned = buffer;
            let unsent = self.send.buffer.unsent();
            // `sk_stream_write_space` (net/core/stream.c).
            let patient = self.config.linux_stack.buffer_memory;
            let room = if patient { buffer.saturating_sub(self.held()) } else { self.room(buffer) };
            // As Linux: where little may wait, half of it has to be gone.
            let early = self.config.notsent_lowat.is_some_and(|most| unsent * 2 >= most);
            if !early && self.send.writer.wake(unsent, room, buffer, patient) {
                self.send.writer.note_woken(now);
                self.fate.pending.note(EventKind::Writable);
            }
        }
    }

    /// Whether there is certainly too little to tell a writer of, as nearly always where the buffer has one size and counts bytes.
    #[inline(always)]
    fn has_no_room_yet(&self) -> bool {
        let size = self.config.send_buffer;
        let fixed = !self.config.linux_stack.buffer_memory && !self.config.mechanisms.autotuning;
        fixed && self.send.writer.needs_more(self.send.buffer.unsent(), self.send.buffer.held(), size)
    }

    /// Room in the send buffer, bytes.
    pub(crate) fn writable(&self) -> u64 {
        self.room(self.send_buffer())
    }

    #[inline(always)]
    fn room(&self, buffer: u64) -> u64 {
        let room = if self.config.linux_stack.buffer_memory {
            self.linux_room(buffer)
        } else {
            buffer.saturating_sub(self.send.buffer.held())
        };
        let waiting = self.send.buffer.unsent();
        self.config.notsent_lowat.map_or(room, |most| room.min(most.saturating_sub(waiting)))
    }

    /// The same by memory: whoever finds any room fills the fragment (`mptcp_sendmsg`).
    #[inline(never)]
    fn linux_room(&self, buffer: u64) -> u64 {
        let room = buffer.saturating_sub(self.held());
        if room == 0 || !self.negotiation.is_multipath() {
            return room;
        }
        let end = (self.send.buffer.una() + buffer).next_multiple_of(FRAGMENT);
        end - self.send.buffer.written()
    }

    /// What is written takes so much of the send buffer: of memory, in a TCP of Linux's; the data level of Linux's Multipath TCP
    /// counts bytes.
    #[inline(never)]
    fn held(&self) -> u64 {
        let buffer = &self.send.buffer;
        match self.congestion.paths.first() {
            Some(path) if self.config.linux_stack.buffer_memory && self.negotiation.is_plain() => {
                send_memory(buffer.unsent(), buffer.next() - buffer.una(), path.mss)
            }
            _ => buffer.held(),
        }
    }

    /// The send buffer's size now. With M3 it follows twice what all paths can hold, in the formula
    /// of RFC 8684 section 3.3.4: the sum of rates times the longest round-trip time.
    #[inline]
    pub(super) fn send_buffer(&self) -> u64 {
        if self.config.linux_stack.buffer_memory && !self.negotiation.is_open() {
            return self.send_memory_of_all();
        }
        if self.config.mechanisms.autotuning { self.tuned_send_buffer() } else { self.config.send_buffer }
    }

    #[inline(never)]
    fn tuned_send_buffer(&self) -> u64 {
        let active = self.congestion.paths.iter().filter(|path| path.active);
        let (mut rate, mut longest) = (0.0_f64, Duration::ZERO);
        for path in active {
            if let Some(rtt) = path.srtt {
                rate += path.cwnd as f64 / rtt.as_secs_f64().max(1e-6);
                longest = longest.max(rtt);
            }
        }
        let wanted = (2.0 * rate * longest.as_secs_f64()) as u64;
        let kept = if self.config.mechanisms.send_buffer_shrinks { 0 } else { self.send.tuned };
        wanted.max(65_536).max(kept).min(self.config.send_buffer)
    }

    /// The same as Linux has it: SO_SNDBUF twice, or the sum of what the subflows' have become (net/mptcp/protocol.h,
    /// `__mptcp_sync_sndbuf`).
    #[inline(never)]
    fn send_memory_of_all(&self) -> u64 {
        let most = memory_of(self.config.send_buffer);
        if !self.config.mechanisms.autotuning {
            return most;
        }
        if let Some(path) = self.congestion.paths.first().filter(|_| self.negotiation.is_plain()) {
            return tuned_send_memory(path.cwnd, path.mss).max(self.send.tuned).min(most);
        }
        let live = self.subflows.iter().filter(|subflow| !subflow.is_closed());
        live.map(|subflow| subflow.backlog().memory().min(most)).sum::<u64>().max(16_384)
    }

    /// Whether the peer has received data it cannot deliver yet: more is acknowledged by subflows
    /// than at the data level.
    pub(super) fn peer_holds_early_data(&self) -> bool {
        let boards = self.subflows.iter().map(|subflow| &subflow.sender().board);
        let outstanding: u64 = boards.filter(|board| board.una > 0).map(|board| board.next - board.una).sum();
        self.negotiation.is_multipath() && self.send.buffer.next() - self.send.buffer.una() > outstanding
    }

    /// Why nothing is left to send: the application, or a send buffer full of data in flight. When
    /// the windows have no room either, a larger buffer would not help.
    #[inline(never)]
    pub(super) fn writer_limit(&self, room: bool) -> Limit {
        if !self.send.writer.waits() {
            Limit::Application
        } else if !room {
            Limit::CongestionWindow
        } else if self.peer_holds_early_data() {
            Limit::HeadOfLine
        } else {
            Limit::SendBuffer
        }
    }
}
