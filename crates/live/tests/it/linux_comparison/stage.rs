//! Plays a situation once: the stack under test opens a connection to a Linux peer over the scripted link.
//!
//! Owns the namespaces, the sockets and the applications.

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
use super::link::{Link, Script};
use crate::laboratory::{
    End, Namespace, Port, Protocol, at, connect_by, linux, ours, pattern, reset_on_close, use_congestion,
};

/// Bytes per segment.
const SEGMENT: usize = 1_448;
/// Maximum time that an application waits for the other.
const PATIENCE: Duration = Duration::from_secs(9);
/// Time for the last acknowledgement.
const AFTERWARDS: Duration = Duration::from_millis(150);
/// Pause before a close that the comparison ignores, ms.
const QUIET: u64 = 400;
/// CONFIG_HZ of the kernel.
const HERTZ: u32 = 250;
/// Congestion controller of the Linux ends.
const CONGESTION: &str = "cubic";

/// Changes the configuration of mptcplab for a situation.
pub type Configure = fn(&mut Config);

/// The stack under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stack {
    Linux,
    Mptcplab,
}

/// The actions of the applications; counts in segments, times in milliseconds.
#[derive(Clone, Copy)]
pub enum Play {
    /// The stack under test sends, and closes.
    Send(usize),
    /// It sends, waits, sends more, and closes later.
    Pause(usize, u64, usize),
    /// It sends, waits and closes.
    CloseLater(usize, u64),
    /// It sends to a slow reader with a small buffer.
    SlowReader(usize, u64),
    /// It receives.
    Receive(usize),
    /// It sends and aborts.
    Abort(usize),
}

/// A situation.
#[derive(Clone, Copy)]
pub struct Situation {
    pub name: &'static str,
    /// The event of the situation, as a sentence.
    pub description: &'static str,
    pub protocol: Protocol,
    pub paths: u8,
    pub play: Play,
    /// `None` forwards all packets unchanged.
    pub script: Option<Script>,
    /// Sysctls of both Linux ends.
    pub sysctls: &'static [(&'static str, &'static str)],
    /// Configuration of mptcplab, corresponding to the sysctls.
    pub config: Configure,
    /// Flags of the Linux endpoint on the second path (ip-mptcp(8)).
    pub endpoint: &'static str,
}

impl Situation {
    pub const fn undisturbed_tcp(name: &'static str, description: &'static str, play: Play) -> Self {
        Self {
            name,
            description,
            protocol: Protocol::Tcp,
            paths: 1,
            play,
            script: None,
            sysctls: &[],
            config: |_| {},
            endpoint: "subflow",
        }
    }

    pub const fn undisturbed_mptcp(name: &'static str, description: &'static str, play: Play) -> Self {
        Self { protocol: Protocol::Mptcp, ..Self::undisturbed_tcp(name, description, play) }
    }

    pub const fn tcp(name: &'static str, description: &'static str, play: Play, script: Script) -> Self {
        Self { script: Some(script), ..Self::undisturbed_tcp(name, description, play) }
    }

    pub const fn mptcp(name: &'static str, description: &'static str, play: Play, script: Script) -> Self {
        Self { protocol: Protocol::Mptcp, ..Self::tcp(name, description, play, script) }
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

    /// The configuration of mptcplab that corresponds to Linux. The driver adds its defaults for real packets.
    fn mptcplab_config(&self) -> Config {
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

/// A namespace with the sysctls of the situation.
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
    // SAFETY: the descriptor is open, and `length` is the size of the value.
    let set = unsafe { libc::setsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, option, place, length) };
    assert_eq!(set, 0, "{}", io::Error::last_os_error());
}

/// Reads to the end or an error; returns the number of bytes and the error.
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

/// The application of the peer; returns its end.
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

/// The application of the stack under test; returns its end.
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
    // By then, the thread of the driver has filled the window.
    wait(5);
    let _ = end.half_close();
    read_all(end)
}

/// Plays the situation; returns the events of `stack`.
pub fn play(situation: &Situation, stack: Stack) -> Events {
    let there = namespace(situation);
    let far: Vec<_> =
        (1..=situation.paths).map(|path| Port::device(&there, &format!("line{path}"), linux(path))).collect();
    let listener = there.listen(at(linux(1)), situation.protocol);
    use_congestion(&listener, CONGESTION).unwrap();
    if matches!(situation.play, Play::SlowReader(..)) {
        set_buffer(&listener, libc::SO_RCVBUF, 8_192);
    }
    let remote = at(linux(1));
    match stack {
        Stack::Linux => {
            let here = namespace(situation);
            let near = (1..=situation.paths).map(|path| second_device(&here, situation, path));
            let link = Link { paths: near.zip(far).collect(), script: situation.script };
            on(&link, situation, &listener, || {
                let stream = here.run(|| connect_by(remote, situation.protocol, CONGESTION))?;
                stream.set_read_timeout(Some(PATIENCE))?;
                // The size of mptcplab's buffer, so that both applications finish writing at the same time.
                set_buffer(&stream, libc::SO_SNDBUFFORCE, 2 << 20);
                if matches!(situation.play, Play::Abort(_)) {
                    reset_on_close(&stream);
                }
                Ok(act(situation.play, &stream))
            })
        }
        Stack::Mptcplab => {
            let (mut interfaces, mut near) = (Vec::new(), Vec::new());
            for path in 1..=situation.paths {
                let (end, other) = Pipe::pair(&format!("line{path}"), 1_500).unwrap();
                interfaces.push(Interface::new(end, [ours(path)]));
                near.push(other);
            }
            let driver = Driver::start(interfaces).unwrap();
            let paths = near.into_iter().map(Port::Pipe).zip(far).collect();
            let link = Link { paths, script: situation.script };
            on(&link, situation, &listener, || {
                let stream = MptcpStream::connect(&driver, remote, situation.mptcplab_config())?;
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

/// A device of the Linux under test. The second device has its own routing table.
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

/// Runs both applications and the link.
fn on(
    link: &Link,
    situation: &Situation,
    listener: &std::net::TcpListener,
    work: impl FnOnce() -> io::Result<String>,
) -> Events {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let carrying = scope.spawn(|| link.carry(&stop));
        let (result, peer) = std::sync::mpsc::channel();
        let copy = listener.try_clone().unwrap();
        let play = situation.play;
        // It may wait for ever if no connection arrives.
        std::thread::spawn(move || {
            let _ = copy.accept().map(|(stream, _)| result.send(answer(play, &stream)));
        });
        let here = work().unwrap_or_else(|error| format!("no connection: {}", error.kind()));
        let there = peer.recv_timeout(PATIENCE).unwrap_or_else(|_| "nothing".to_owned());
        std::thread::sleep(AFTERWARDS);
        stop.store(true, Ordering::Relaxed);
        let (records, acted) = carrying.join().unwrap();
        assert!(acted || link.script.is_none(), "{}: the script never acted", situation.name);
        Reader::read(&records, format!("peer received {there}, stack {here}"))
    })
}
