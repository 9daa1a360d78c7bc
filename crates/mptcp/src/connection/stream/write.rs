//! What the application writes, and which segments are pushed (RFC 9293 section 3.9.1.2).
//!
//! Owns the flags of writes. Where they end is kept in `write_ends`, the bytes themselves in `send_buffer`.
//!
//! Room in the send buffer, who waits for it, and why there is none.
//!
//! Owns its size: what was set, what M3 makes of it, what Linux would have. The bytes are `send_buffer`'s.

use bytes::Bytes;
use mptcp_clock::{Duration, Instant};

use crate::connection::Connection;
use crate::connection::observe::limits::Limit;
use crate::event::EventKind;
use crate::linux_stack::{FRAGMENT, memory_of, send_memory, tuned_send_memory};

/// What goes with a write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteFlags {
    /// More follows at once: what fills no segment waits for it, until the next write without this, until the peer
    /// acknowledges something, or for 200 ms (Linux's MSG_MORE).
    pub more: bool,
    /// A record ends with the last byte, if all is taken: what is written later goes in other segments (Linux's MSG_EOR).
    pub end_of_record: bool,
}

impl Connection {
    /// Writes as much of `data` as the send buffer has room for, without copying; returns how many
    /// bytes that was. After 0, [`crate::EventKind::Writable`] says when to try again.
    pub(crate) fn write(&mut self, data: &Bytes, flags: WriteFlags) -> usize {
        if self.writer.is_closed() || self.lifecycle.closed().is_some() {
            return 0;
        }
        let taken = (data.len() as u64).min(self.writable()) as usize;
        let all = taken == data.len();
        self.writer.set_blocked(!all);
        // As Linux: a writer that has to wait holds nothing back meanwhile.
        let more = flags.more && all;
        self.writer.set_more(more);
        if taken > 0 {
            let start = self.send.written();
            self.send.write(data, taken);
            self.note_end_of_write(start, more, flags.end_of_record && all);
        }
        taken
    }

    /// Puts data that a SYN carried, or had no room for, before all that is unsent.
    pub(crate) fn put_back(&mut self, data: Bytes) {
        let length = data.len() as u64;
        let habit = self.config.linux_compat.push_where_writes_end;
        let buffer = &mut self.send;
        buffer.write_ends_mut().shift(length);
        // What was put back before ends where this does, or behind it.
        if habit && buffer.unsent() == 0 {
            let end = buffer.written() + length;
            buffer.write_ends_mut().note(end, end, end, false);
        }
        buffer.put_back(data);
    }

    /// What waits because more was to follow waits no longer.
    pub(crate) fn end_more(&mut self) {
        self.writer.set_more(false);
        if self.config.linux_compat.push_where_writes_end && self.send.unsent() > 0 {
            let (at, next) = (self.send.written(), self.send.next());
            self.send.write_ends_mut().note(at, at, next, false);
        }
    }

    /// The largest window that the peer has ever offered, bytes.
    #[must_use]
    pub fn largest_window(&self) -> u64 {
        self.send.largest_window()
    }

    #[inline]
    fn note_end_of_write(&mut self, start: u64, more: bool, record: bool) {
        let habit = self.config.linux_compat.push_where_writes_end;
        if !habit && !record {
            return;
        }
        let buffer = &mut self.send;
        let (at, next, largest) = (buffer.written(), buffer.next(), buffer.largest_window());
        // Linux's forced_push: whatever follows, a peer is not left without for more than half of its window.
        let forced = at > buffer.write_ends().pushed() + largest / 2;
        if record || !more || forced {
            buffer.write_ends_mut().note(start, at, next, record);
        }
    }

    /// Whether a segment is pushed that ends at an offset of the stream: one behind which nothing waits (RFC 9293 section
    /// 3.9.1.2, MUST-61), or with which a record ends. Linux pushes where any write ended, and what the device cuts.
    #[inline(always)]
    pub(crate) fn pushes(&self, end: u64, length: u64, slot: usize) -> bool {
        if self.config.linux_stack.subflow_queues && self.negotiation.is_multipath() {
            // What ends a row of data on a subflow (net/mptcp/protocol.c, `mptcp_sendmsg_frag`; net/ipv4/tcp.c, `tcp_push`).
            return self.subflows[slot].backlog().first_data() != Some(end);
        }
        let large = if self.config.linux_compat.push_where_writes_end {
            length > self.congestion.paths[slot].mss
        } else {
            self.send.unsent() == 0
        };
        large || self.send.write_ends().has(end)
    }
}

