//! Payload of a flow at both ends: sends until the end, receives and verifies.
//!
//! Owns no socket: `kernel` (Linux's sockets) and `wire` (mptcplab's stack) pass their streams. The payload
//! is that of simulated flows, so the receiver can verify it. A tally has the counters of the flow. Reads and
//! writes check for the end of the run after each timeout of the stream.

use std::io::{self, ErrorKind, Read, Write};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration as StdDuration;

use mptcp_clock::{Duration, Instant};
use mptcp_lab::pattern;

use super::tally::{Clock, Tally};

/// Interval between checks for the end of the run.
pub(crate) const SLICE: StdDuration = StdDuration::from_millis(50);
/// Interval between checks for a new connection or the start time.
pub(crate) const SHORT: StdDuration = StdDuration::from_millis(1);
/// Bytes per read.
const PIECE: usize = 256 << 10;

/// Traffic of a flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    /// Whether the opener sends.
    pub upload: bool,
    /// Total bytes; `None` is unlimited.
    pub bytes: Option<u64>,
    pub start: Instant,
    /// Time at which the application stops writing.
    pub stop: Instant,
}

impl Load {
    /// Waits until the start, or the end of the run.
    pub(crate) fn wait(&self, clock: &Clock) {
        while clock.now() < self.start && !clock.is_over() {
            let left = StdDuration::from_nanos(self.start.since(clock.now()).as_nanos());
            thread::sleep(left.min(SLICE));
        }
    }
}

/// Waits one second before a retry, or until the end of the run.
pub(crate) fn rest(clock: &Clock) {
    let again = clock.now() + Duration::from_secs(1);
    while clock.now() < again && !clock.is_over() {
        thread::sleep(SLICE);
    }
}

/// Sends the payload. Returns whether to close the stream afterwards.
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

/// Keeps the socket of a finished sender open until the end of the run, so that it can be queried.
pub(crate) fn stay(clock: &Clock) {
    while !clock.is_over() {
        thread::sleep(SHORT);
    }
}

/// Receives until the end of the stream or of the run.
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

/// Whether an error is only a timeout, or an interruption by a signal.
fn is_patient(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}
