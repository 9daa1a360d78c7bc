//! Poll functions of [`MptcpStream`], with which any asynchronous runtime can wait for a socket.
//!
//! The `tokio` module builds on them. They start no thread: the socket stores the waker of a waiting task.

use std::io;
use std::task::{Context, Poll};

use bytes::Bytes;

use crate::MptcpStream;
use crate::transfer::{copy, put, room, take};
use crate::waiting::Interest;

impl MptcpStream {
    /// Ready once the connection that [`Self::open`] started can carry data.
    ///
    /// # Errors
    /// As [`Self::connect`].
    pub fn poll_connected(&self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut core = self.shared.lock();
        if self.is_connected(&mut core)? {
            return Poll::Ready(Ok(()));
        }
        self.status(&mut core)?.waiters.register(Interest::Write, context);
        Poll::Pending
    }

    /// Reads available data. Returns the number of bytes; 0 at the end of the stream. Cancel-safe.
    ///
    /// # Errors
    /// As a blocking read.
    pub fn poll_read(&self, context: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        if buffer.is_empty() {
            return Poll::Ready(Ok(0));
        }
        let mut core = self.shared.lock();
        if let Some(slices) = take(&self.shared, &mut core, self.id, buffer.len())? {
            drop(core);
            return Poll::Ready(Ok(copy(slices, buffer)));
        }
        core.check_running()?;
        self.status(&mut core)?.waiters.register(Interest::Read, context);
        Poll::Pending
    }

    /// Writes as much as fits into the send buffer. Returns the number of accepted bytes.
    ///
    /// # Errors
    /// As a blocking write.
    pub fn poll_write(&self, context: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
        if data.is_empty() {
            return Poll::Ready(Ok(0));
        }
        loop {
            let mut core = self.shared.lock();
            let Some(room) = room(&self.shared, &mut core, self.id)? else {
                core.check_running()?;
                self.status(&mut core)?.waiters.register(Interest::Write, context);
                return Poll::Pending;
            };
            drop(core);
            let some = Bytes::copy_from_slice(&data[..data.len().min(room)]);
            if let Some(taken) = put(&self.shared, self.id, some, mptcp::WriteFlags::default())? {
                return Poll::Ready(Ok(taken));
            }
        }
    }
}
