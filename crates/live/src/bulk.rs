//! Bulk transfers for benchmarks: one thread sends or receives with blocking calls for a given time.
//!
//! Owns the loop, so that a benchmark measures the stacks and not its own language. The caller measures CPU time
//! and opens the connection.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use bytes::Bytes;

use crate::MptcpStream;

/// Maximum time without a byte.
const PATIENCE: Duration = Duration::from_secs(10);
/// Timeout of one call, after which the loop reads the clock.
const SLICE: Duration = Duration::from_millis(100);

/// The result of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moved {
    /// Payload bytes.
    pub bytes: u64,
    /// Time from the first call to the end of the last one.
    pub time: Duration,
    /// Whether the peer has ended the stream.
    pub ended: bool,
}

/// Sends for `time` with calls of `block` bytes. This stack sends the same memory in each call, without a copy in
/// this thread ([`MptcpStream::write_bytes`]).
///
/// # Errors
/// Errors of the socket, and `TimedOut` after 10 s without a byte.
pub fn send(stream: &MptcpStream, block: usize, time: Duration) -> io::Result<Moved> {
    let data = Bytes::from(vec![0x5a; block]);
    stream.set_write_timeout(Some(SLICE))?;
    repeat(time, || stream.write_bytes(&data))
}

/// Receives for `time` with calls of up to `block` bytes, without a copy in this thread
/// ([`MptcpStream::read_slices`]).
///
/// # Errors
/// As [`send`].
pub fn receive(stream: &MptcpStream, block: usize, time: Duration) -> io::Result<Moved> {
    stream.set_read_timeout(Some(SLICE))?;
    repeat(time, || Ok(stream.read_slices(block)?.iter().map(Bytes::len).sum()))
}

/// As [`send`], on a socket of the kernel.
///
/// # Errors
/// As [`send`].
pub fn send_on_kernel(mut stream: &TcpStream, block: usize, time: Duration) -> io::Result<Moved> {
    let data = vec![0x5a; block];
    stream.set_write_timeout(Some(SLICE))?;
    repeat(time, || stream.write(&data))
}

/// As [`receive`], on a socket of the kernel, which copies into the same buffer in each call.
///
/// # Errors
/// As [`send`].
pub fn receive_on_kernel(mut stream: &TcpStream, block: usize, time: Duration) -> io::Result<Moved> {
    let mut buffer = vec![0; block];
    stream.set_read_timeout(Some(SLICE))?;
    repeat(time, || stream.read(&mut buffer))
}

fn repeat(time: Duration, mut call: impl FnMut() -> io::Result<usize>) -> io::Result<Moved> {
    let start = Instant::now();
    let (mut last, mut bytes) = (start, 0);
    loop {
        let moved = match call() {
            Ok(0) => return Ok(Moved { bytes, time: start.elapsed(), ended: true }),
            Ok(moved) => moved as u64,
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => 0,
            Err(error) => return Err(error),
        };
        let now = Instant::now();
        bytes += moved;
        if moved > 0 {
            last = now;
        } else if now - last > PATIENCE {
            let what = format!("no byte was transferred within {PATIENCE:?}");
            return Err(io::Error::new(io::ErrorKind::TimedOut, what));
        }
        if now - start >= time {
            return Ok(Moved { bytes, time: now - start, ended: false });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sockets_of_the_kernel_transfer_until_the_time_is_over_or_the_peer_ends() {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let far = listener.accept().unwrap().0;
        let time = Duration::from_millis(200);
        let sender = std::thread::spawn(move || send_on_kernel(&near, 10_000, time).unwrap());
        let received = receive_on_kernel(&far, 3_000, Duration::from_secs(60)).unwrap();
        let sent = sender.join().unwrap();
        assert!(!sent.ended && sent.time >= time && sent.bytes > 0);
        assert!(received.ended && received.bytes == sent.bytes, "{received:?} {sent:?}");
    }

    #[test]
    fn an_error_ends_a_transfer_and_a_timeout_does_not() {
        let mut results = [Ok(5), Err(io::ErrorKind::WouldBlock), Ok(7), Ok(0)].into_iter();
        let moved = repeat(Duration::from_secs(60), || results.next().unwrap().map_err(io::Error::from));
        assert!(moved.is_ok_and(|moved| moved.bytes == 12 && moved.ended));
        let error = repeat(Duration::from_secs(60), || Err(io::ErrorKind::ConnectionReset.into()));
        assert_eq!(error.unwrap_err().kind(), io::ErrorKind::ConnectionReset);
    }
}
