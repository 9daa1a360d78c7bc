//! What the application writes, and which segments are pushed (RFC 9293 section 3.9.1.2).
//!
//! Owns the flags of writes. Where they end is kept in `write_ends`, the bytes themselves in `send_buffer`.

use bytes::Bytes;

use super::Connection;

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
        if self.send.writer.is_closed() || self.fate.closed().is_some() {
            return 0;
        }
        let taken = (data.len() as u64).min(self.writable()) as usize;
        let all = taken == data.len();
        self.send.writer.set_waiting(!all);
        // As Linux: a writer that has to wait holds nothing back meanwhile.
        let more = flags.more && all;
        self.send.writer.set_more(more);
        if taken > 0 {
            let start = self.send.buffer.written();
            self.send.buffer.write(data, taken);
            self.note_end_of_write(start, more, flags.end_of_record && all);
        }
        taken
    }

    /// Puts data that a SYN carried, or had no room for, before all that is unsent.
    pub(super) fn put_back(&mut self, data: Bytes) {
        let length = data.len() as u64;
        let habit = self.config.linux_compat.push_where_writes_end;
        let buffer = &mut self.send.buffer;
        buffer.ends_mut().shift(length);
        // What was put back before ends where this does, or behind it.
        if habit && buffer.unsent() == 0 {
            let end = buffer.written() + length;
            buffer.ends_mut().note(end, end, end, false);
        }
        buffer.put_back(data);
    }

    /// What waits because more was to follow waits no longer.
    pub(crate) fn end_more(&mut self) {
        self.send.writer.set_more(false);
        if self.config.linux_compat.push_where_writes_end && self.send.buffer.unsent() > 0 {
            let (at, next) = (self.send.buffer.written(), self.send.buffer.next());
            self.send.buffer.ends_mut().note(at, at, next, false);
        }
    }

    /// The largest window that the peer has ever offered, bytes.
    #[must_use]
    pub fn largest_window(&self) -> u64 {
        self.send.buffer.largest_window()
    }

    #[inline]
    fn note_end_of_write(&mut self, start: u64, more: bool, record: bool) {
        let habit = self.config.linux_compat.push_where_writes_end;
        if !habit && !record {
            return;
        }
        let buffer = &mut self.send.buffer;
        let (at, next, largest) = (buffer.written(), buffer.next(), buffer.largest_window());
        // Linux's forced_push: whatever follows, a peer is not left without for more than half of its window.
        let forced = at > buffer.ends().pushed() + largest / 2;
        if record || !more || forced {
            buffer.ends_mut().note(start, at, next, record);
        }
    }

    /// Whether a segment is pushed that ends at an offset of the stream: one behind which nothing waits (RFC 9293 section
    /// 3.9.1.2, MUST-61), or with which a record ends. Linux pushes where any write ended, and what the device cuts.
    #[inline(always)]
    pub(super) fn pushes(&self, end: u64, length: u64, slot: usize) -> bool {
        if self.config.linux_stack.subflow_queues && self.negotiation.is_multipath() {
            // What ends a row of data on a subflow (net/mptcp/protocol.c, `mptcp_sendmsg_frag`; net/ipv4/tcp.c, `tcp_push`).
            return self.subflows[slot].backlog().first_data() != Some(end);
        }
        let large = if self.config.linux_compat.push_where_writes_end {
            length > self.congestion.paths[slot].mss
        } else {
            self.send.buffer.unsent() == 0
        };
        large || self.send.buffer.ends().has(end)
    }
}
