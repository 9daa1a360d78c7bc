//! Computes the free space in a TCP socket's send buffer as Linux does, because packetdrill scripts check the
//! result of write(2).
//!
//! Owns the sizes of send buffers and of their pieces (`struct sk_buff`). Linux checks for memory only when it starts a
//! new piece, and always fills the last one (`tcp_sendmsg_locked`). MPTCP sockets accept as much as the endpoint has
//! space for, and never use this accounting.

use mptcp::{ConnectionId, ConnectionInfo};
use mptcp_clock::Instant;

use crate::calls::IPPROTO_MPTCP;
use crate::sockets::Socket;
use crate::stack::Core;

/// SOCK_MIN_SNDBUF and SOCK_MIN_RCVBUF, in bytes (include/net/sock.h).
pub(crate) const SEND_LEAST: u32 = 4_608;
pub(crate) const RECEIVE_LEAST: u32 = 2_304;
/// The initial size of a receive buffer, in bytes: the middle value of `tcp_rmem`.
pub(crate) const DEFAULT_RECEIVE: u32 = 131_072;

/// Kernel overhead for a segment's data, in bytes: headers and `struct skb_shared_info`. Linux rounds data and overhead
/// up to a power of two.
const AROUND_DATA: u64 = 320 + 320;
/// Size of `struct sk_buff`, in bytes.
const AROUND_SEGMENT: u64 = 256;
/// Buffer space charged for a piece without data, in bytes.
const EMPTY_PIECE: u64 = 1_280;
/// Maximum payload of a piece, in bytes.
const MOST_IN_PIECE: u64 = 65_535 - 1 - 320;

/// The state of a send buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sending {
    /// Capacity and charged size, in bytes.
    size: u64,
    queued: u64,
    unsent: u64,
    lowat: u64,
    /// Payload of a full piece, and free payload space in the last unsent piece, in bytes.
    piece: u64,
    room: u64,
}

impl Sending {
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// Free bytes in the last piece, and the size of a new piece. The second is 0 if Linux would not start one.
    pub(crate) fn room(&self) -> (u64, u64) {
        (self.room, if self.is_free() { self.piece } else { 0 })
    }

    /// Whether Linux would start a new piece (`sk_stream_memory_free`).
    fn is_free(&self) -> bool {
        self.queued < self.size && self.unsent < self.lowat
    }

    /// Whether poll(2) reports POLLOUT (`sk_stream_is_writeable`).
    pub(crate) fn is_writable(&self) -> bool {
        self.size.saturating_sub(self.queued) >= self.queued / 2 && 2 * self.unsent < self.lowat
    }
}

impl Core {
    /// The send buffer of a TCP socket with an open connection. None for MPTCP sockets, and without a connection.
    pub(crate) fn sending(&mut self, now: Instant, socket: &Socket, id: ConnectionId) -> Option<Sending> {
        if socket.protocol == IPPROTO_MPTCP {
            return None;
        }
        let info: ConnectionInfo = self.endpoint.info(now, id)?;
        let largest = self.endpoint.connection(id)?.largest_window();
        let first = info.subflows.first()?;
        let mss = first.mss.max(1);
        let options = &socket.options;
        let status = self.sockets.status(id).ok()?;
        let size = match options.send_buffer {
            Some(bytes) => u64::from(bytes),
            None => {
                // `tcp_sndbuf_expand`: twice the window, in the sizes that the kernel charges.
                let segment = (mss + AROUND_DATA).next_power_of_two() + AROUND_SEGMENT;
                let wanted = 2 * segment * (first.cwnd / mss).max(10);
                let grows = first.in_flight < first.cwnd || status.buffer == 0;
                let [_, initial, most] = self.settings.send_buffer;
                let size = status.buffer.max(initial);
                if grows { size.max(wanted.min(most)) } else { size }
            }
        };
        status.buffer = size;
        let half = if largest > 536 { largest / 2 } else { largest };
        let piece = (half.clamp(mss, MOST_IN_PIECE) / mss).max(1) * mss;
        let unsent = info.bytes_written.saturating_sub(info.bytes_sent);
        let last = status.piece.max(info.bytes_sent);
        let room = if unsent == 0 { 0 } else { (last + piece).saturating_sub(info.bytes_written) };
        let queued = info.send_queue + info.send_queue.div_ceil(piece) * EMPTY_PIECE;
        let lowat = match options.notsent_lowat {
            0 => self.settings.notsent_lowat,
            bytes => bytes.into(),
        };
        Some(Sending { size, queued, unsent, lowat, piece, room })
    }
}

/// The largest buffer size that an application may set, in bytes: `net.core.wmem_max`, also in place of `rmem_max`.
pub(crate) fn most_of(settings: &crate::settings::Settings) -> u32 {
    settings.largest_buffer
}
