//! Transfer of bytes between an application and the endpoint, for blocking and asynchronous sockets.
//!
//! Owns the only copy in each direction, which is made without the lock. Reading takes slices under the lock
//! and copies them afterwards. Writing copies first, then passes on the copy. Never waits.

use std::io;

use bytes::{Buf, Bytes};
use mptcp::{CloseReason, ConnectionId, WriteFlags};

use crate::shared::{Core, Shared};

/// Maximum number of bytes per write; copying more would delay the first bytes.
const MOST: usize = 1 << 20;

/// The result of a non-blocking read or write; `None` if it would block.
pub(crate) type Attempt<T> = io::Result<Option<T>>;

/// Takes up to `length` bytes of the stream as slices. Returns no slice at the end of the stream.
pub(crate) fn take(shared: &Shared, core: &mut Core, id: ConnectionId, length: usize) -> Attempt<Vec<Bytes>> {
    let Core { endpoint, sockets, .. } = core;
    let status = sockets.get_mut(&id).ok_or(io::ErrorKind::NotConnected)?;
    let (mut taken, mut left) = (Vec::new(), length);
    let now = shared.now();
    while left > 0 {
        if status.unread.is_empty() {
            let Some(more) = endpoint.read(now, id) else { break };
            status.unread = more;
        }
        let part = status.unread.split_to(status.unread.len().min(left));
        left -= part.len();
        taken.push(part);
    }
    if taken.is_empty() {
        return match status.closed {
            _ if status.finished || status.read_closed => Ok(Some(taken)),
            Some(CloseReason::Finished) => Ok(Some(taken)),
            Some(how) => Err(ended(how)),
            None => Ok(None),
        };
    }
    // The peer may wait for the freed window.
    shared.ring(core);
    Ok(Some(taken))
}

/// Copies slices into a large enough buffer. Returns the number of bytes.
pub(crate) fn copy(slices: Vec<Bytes>, buffer: &mut [u8]) -> usize {
    let mut count = 0;
    for mut slice in slices {
        let length = slice.len();
        slice.copy_to_slice(&mut buffer[count..count + length]);
        count += length;
    }
    count
}

/// Free space in the send buffer; `None` if it is full. The endpoint then notifies the writer later.
pub(crate) fn room(shared: &Shared, core: &mut Core, id: ConnectionId) -> Attempt<usize> {
    let status = core.sockets.get(&id).ok_or(io::ErrorKind::NotConnected)?;
    match status.closed {
        _ if status.write_closed => return Err(io::ErrorKind::BrokenPipe.into()),
        Some(CloseReason::Finished) => return Err(io::ErrorKind::BrokenPipe.into()),
        Some(how) => return Err(ended(how)),
        None => {}
    }
    match usize::try_from(core.endpoint.writable(id)).unwrap_or(usize::MAX) {
        0 => {
            core.endpoint.await_writable(shared.now(), id);
            Ok(None)
        }
        room => Ok(Some(room.min(MOST))),
    }
}

/// Writes a copy. Returns the number of accepted bytes; `None` if another writer took the space.
pub(crate) fn put(shared: &Shared, id: ConnectionId, data: Bytes, flags: WriteFlags) -> Attempt<usize> {
    let mut core = shared.lock();
    if room(shared, &mut core, id)?.is_none() {
        return Ok(None);
    }
    let taken = core.endpoint.write_with(shared.now(), id, data, flags);
    shared.ring(&core);
    Ok(Some(taken).filter(|&taken| taken > 0))
}

/// The error for a closed connection.
pub(crate) fn ended(how: CloseReason) -> io::Error {
    match how {
        CloseReason::Finished => io::ErrorKind::BrokenPipe.into(),
        CloseReason::Refused => io::ErrorKind::ConnectionRefused.into(),
        CloseReason::Reset(None) => io::ErrorKind::ConnectionReset.into(),
        CloseReason::Reset(Some(reason)) => io::Error::new(
            io::ErrorKind::ConnectionReset,
            format!("connection reset by peer, MP_TCPRST reason {reason:?}"),
        ),
        CloseReason::Aborted => io::ErrorKind::ConnectionAborted.into(),
        CloseReason::Unreachable => io::ErrorKind::HostUnreachable.into(),
        CloseReason::TimedOut => io::ErrorKind::TimedOut.into(),
    }
}
