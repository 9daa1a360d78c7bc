//! The bytes of a flow, at both ends: sent until it is over, received and compared.
//!
//! Owns no socket. Bytes are those of the simulator's flows, so a receiver knows each of them. Waits no longer than the
//! stream that it is given does, before it looks whether it is over.

use std::io::{self, ErrorKind, Read, Write};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration as StdDuration;

use mptcp_clock::{Duration, Instant};
use mptcp_lab::pattern;

use super::tally::{Clock, Tally};

/// Between two looks whether it is over.
pub(crate) const SLICE: StdDuration = StdDuration::from_millis(50);
/// Between two looks whether somebody connects, or it is time to.
pub(crate) const SHORT: StdDuration = StdDuration::from_millis(1);
/// Bytes read at once.
const PIECE: usize = 256 << 10;

/// What a flow sends, and when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    /// Who opened it sends.
    pub upload: bool,
    /// Then it is over; `None` is never.
    pub bytes: Option<u64>,
    pub start: Instant,
    /// The application writes no more.
    pub stop: Instant,
}

impl Load {
    /// Waits until it begins, or all is over.
    pub(crate) fn wait(&self, clock: &Clock) {
        while clock.now() < self.start && !clock.is_over() {
            let left = StdDuration::from_nanos(self.start.since(clock.now()).as_nanos());
            thread::sleep(left.min(SLICE));
        }
    }
}

/// A second until it is tried again, or all is over.
pub(crate) fn rest(clock: &Clock) {
    let again = clock.now() + Duration::from_secs(1);
    while clock.now() < again && !clock.is_over() {
        thread::sleep(SLICE);
    }
}

/// Sends what there is; whether the stream is to be ended then.
pub(crate) fn send(load: &Load, mut stream: impl Write, clock: &Clock) -> io::Result<bool> {
    let mut written = 0;
    while !clock.is_over() && clock.now() < load.stop {
        let left = load.bytes.map_or(PIECE as u64, |bytes| (bytes - written).min(PIECE as u64));
        if left == 0 {
            break;
        }
        match stream.write(&pattern::bytes_at(written, left)) {
            Ok(count) => written += count as u64,
            Err(error) if is_patient(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(!clock.is_over())
}

/// Whoever looks at a socket that has sent may do so until it is over.
pub(crate) fn stay(clock: &Clock) {
    while !clock.is_over() {
        thread::sleep(SHORT);
    }
}

/// Receives to the end of the stream, or until it is over.
pub(crate) fn receive<S: Clone>(mut stream: impl Read, clock: &Clock, tally: &Tally<S>) -> io::Result<()> {
    let mut buffer = vec![0; PIECE];
    let mut received = 0;
    while !clock.is_over() {
        match stream.read(&mut buffer) {
            Ok(0) => {
                tally.note_end();
                break;
            }
            Ok(count) => {
                if !pattern::matches(received, &buffer[..count]) {
                    tally.intact.store(false, Ordering::Relaxed);
                }
                received += count as u64;
                tally.note_read(received, clock.now());
            }
            Err(error) if is_patient(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Nothing within the slice, or a signal.
fn is_patient(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}
