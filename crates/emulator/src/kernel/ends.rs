//! The two ends of a flow, each a thread on its host: they open or accept, then send or receive until it is over.
//!
//! Owns sockets and what was counted. Bytes are those of the simulator's flows, so a receiver knows each of them. Waits never longer than
//! [`ROOM`] without looking whether it is over, but for a connection that is being opened.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddrV4, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration as StdDuration;

use mptcp_clock::{Duration, Instant};
use mptcp_lab::pattern;
use mptcp_live::kernel::{Options, connect, ends, given, listen};
use mptcp_live::{monotonic, namespace};

/// Between two looks whether it is over.
const SLICE: StdDuration = StdDuration::from_millis(50);
/// For room in the send buffer it waits longer, as applications do: the kernel wakes them when a third is free
/// (net/core/stream.c, `sk_stream_write_space`), and who looks by himself finds some before.
const ROOM: StdDuration = StdDuration::from_millis(500);
/// Between two looks whether somebody connects, or it is time to.
const SHORT: StdDuration = StdDuration::from_millis(1);
/// Bytes read at once.
const PIECE: usize = 256 << 10;
/// Nothing yet.
const NEVER: u64 = u64::MAX;

/// What a flow does, in the words of sockets.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    /// The namespace where it is opened, and where it is accepted.
    pub namespaces: [String; 2],
    pub from: Ipv4Addr,
    pub to: SocketAddrV4,
    pub options: Options,
    /// Who opened it sends.
    pub upload: bool,
    /// Then it is over; `None` is never.
    pub bytes: Option<u64>,
    pub start: Instant,
    /// The application writes no more.
    pub stop: Instant,
}

/// When time zero was, and whether it is over.
#[derive(Clone, Debug)]
pub(crate) struct Course {
    pub epoch: u64,
    pub over: Arc<AtomicBool>,
}

impl Course {
    pub(crate) fn now(&self) -> Instant {
        Instant::from_nanos(monotonic().saturating_sub(self.epoch))
    }

    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }
}

/// The socket that sends, and its ends.
pub(crate) type Sender = (Arc<TcpStream>, (SocketAddrV4, SocketAddrV4));

/// What both ends have seen of a flow.
#[derive(Debug)]
pub(crate) struct Tally {
    pub received: AtomicU64,
    pub intact: AtomicBool,
    connected: AtomicU64,
    started: AtomicU64,
    last_byte: AtomicU64,
    ended: AtomicBool,
    /// The socket that sends.
    sender: Mutex<Option<Sender>>,
    /// SO_RCVBUF of the socket that receives, bytes.
    receive_buffer: AtomicU64,
    problem: Mutex<Option<String>>,
}

impl Tally {
    pub(crate) fn new() -> Self {
        Self {
            received: AtomicU64::new(0),
            intact: AtomicBool::new(true),
            connected: AtomicU64::new(NEVER),
            started: AtomicU64::new(NEVER),
            last_byte: AtomicU64::new(NEVER),
            ended: AtomicBool::new(false),
            sender: Mutex::new(None),
            receive_buffer: AtomicU64::new(NEVER),
            problem: Mutex::new(None),
        }
    }

    /// When the opener knew that it was connected.
    pub(crate) fn connected(&self) -> Option<Instant> {
        instant(&self.connected)
    }

    /// When the first byte could be written.
    pub(crate) fn started(&self) -> Option<Instant> {
        instant(&self.started)
    }

    /// When the last byte so far was read.
    pub(crate) fn last_byte(&self) -> Option<Instant> {
        instant(&self.last_byte)
    }

    /// Whether the receiver has read to the end of the stream.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    pub(crate) fn sender(&self) -> Option<Sender> {
        self.sender.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn receive_buffer(&self) -> Option<u32> {
        u32::try_from(self.receive_buffer.load(Ordering::Relaxed)).ok()
    }

