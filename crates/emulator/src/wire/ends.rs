//! The two ends of a flow on mptcplab's stack, each a thread: they connect or accept, then send or receive
//! until the end.
//!
//! Owns the sockets; the tally has the counters of the flow. Blocks at most [`ROOM`] before it checks for the
//! end of the run.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use mptcp_lab::mptcp::Config;
use mptcp_live::{Driver, MptcpListener, MptcpStream};

use crate::flows::tally::{Clock, Tally};
use crate::flows::transfer::{self, Load, SLICE};

/// A flow in terms of mptcplab's sockets.
pub(super) struct Task<'a> {
    pub from: &'a Driver,
    pub to: &'a Driver,
    pub remote: SocketAddr,
    /// Configurations of the opening end and of the accepting end.
    pub config: Config,
    pub accepting: Config,
    pub load: Load,
}

/// The sending socket.
pub(super) type Sender = Arc<MptcpStream>;

/// Creates the listener before the run.
pub(super) fn ready(task: &Task<'_>) -> io::Result<MptcpListener> {
    MptcpListener::bind_to(task.to, task.remote, task.accepting.clone(), 1)
}

/// The accepting end.
pub(super) fn accept(task: &Task<'_>, listener: &MptcpListener, clock: &Clock, tally: &Tally<Sender>) {
    let run = || -> io::Result<()> {
        while !clock.is_over() {
            match listener.accept_timeout(SLICE) {
                Ok((stream, _)) => return work(task, stream, !task.load.upload, clock, tally),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    };
    if let Err(error) = run() {
        tally.fail("accepting end", &error);
    }
}

/// The opening end.
pub(super) fn open(task: &Task<'_>, clock: &Clock, tally: &Tally<Sender>) {
    let run = || -> io::Result<()> {
        task.load.wait(clock);
        while !clock.is_over() {
            match connect(task, clock) {
                Ok(Some(stream)) => {
                    tally.note_connected(clock.now());
                    return work(task, stream, task.load.upload, clock, tally);
                }
                Ok(None) => {}
                // The path is down: retries later, as a user would.
                Err(error) if matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::NetworkDown) => {
                    transfer::rest(clock);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    };
    if let Err(error) = run() {
        tally.fail("opening end", &error);
    }
}

/// Interval between checks for the end of the run while the send buffer is full.
const ROOM: Duration = Duration::from_millis(500);

/// Connects; `None` if the run ended first.
fn connect(task: &Task<'_>, clock: &Clock) -> io::Result<Option<MptcpStream>> {
    let stream = MptcpStream::open(task.from, task.remote, task.config.clone())?;
    while !clock.is_over() {
        if stream.wait_connected(Some(SLICE))? {
            return Ok(Some(stream));
        }
    }
    Ok(None)
}

fn work(
    task: &Task<'_>,
    stream: MptcpStream,
    sends: bool,
    clock: &Clock,
    tally: &Tally<Sender>,
) -> io::Result<()> {
    stream.set_read_timeout(Some(SLICE))?;
    stream.set_write_timeout(Some(ROOM))?;
    if sends {
        let stream = Arc::new(stream);
        tally.note_sender(Arc::clone(&stream), clock.now());
        if transfer::send(&task.load, &*stream, clock)? {
            stream.shutdown_write()?;
        }
        transfer::stay(clock);
        return Ok(());
    }
    tally.note_receive_buffer(u32::try_from(task.config.receive_buffer).unwrap_or(u32::MAX));
    transfer::receive(&stream, clock, tally)
}
