//! Writes of the application, the size of the send buffer, and the PSH flag.
//!
//! Owns the size of the send buffer: configured, autotuned (mechanism M3) or as in Linux. Also decides which
//! segments get PSH (RFC 9293 section 3.9.1.2). Never stores the bytes (`send_buffer`).

use bytes::Bytes;
use mptcp_clock::{Duration, Instant};

use crate::connection::Connection;
use crate::connection::observe::limits::Limit;
use crate::event::EventKind;
use crate::linux_stack::{FRAGMENT, memory_of, send_memory, tuned_send_memory};

/// Flags of a write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteFlags {
    /// More data follows: a small segment waits for the next write without this flag. A segment from the peer
    /// ends the wait, too, or a timer of one RTO, at least 200 ms (Linux's MSG_MORE).
    pub more: bool,
    /// The data ends a record, if all of it is accepted: later data is sent in other segments (Linux's MSG_EOR).
    pub end_of_record: bool,
}

impl Connection {
    /// Writes as much of `data` as the send buffer has space for, without copying. Returns the number of
    /// bytes accepted. If `data` was longer, [`crate::EventKind::Writable`] reports space.
    pub(crate) fn write(&mut self, data: &Bytes, flags: WriteFlags) -> usize {
        if self.writer.is_closed() || self.lifecycle.closed().is_some() {
            return 0;
        }
        let accepted = (data.len() as u64).min(self.writable()) as usize;
        let is_complete = accepted == data.len();
        self.writer.set_blocked(!is_complete);
        // As in Linux, a blocked writer holds no data back.
        let more = flags.more && is_complete;
        self.writer.set_more(more);
        if accepted > 0 {
            let start = self.send.written();
            self.send.write(data, accepted);
            self.note_end_of_write(start, more, flags.end_of_record && is_complete);
        }
        accepted
    }

    /// Puts unacknowledged data of a SYN in front of all unsent data.
    pub(crate) fn put_back(&mut self, data: Bytes) {
        let length = data.len() as u64;
        let pushes_writes = self.config.linux_compat.push_where_writes_end;
        let buffer = &mut self.send;
        buffer.write_ends_mut().shift(length);
        // Data that was put back earlier ends here or later.
        if pushes_writes && buffer.unsent() == 0 {
            let end = buffer.written() + length;
            buffer.write_ends_mut().note(end, end, end, false);
        }
        buffer.put_back(data);
    }

    /// Ends the wait for more data (MSG_MORE).
    pub(crate) fn end_more(&mut self) {
        self.writer.set_more(false);
        if self.config.linux_compat.push_where_writes_end && self.send.unsent() > 0 {
            let (at, next) = (self.send.written(), self.send.next());
            self.send.write_ends_mut().note(at, at, next, false);
        }
    }

    /// The largest window that the peer has offered, bytes.
    #[must_use]
    pub fn largest_window(&self) -> u64 {
        self.send.largest_window()
    }

    #[inline]
    fn note_end_of_write(&mut self, start: u64, more: bool, record: bool) {
        let pushes_writes = self.config.linux_compat.push_where_writes_end;
        if !pushes_writes && !record {
            return;
        }
        let buffer = &mut self.send;
        let (at, next, largest) = (buffer.written(), buffer.next(), buffer.largest_window());
        // Linux's `forced_push`: at least one PSH for each half of the peer's largest window.
        let forced = at > buffer.write_ends().pushed() + largest / 2;
        if record || !more || forced {
            buffer.write_ends_mut().note(start, at, next, record);
        }
    }

