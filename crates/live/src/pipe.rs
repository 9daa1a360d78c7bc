//! A link inside this process, whose two ends exchange IP packets.
//!
//! Owns queued packets, and a descriptor per end that is readable while a packet is queued. Never uses the
//! kernel's network. Tests use pipes, because a driver over pipes needs no privileges. The owner of the other
//! end controls arrivals, their order and their contents.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::{Bytes, BytesMut};

use crate::sys;

/// Maximum number of queued packets per end; further packets are lost.
const MOST: usize = 2_000;

/// One end of a link.
#[derive(Debug)]
pub struct Pipe {
    name: String,
    mtu: usize,
    incoming: Arc<Queue>,
    outgoing: Arc<Queue>,
}

#[derive(Debug)]
struct Queue {
    waiting: Mutex<Waiting>,
    /// Readable while a packet is queued, or after the other end is closed.
    bell: File,
}

#[derive(Debug, Default)]
struct Waiting {
    packets: VecDeque<Bytes>,
    /// Whether the other end is closed.
    ended: bool,
}

impl Queue {
    fn new() -> io::Result<Arc<Self>> {
        Ok(Arc::new(Self { waiting: Mutex::default(), bell: File::from(sys::eventfd()?) }))
    }

    fn ring(&self) {
        // Fails only if the counter is at its maximum. The eventfd is then readable anyway.
        let _ = (&self.bell).write(&1_u64.to_ne_bytes());
    }

    fn push(&self, packet: Bytes) -> io::Result<()> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.packets.len() >= MOST || waiting.ended {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        waiting.packets.push_back(packet);
        if waiting.packets.len() == 1 {
            self.ring();
        }
        Ok(())
    }

    fn pop(&self) -> io::Result<Bytes> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let packet = waiting.packets.pop_front();
        if packet.is_some() && waiting.packets.is_empty() && !waiting.ended {
            // Fails only if the counter is zero. The eventfd is then not readable, as required.
            let _ = (&self.bell).read(&mut [0; 8]);
        }
        let none = if waiting.ended { io::ErrorKind::BrokenPipe } else { io::ErrorKind::WouldBlock };
        packet.ok_or_else(|| none.into())
    }

    fn end(&self) {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).ended = true;
        self.ring();
    }
}

impl Pipe {
    /// Both ends of a link called `name` with an MTU of `mtu` bytes.
    ///
    /// ```
    /// let (near, far) = mptcp_live::Pipe::pair("line", 1_500)?;
    /// near.put("a packet".into())?;
    /// assert_eq!(far.take()?, "a packet");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the system provides no descriptors.
    pub fn pair(name: &str, mtu: usize) -> io::Result<(Self, Self)> {
        let (there, back) = (Queue::new()?, Queue::new()?);
        let end = |incoming: &Arc<Queue>, outgoing: &Arc<Queue>| Self {
            name: name.to_owned(),
            mtu,
            incoming: Arc::clone(incoming),
            outgoing: Arc::clone(outgoing),
        };
        Ok((end(&back, &there), end(&there, &back)))
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Maximum packet that a driver sends, bytes.
    #[must_use]
    pub fn mtu(&self) -> usize {
        self.mtu
    }

    /// Sends a packet with any contents to the other end.
    ///
    /// # Errors
    /// `WouldBlock` if 2000 packets are queued or the other end is closed: the packet is lost.
    pub fn put(&self, packet: Bytes) -> io::Result<()> {
        self.outgoing.push(packet)
    }

    /// Receives the next packet without blocking.
    ///
    /// # Errors
    /// `WouldBlock` without a packet, `BrokenPipe` after the other end is closed.
    pub fn take(&self) -> io::Result<Bytes> {
        self.incoming.pop()
    }

    /// Appends the next packet to `buffer`.
    pub(crate) fn receive(&self, buffer: &mut BytesMut) -> io::Result<()> {
        buffer.extend_from_slice(&self.take()?);
        Ok(())
    }

    pub(crate) fn send(&self, headers: &[u8], payload: &[u8]) -> io::Result<()> {
        let mut packet = BytesMut::with_capacity(headers.len() + payload.len());
        packet.extend_from_slice(headers);
        packet.extend_from_slice(payload);
        self.put(packet.freeze())
    }
}

impl AsFd for Pipe {
    /// Readable while a packet is queued, or after the other end is closed.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.incoming.bell.as_fd()
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        self.outgoing.end();
        self.incoming.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn readable(pipe: &Pipe) -> bool {
        sys::wait_readable(&[pipe.as_fd()], Some(std::time::Duration::ZERO)).unwrap()
    }

    #[test]
    fn packets_come_in_order_and_the_descriptor_says_so() {
        let (a, b) = Pipe::pair("x", 1_500).unwrap();
        assert!(!readable(&b));
        assert_eq!(b.take().unwrap_err().kind(), io::ErrorKind::WouldBlock);
        a.put(Bytes::from_static(b"1")).unwrap();
        a.put(Bytes::from_static(b"2")).unwrap();
        assert!(readable(&b) && !readable(&a));
        assert_eq!(
            (b.take().unwrap(), b.take().unwrap()),
            (Bytes::from_static(b"1"), Bytes::from_static(b"2"))
        );
        assert!(!readable(&b));
    }

    #[test]
    fn a_full_end_loses_packets_and_one_that_is_gone_ends_the_other() {
        let (a, b) = Pipe::pair("x", 1_500).unwrap();
        let taken = (0..MOST + 5).filter(|_| a.put(Bytes::from_static(b"x")).is_ok()).count();
        assert_eq!(taken, MOST);
        drop(a);
        assert_eq!((0..MOST + 5).take_while(|_| b.take().is_ok()).count(), MOST);
        assert!(readable(&b));
        assert_eq!(b.take().unwrap_err().kind(), io::ErrorKind::BrokenPipe);
        assert!(b.put(Bytes::new()).is_err());
    }
}