impl Connection {
    /// Somebody waits for room in the send buffer.
    pub(crate) fn await_writable(&mut self) {
        self.writer.set_blocked(true);
    }

    /// Tells a writer that waits of the room there is.
    #[inline(always)]
    pub(crate) fn wake_writer(&mut self, now: Instant) {
        if self.writer.is_blocked() && !self.must_wait_for_space() {
            let buffer = self.send_buffer();
            self.send.set_tuned(buffer);
            let unsent = self.send.unsent();
            // `sk_stream_write_space` (net/core/stream.c).
            let patient = self.config.linux_stack.buffer_memory;
            let room = if patient { buffer.saturating_sub(self.held()) } else { self.send_space(buffer) };
            // As Linux: where little may wait, half of it has to be gone.
            let early = self.config.notsent_lowat.is_some_and(|most| unsent * 2 >= most);
            if !early && self.writer.wake(unsent, room, buffer, patient) {
                self.writer.note_woken(now);
                self.lifecycle.note(EventKind::Writable);
            }
        }
    }

    /// Whether there is certainly too little to tell a writer of, as nearly always where the buffer has one size and counts bytes.
    #[inline(always)]
    fn must_wait_for_space(&self) -> bool {
        let size = self.config.send_buffer;
        let fixed = !self.config.linux_stack.buffer_memory && !self.config.mechanisms.autotuning;
        fixed && self.writer.stays_blocked(self.send.unsent(), self.send.held(), size)
    }

    /// Room in the send buffer, bytes.
    pub(crate) fn writable(&self) -> u64 {
        self.send_space(self.send_buffer())
    }

    #[inline(always)]
    fn send_space(&self, buffer: u64) -> u64 {
        let room = if self.config.linux_stack.buffer_memory {
            self.linux_send_space(buffer)
        } else {
            buffer.saturating_sub(self.send.held())
        };
        let waiting = self.send.unsent();
        self.config.notsent_lowat.map_or(room, |most| room.min(most.saturating_sub(waiting)))
    }

    /// The same by memory: whoever finds any room fills the fragment (`mptcp_sendmsg`).
    #[inline(never)]
    fn linux_send_space(&self, buffer: u64) -> u64 {
        let room = buffer.saturating_sub(self.held());
        if room == 0 || !self.negotiation.is_multipath() {
            return room;
        }
        let end = (self.send.una() + buffer).next_multiple_of(FRAGMENT);
        end - self.send.written()
    }

    /// What is written takes so much of the send buffer: of memory, in a TCP of Linux's; the data level of Linux's Multipath TCP
    /// counts bytes.
    #[inline(never)]
    fn held(&self) -> u64 {
        let buffer = &self.send;
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
    pub(crate) fn send_buffer(&self) -> u64 {
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
        let kept = if self.config.mechanisms.shrink_send_buffer { 0 } else { self.send.tuned() };
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
            return tuned_send_memory(path.cwnd, path.mss).max(self.send.tuned()).min(most);
        }
        let live = self.subflows.iter().filter(|subflow| !subflow.is_closed());
        live.map(|subflow| subflow.backlog().memory().min(most)).sum::<u64>().max(16_384)
    }

    /// Whether the peer has received data it cannot deliver yet: more is acknowledged by subflows
    /// than at the data level.
    pub(crate) fn peer_holds_early_data(&self) -> bool {
        let boards = self.subflows.iter().map(|subflow| &subflow.sender().board);
        let outstanding: u64 = boards.filter(|board| board.una > 0).map(|board| board.next - board.una).sum();
        self.negotiation.is_multipath() && self.send.next() - self.send.una() > outstanding
    }

    /// Why nothing is left to send: the application, or a send buffer full of data in flight. When
    /// the windows have no room either, a larger buffer would not help.
    #[inline(never)]
    pub(crate) fn writer_limit(&self, room: bool) -> Limit {
        if !self.writer.is_blocked() {
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