    pub(crate) fn problem(&self) -> Option<String> {
        self.problem.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn fail(&self, what: &str, error: &io::Error) {
        let mut problem = self.problem.lock().unwrap_or_else(PoisonError::into_inner);
        problem.get_or_insert_with(|| format!("{what}: {error}"));
    }
}

fn instant(at: &AtomicU64) -> Option<Instant> {
    Some(at.load(Ordering::Relaxed)).filter(|at| *at != NEVER).map(Instant::from_nanos)
}

fn set(at: &AtomicU64, now: Instant) {
    at.store(now.as_nanos(), Ordering::Relaxed);
}

/// A socket that listens on its host, before anything starts.
pub(crate) fn ready(task: &Task) -> io::Result<TcpListener> {
    let [_, host] = &task.namespaces;
    let at = SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, task.to.port());
    namespace::within(host, || listen(at, &task.options))
}

/// The end that accepts, to the end of the flow. The listening socket stays as long: joins of Multipath TCP come to it.
pub(crate) fn accept(task: &Task, listener: &TcpListener, course: &Course, tally: &Tally) {
    let run = || -> io::Result<()> {
        listener.set_nonblocking(true)?;
        while !course.is_over() {
            match listener.accept() {
                Ok((stream, _)) => {
                    stream.set_nonblocking(false)?;
                    work(task, stream, !task.upload, course, tally)?;
                    break;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => std::thread::sleep(SHORT),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    };
    if let Err(error) = run() {
        tally.fail("the end that accepts", &error);
    }
}

/// The end that opens, to the end of the flow.
pub(crate) fn open(task: &Task, course: &Course, tally: &Tally) {
    let run = || -> io::Result<()> {
        namespace::enter(&task.namespaces[0])?;
        while course.now() < task.start && !course.is_over() {
            let left = StdDuration::from_nanos(task.start.since(course.now()).as_nanos());
            std::thread::sleep(left.min(SLICE));
        }
        while !course.is_over() {
            match connect(task.from, task.to, &task.options, || !course.is_over()) {
                Ok(stream) => {
                    set(&tally.connected, course.now());
                    return work(task, stream, task.upload, course, tally);
                }
                // The path is down at this moment: try again as a person would.
                Err(error) if may_pass(&error) => {
                    let again = course.now() + Duration::from_secs(1);
                    while course.now() < again && !course.is_over() {
                        std::thread::sleep(SLICE);
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    };
    if let Err(error) = run() {
        tally.fail("the end that opens", &error);
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

fn work(task: &Task, stream: TcpStream, sends: bool, course: &Course, tally: &Tally) -> io::Result<()> {
    stream.set_read_timeout(Some(SLICE))?;
    stream.set_write_timeout(Some(ROOM))?;
    let stream = Arc::new(stream);
    if sends {
        let sender = (Arc::clone(&stream), ends(&stream)?);
        *tally.sender.lock().unwrap_or_else(PoisonError::into_inner) = Some(sender);
        set(&tally.started, course.now());
        send(task, &stream, course)?;
        // Whoever looks at the socket may do so until it is over.
        while !course.is_over() {
            std::thread::sleep(SHORT);
        }
        return Ok(());
    }
    let (_, buffer, _) = given(&*stream)?;
    tally.receive_buffer.store(buffer.into(), Ordering::Relaxed);
    receive(&stream, course, tally)
}

fn send(task: &Task, mut stream: &TcpStream, course: &Course) -> io::Result<()> {
    let mut written = 0;
    while !course.is_over() && course.now() < task.stop {
        let left = task.bytes.map_or(PIECE as u64, |bytes| (bytes - written).min(PIECE as u64));
        if left == 0 {
            break;
        }
        match stream.write(&pattern::bytes_at(written, left)) {
            Ok(count) => written += count as u64,
            Err(error) if is_patient(&error) => {}
            Err(error) => return Err(error),
        }
    }
    if course.is_over() { Ok(()) } else { stream.shutdown(Shutdown::Write) }
}

fn receive(mut stream: &TcpStream, course: &Course, tally: &Tally) -> io::Result<()> {
    let mut buffer = vec![0; PIECE];
    let mut received = 0;
    while !course.is_over() {
        match stream.read(&mut buffer) {
            Ok(0) => {
                tally.ended.store(true, Ordering::Relaxed);
                break;
            }
            Ok(count) => {
                if !pattern::matches(received, &buffer[..count]) {
                    tally.intact.store(false, Ordering::Relaxed);
                }
                received += count as u64;
                tally.received.store(received, Ordering::Relaxed);
                set(&tally.last_byte, course.now());
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
