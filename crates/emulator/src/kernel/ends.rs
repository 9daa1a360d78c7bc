//! The two ends of a flow on kernel sockets, each a thread on its host: they connect or accept, then send or
//! receive until the end.
//!
//! Owns the sockets; the tally has the counters of the flow. Except in connect, a thread blocks at most
//! [`ROOM`] before it checks whether the run is over. At the end of the run, the module `run` shuts the
//! sending sockets down, which wakes blocked writers.

use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, Shutdown, SocketAddrV4, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use mptcp_live::kernel::{Options, connect, ends, given, listen};
use mptcp_live::namespace;

use crate::flows::tally::{Clock, Tally};
use crate::flows::transfer::{self, Load, SHORT, SLICE};

/// Timeout of a blocking write. The kernel wakes writers when a third of the send buffer is free
/// (`sk_stream_write_space` in net/core/stream.c). With a short timeout, a writer would write earlier than an
/// application does. The end of a run wakes waiting writers.
const ROOM: Duration = Duration::from_secs(20);

/// A flow in terms of sockets.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    /// Namespaces of the opener and the acceptor.
    pub namespaces: [String; 2],
    pub from: Ipv4Addr,
    pub to: SocketAddrV4,
    pub options: Options,
    pub load: Load,
}

/// The sending socket, and its addresses.
pub(crate) type Sender = (Arc<TcpStream>, (SocketAddrV4, SocketAddrV4));

/// Creates the listening socket before the run.
pub(crate) fn ready(task: &Task) -> io::Result<TcpListener> {
    let [_, host] = &task.namespaces;
    let at = SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, task.to.port());
    namespace::within(host, || listen(at, &task.options))
}

/// The accepting end. The listening socket stays open, because MPTCP joins arrive at it.
pub(crate) fn accept(task: &Task, listener: &TcpListener, clock: &Clock, tally: &Tally<Sender>) {
    let run = || -> io::Result<()> {
        listener.set_nonblocking(true)?;
        while !clock.is_over() {
            match listener.accept() {
                Ok((stream, _)) => {
                    stream.set_nonblocking(false)?;
                    work(task, stream, !task.load.upload, clock, tally)?;
                    break;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => std::thread::sleep(SHORT),
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
pub(crate) fn open(task: &Task, clock: &Clock, tally: &Tally<Sender>) {
    let run = || -> io::Result<()> {
        namespace::enter(&task.namespaces[0])?;
        task.load.wait(clock);
        while !clock.is_over() {
            match connect(task.from, task.to, &task.options, || !clock.is_over()) {
                Ok(stream) => {
                    tally.note_connected(clock.now());
                    return work(task, stream, task.load.upload, clock, tally);
                }
                // The path is down: retries later, as a user would.
                Err(error) if may_pass(&error) => transfer::rest(clock),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    };
    if let Err(error) = run() {
        tally.fail("opening end", &error);
    }
}

fn may_pass(error: &io::Error) -> bool {
    use ErrorKind::{
        AddrNotAvailable, HostUnreachable, NetworkDown, NetworkUnreachable, TimedOut, WouldBlock,
    };
    matches!(
        error.kind(),
        TimedOut | HostUnreachable | NetworkUnreachable | NetworkDown | AddrNotAvailable | WouldBlock
    )
}

fn work(task: &Task, stream: TcpStream, sends: bool, clock: &Clock, tally: &Tally<Sender>) -> io::Result<()> {
    stream.set_read_timeout(Some(SLICE))?;
    stream.set_write_timeout(Some(ROOM))?;
    let stream = Arc::new(stream);
    if sends {
        tally.note_sender((Arc::clone(&stream), ends(&stream)?), clock.now());
        if transfer::send(&task.load, &*stream, clock)? {
            stream.shutdown(Shutdown::Write)?;
        }
        transfer::stay(clock);
        return Ok(());
    }
    let (_, buffer, _) = given(&*stream)?;
    tally.note_receive_buffer(buffer);
    transfer::receive(&*stream, clock, tally)
}