    /// Whether a segment that ends at offset `end` has PSH: no data waits behind it (RFC 9293 section 3.9.1.2,
    /// MUST-61), or it ends a record. As an option, PSH follows Linux: at the end of each write, and on segments that
    /// the device splits.
    #[inline(always)]
    pub(crate) fn pushes(&self, end: u64, length: u64, slot: usize) -> bool {
        if self.config.linux_stack.subflow_queues && self.negotiation.is_multipath() {
            // The last segment of contiguous data on a subflow (net/mptcp/protocol.c, `mptcp_sendmsg_frag`;
            // net/ipv4/tcp.c, `tcp_push`).
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
    /// Notes that the writer waits for space in the send buffer.
    pub(crate) fn await_writable(&mut self) {
        self.writer.set_blocked(true);
    }

    /// Notifies a waiting writer if there is enough space.
    #[inline(always)]
    pub(crate) fn wake_writer(&mut self, now: Instant) {
        if self.writer.is_blocked() && !self.must_wait_for_space() {
            let buffer = self.send_buffer();
            self.send.set_tuned(buffer);
            let unsent = self.send.unsent();
            // `sk_stream_write_space` (net/core/stream.c).
            let requires_third = self.config.linux_stack.buffer_memory;
            let space =
                if requires_third { buffer.saturating_sub(self.held()) } else { self.send_space(buffer) };
            // As in Linux, at least half of `notsent_lowat` must be free.
            let above_lowat = self.config.notsent_lowat.is_some_and(|most| unsent * 2 >= most);
            if !above_lowat && self.writer.wake(unsent, space, buffer, requires_third) {
                self.writer.note_woken(now);
                self.lifecycle.note(EventKind::Writable);
            }
        }
    }

    /// Whether a fast check shows that the free space is too small to wake the writer. It needs a buffer of
    /// constant size that counts bytes.
    #[inline(always)]
    fn must_wait_for_space(&self) -> bool {
        let size = self.config.send_buffer;
        let fixed = !self.config.linux_stack.buffer_memory && !self.config.mechanisms.autotuning;
        fixed && self.writer.stays_blocked(self.send.unsent(), self.send.held(), size)
    }

    /// Space in the send buffer, bytes.
    pub(crate) fn writable(&self) -> u64 {
        self.send_space(self.send_buffer())
    }

    #[inline(always)]
    fn send_space(&self, buffer: u64) -> u64 {
        let space = if self.config.linux_stack.buffer_memory {
            self.linux_send_space(buffer)
        } else {
            buffer.saturating_sub(self.send.held())
        };
        let waiting = self.send.unsent();
        self.config.notsent_lowat.map_or(space, |most| space.min(most.saturating_sub(waiting)))
    }

    /// Space in the send buffer as Linux counts it, bytes: if there is any, it extends to the end of a
    /// fragment (`mptcp_sendmsg`).
    #[inline(never)]
    fn linux_send_space(&self, buffer: u64) -> u64 {
        let space = buffer.saturating_sub(self.held());
        if space == 0 || !self.negotiation.is_multipath() {
            return space;
        }
        let end = (self.send.una() + buffer).next_multiple_of(FRAGMENT);
        end - self.send.written()
    }

    /// The part of the send buffer in use, bytes. Linux's TCP counts memory, and its MPTCP data level counts bytes.
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

    /// The size of the send buffer, bytes. With M3 it is twice the aggregate of the paths' rates times the longest RTT
    /// (RFC 8684 section 3.3.4).
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
        let minimum = if self.config.mechanisms.shrink_send_buffer { 0 } else { self.send.tuned() };
        wanted.max(65_536).max(minimum).min(self.config.send_buffer)
    }

    /// The size of the send buffer as in Linux, bytes: twice SO_SNDBUF, or the total of the subflows' buffers
    /// (net/mptcp/protocol.h, `__mptcp_sync_sndbuf`).
    #[inline(never)]
    fn send_memory_of_all(&self) -> u64 {
        let max_memory = memory_of(self.config.send_buffer);
        if !self.config.mechanisms.autotuning {
            return max_memory;
        }
        if let Some(path) = self.congestion.paths.first().filter(|_| self.negotiation.is_plain()) {
            return tuned_send_memory(path.cwnd, path.mss).max(self.send.tuned()).min(max_memory);
        }
        let live = self.subflows.iter().filter(|subflow| !subflow.is_closed());
        live.map(|subflow| subflow.backlog().memory().min(max_memory)).sum::<u64>().max(16_384)
    }

    /// Whether the peer holds data out of order: the subflows have more acknowledged than the data level.
    pub(crate) fn peer_has_out_of_order_data(&self) -> bool {
        let boards = self.subflows.iter().map(|subflow| &subflow.sender().board);
        let outstanding: u64 = boards.filter(|board| board.una > 0).map(|board| board.next - board.una).sum();
        self.negotiation.is_multipath() && self.send.next() - self.send.una() > outstanding
    }

    /// The reason why there is no unsent data: the application, or a full send buffer. Unless a path has an
    /// open congestion window (`room`), the window is the reason: a larger buffer would not help.
    #[inline(never)]
    pub(crate) fn writer_limit(&self, room: bool) -> Limit {
        if !self.writer.is_blocked() {
            Limit::Application
        } else if !room {
            Limit::CongestionWindow
        } else if self.peer_has_out_of_order_data() {
            Limit::HeadOfLine
        } else {
            Limit::SendBuffer
        }
    }
}
