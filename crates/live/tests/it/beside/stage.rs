//! A situation played once: the stack under test opens a connection to a peer of Linux's over the scripted line.
//!
//! Owns namespaces, sockets and what the applications do.

use std::io;
use std::net::{IpAddr, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mptcp::{LinuxCompat, LinuxStack};
use mptcp_live::congestion::{LinuxCubic, SlowStart};
use mptcp_live::scheduler::Linux as LinuxScheduler;
use mptcp_live::{Config, Driver, Interface, MptcpStream, Pipe};

use super::events::{Events, Reader};
use super::line::{Line, Script};
use crate::laboratory::{
    End, Namespace, Port, Protocol, at, connect_by, linux, ours, pattern, reset_on_close, use_congestion,
};

/// Bytes of a segment that a play counts in.
const SEGMENT: usize = 1_448;
/// The longest that an application waits for the other.
const PATIENCE: Duration = Duration::from_secs(9);
/// Afterwards, for the last acknowledgement.
const AFTERWARDS: Duration = Duration::from_millis(150);
/// Before a close that is to be no part of what is looked at, milliseconds.
const QUIET: u64 = 400;
/// CONFIG_HZ of the kernel.
const HERTZ: u32 = 250;
/// Of Linux's at both ends.
const CONGESTION: &str = "cubic";

/// What a situation changes of our configuration.
pub type Configure = fn(&mut Config);

/// Whose stack is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    Linux,
    Ours,
}

/// What the applications do; counts are of segments, times of milliseconds.
#[derive(Clone, Copy)]
pub enum Play {
    /// The stack under test sends, and closes.
    Send(usize),
    /// It sends, waits, sends again, and closes when all is long over.
    Pause(usize, u64, usize),
    /// It sends, waits and closes.
    CloseLater(usize, u64),
    /// It sends to somebody with a small buffer who reads late.
    SlowReader(usize, u64),
    /// It receives.
    Receive(usize),
    /// It sends, and goes away without a close.
    Abort(usize),
}

/// One of the table's.
#[derive(Clone, Copy)]
pub struct Situation {
    pub name: &'static str,
    /// What happens, as a sentence.
    pub told: &'static str,
    pub protocol: Protocol,
    pub paths: u8,
    pub play: Play,
    /// None leaves everything as it is.
    pub script: Option<Script>,
    /// For both of Linux's.
    pub sysctls: &'static [(&'static str, &'static str)],
    /// For ours, where the sysctls say something to Linux.
    pub config: Configure,
    /// What the endpoint of the second path is for Linux (ip-mptcp(8)).
    pub endpoint: &'static str,
}

impl Situation {
    pub const fn undisturbed_tcp(name: &'static str, told: &'static str, play: Play) -> Self {
        Self {
            name,
            told,
            protocol: Protocol::Tcp,
            paths: 1,
            play,
            script: None,
            sysctls: &[],
            config: |_| {},
            endpoint: "subflow",
        }
    }

    pub const fn undisturbed_mptcp(name: &'static str, told: &'static str, play: Play) -> Self {
        Self { protocol: Protocol::Mptcp, ..Self::undisturbed_tcp(name, told, play) }
    }

    pub const fn tcp(name: &'static str, told: &'static str, play: Play, script: Script) -> Self {
        Self { script: Some(script), ..Self::undisturbed_tcp(name, told, play) }
    }

    pub const fn mptcp(name: &'static str, told: &'static str, play: Play, script: Script) -> Self {
        Self { protocol: Protocol::Mptcp, ..Self::tcp(name, told, play, script) }
    }

    pub const fn two_paths(self) -> Self {
        Self { paths: 2, ..self }
    }

    pub const fn set(self, sysctls: &'static [(&'static str, &'static str)], config: Configure) -> Self {
        Self { sysctls, config, ..self }
    }

    pub const fn endpoint(self, endpoint: &'static str, config: Configure) -> Self {
        Self { endpoint, config, ..self }
    }

    /// What a program of ours would say to be like Linux; the driver adds what it always has on real packets.
    fn our_config(&self) -> Config {
        let multipath = self.protocol == Protocol::Mptcp;
        let mut config = Config {
            multipath,
            congestion: LinuxCubic::new(HERTZ).into(),
            slow_start: SlowStart::HyStart,
            scheduler: LinuxScheduler::default().into(),
            pacing: false,
            linux_compat: LinuxCompat::LINUX,
            linux_stack: if multipath { LinuxStack::LINUX } else { LinuxStack::default() },
            ..Config::default()
        };
        (self.config)(&mut config);
        config
    }
}

/// A namespace of Linux's as the situation wants it.
fn namespace(situation: &Situation) -> Namespace {
    let namespace = Namespace::bare().unwrap();
    for (key, value) in situation.sysctls {
        namespace.sysctl(key, value);
    }
    namespace
}

/// Sets SO_RCVBUF or SO_SNDBUFFORCE.
fn set_buffer(socket: &impl AsRawFd, option: libc::c_int, bytes: libc::c_int) {
    let length = size_of_val(&bytes) as libc::socklen_t;
    let place = (&raw const bytes).cast();
    // SAFETY: the descriptor is open, and the value is as long as is said.
    let set = unsafe { libc::setsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, option, place, length) };
    assert_eq!(set, 0, "{}", io::Error::last_os_error());
}

/// Reads to the end or an error, and says how many bytes came and which of the two it was.
fn read_all(end: &impl End) -> String {
    let (mut count, mut buffer) = (0, vec![0; 1 << 16]);
    loop {
        match end.read_some(&mut buffer) {
            Ok(0) => return format!("{count} bytes"),
            Ok(some) => count += some,
            Err(error) => return format!("{count} bytes, then {}", error.kind()),
        }
    }
}

fn wait(milliseconds: u64) {
    std::thread::sleep(Duration::from_millis(milliseconds));
}

/// The peer's application; returns what it says of the end.
fn answer(play: Play, stream: &TcpStream) -> String {
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    match play {
        Play::Receive(count) => {
            let _ = stream.send_all(&pattern(count * SEGMENT));
            let _ = stream.half_close();
        }
        Play::SlowReader(_, pause) => wait(pause),
        _ => {}
    }
    read_all(stream)
}

/// The application under test; what fails is seen at the peer.
fn act(play: Play, end: &impl End) -> String {
    let send = |count: usize| end.send_all(&pattern(count * SEGMENT));
    let sent = match play {
        Play::Send(count) | Play::SlowReader(count, _) => send(count),
        Play::Pause(count, pause, more) => send(count).and_then(|()| {
            wait(pause);
            send(more).map(|()| wait(QUIET))
        }),
        Play::CloseLater(count, pause) => send(count).map(|()| wait(pause)),
        Play::Abort(count) => {
            let _ = send(count);
            wait(300);
            return "gone".into();
        }
        Play::Receive(_) => {
            let got = read_all(end);
            let _ = end.half_close();
            return got;
        }
    };
    if let Err(error) = sent {
        return format!("0 bytes, then {}", error.kind());
    }
    // The driver's thread has sent by then what the window allows.
    wait(5);
    let _ = end.half_close();
    read_all(end)
}

/// Plays it; the events are those of `who`.
pub fn play(situation: &Situation, who: Who) -> Events {
    let there = namespace(situation);
    let far: Vec<_> =
        (1..=situation.paths).map(|path| Port::device(&there, &format!("line{path}"), linux(path))).collect();
    let listener = there.listen(at(linux(1)), situation.protocol);
    use_congestion(&listener, CONGESTION).unwrap();
    if matches!(situation.play, Play::SlowReader(..)) {
        set_buffer(&listener, libc::SO_RCVBUF, 8_192);
    }
    let remote = at(linux(1));
    match who {
        Who::Linux => {
            let here = namespace(situation);
            let near = (1..=situation.paths).map(|path| second_device(&here, situation, path));
            let line = Line { paths: near.zip(far).collect(), script: situation.script };
            on(&line, situation, &listener, || {
                let stream = here.run(|| connect_by(remote, situation.protocol, CONGESTION))?;
                stream.set_read_timeout(Some(PATIENCE))?;
                // As much as ours has, so that the applications are done with writing at the same time.
                set_buffer(&stream, libc::SO_SNDBUFFORCE, 2 << 20);
                if matches!(situation.play, Play::Abort(_)) {
                    reset_on_close(&stream);
                }
                Ok(act(situation.play, &stream))
            })
        }
        Who::Ours => {
            let (mut interfaces, mut near) = (Vec::new(), Vec::new());
            for path in 1..=situation.paths {
                let (end, other) = Pipe::pair(&format!("line{path}"), 1_500).unwrap();
                interfaces.push(Interface::new(end, [ours(path)]));
                near.push(other);
            }
            let driver = Driver::start(interfaces).unwrap();
            let paths = near.into_iter().map(Port::Pipe).zip(far).collect();
            let line = Line { paths, script: situation.script };
            on(&line, situation, &listener, || {
                let stream = MptcpStream::connect(&driver, remote, situation.our_config())?;
                stream.set_read_timeout(Some(PATIENCE))?;
                let end = act(situation.play, &stream);
                if matches!(situation.play, Play::Abort(_)) {
                    stream.abort()?;
                }
                Ok(end)
            })
        }
    }
}

/// A device of the Linux under test; the second one's packets go out by it.
fn second_device(here: &Namespace, situation: &Situation, path: u8) -> Port {
    let name = format!("line{path}");
    let address: IpAddr = ours(path);
    let port = Port::device(here, &name, address);
    if path > 1 {
        here.ip(&format!("rule add from {address} table {path}")).unwrap();
        here.ip(&format!("route add default dev {name} table {path}")).unwrap();
        here.ip(&format!("mptcp endpoint add {address} dev {name} {}", situation.endpoint)).unwrap();
    }
    port
}

/// Both applications while the line runs.
fn on(
    line: &Line,
    situation: &Situation,
    listener: &std::net::TcpListener,
    work: impl FnOnce() -> io::Result<String>,
) -> Events {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let carrying = scope.spawn(|| line.carry(&stop));
        let (told, peer) = std::sync::mpsc::channel();
        let copy = listener.try_clone().unwrap();
        let play = situation.play;
        // It may wait for a connection that never comes.
        std::thread::spawn(move || {
            let _ = copy.accept().map(|(stream, _)| told.send(answer(play, &stream)));
        });
        let here = work().unwrap_or_else(|error| format!("no connection: {}", error.kind()));
        let there = peer.recv_timeout(PATIENCE).unwrap_or_else(|_| "nothing".to_owned());
        std::thread::sleep(AFTERWARDS);
        stop.store(true, Ordering::Relaxed);
        let (records, acted) = carrying.join().unwrap();
        assert!(acted || line.script.is_none(), "{}: the script found nothing to act on", situation.name);
        Reader::read(&records, format!("peer got {there}, we {here}"))
    })
}
