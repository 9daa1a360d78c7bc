//! A network namespace with Linux, connected to an endpoint of mptcplab by TUN devices.
//!
//! Path `n` (from 1) has the subnet 10.88.n.0/24 (fd88:n::/64). Linux is .1, and mptcplab is .2. Dropping the value
//! removes the namespace and its devices.

#![allow(clippy::unwrap_used, reason = "a harness")]

mod bulk;
mod ends;
mod fixture;
mod port;
pub mod raw;
mod subflows;
mod turns;

use std::fs::File;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

pub use bulk::*;
pub use ends::*;
pub use fixture::Fixture;
use mptcp_live::{Offload, Tun};
pub use port::Port;
pub use subflows::*;
pub use turns::{alone, within};

/// Protocol of a Linux socket: IPPROTO_TCP or IPPROTO_MPTCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    Tcp,
    Mptcp,
}

/// The servers' port.
pub const PORT: u16 = 5001;
/// Time limit of a test.
pub const LIMIT: Duration = Duration::from_secs(120);

/// A server's address.
pub fn at(address: IpAddr) -> SocketAddr {
    SocketAddr::new(address, PORT)
}

pub struct Namespace {
    pub name: String,
}

pub fn linux(path: u8) -> IpAddr {
    Ipv4Addr::new(10, 88, path, 1).into()
}

pub fn ours(path: u8) -> IpAddr {
    Ipv4Addr::new(10, 88, path, 2).into()
}

pub fn linux6(path: u16) -> IpAddr {
    Ipv6Addr::new(0xfd88, path, 0, 0, 0, 0, 0, 1).into()
}

pub fn ours6(path: u16) -> IpAddr {
    Ipv6Addr::new(0xfd88, path, 0, 0, 0, 0, 0, 2).into()
}

/// Removes namespaces of killed tests. Their names contain the number of a process that no longer runs.
fn remove_leftovers() {
    for entry in std::fs::read_dir("/run/netns").into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let process = name.strip_prefix("mptcplive-").and_then(|rest| rest.split('-').next());
        if process.is_some_and(|process| !std::path::Path::new("/proc").join(process).exists()) {
            // Another test may have removed it.
            let _ = ip(&format!("netns delete {name}"));
        }
    }
}

impl Namespace {
    /// A namespace without devices and without an endpoint.
    pub fn bare() -> Option<Self> {
        or_skip(Self::try_bare())
    }

    /// [`Self::bare`] with the reason if the machine lacks a feature.
    fn try_bare() -> Result<Self, String> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        if number == 0 {
            remove_leftovers();
        }
        let name = format!("mptcplive-{}-{number}", std::process::id());
        ip(&format!("netns add {name}"))?;
        // From here on, dropping removes the namespace.
        let namespace = Self { name };
        namespace
            .run(|| socket(linux(1), Protocol::Mptcp))
            .map_err(|error| format!("the kernel has no MPTCP sockets: {error}"))?;
        namespace.ip("mptcp limits set subflows 8 add_addr_accepted 8")?;
        Ok(namespace)
    }

    /// Creates a device of this namespace with Linux's addresses.
    pub fn device(&self, path: u8, offload: Offload) -> Result<Tun, String> {
        let device = format!("path{path}");
        let tun = self.run(|| Tun::open_with(&device, offload)).map_err(|error| error.to_string())?;
        self.ip(&format!("addr add {}/24 dev {device}", linux(path)))?;
        // Without IPv6 in the kernel, only the IPv6 test fails.
        let _ = self.ip(&format!("addr add {}/64 dev {device} nodad", linux6(path.into())));
        self.ip(&format!("link set {device} up txqueuelen 2000"))?;
        Ok(tun)
    }

    /// Runs `ip` in the namespace.
    pub fn ip(&self, arguments: &str) -> Result<(), String> {
        ip(&format!("-n {} {arguments}", self.name))
    }

    /// Limits Linux's sending rate and queue on a path, in the units of tc-tbf(8). Prints a message and returns None if
    /// tc or the kernel cannot.
    pub fn limit(&self, path: u8, rate: &str, queue: &str) -> Option<()> {
        let shape = format!("qdisc add dev path{path} root tbf rate {rate} burst 20k limit {queue}");
        run("tc", &format!("-n {} {shape}", self.name))
            .map_err(|why| println!("skipped: tc cannot shape: {why}"))
            .ok()
            .map(drop)
    }

    /// Packets that the queue of [`Self::limit`] dropped.
    pub fn dropped(&self, path: u8) -> u64 {
        let said = run("tc", &format!("-s -n {} qdisc show dev path{path}", self.name)).unwrap();
        let mut words = said.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.find(|word| *word == "dropped");
        words.next().and_then(|count| count.parse().ok()).unwrap()
    }

    /// Sets a sysctl of the namespace.
    pub fn sysctl(&self, key: &str, value: &str) {
        let path = format!("/proc/sys/{}", key.replace('.', "/"));
        self.run(|| std::fs::write(path, value)).unwrap();
    }

    /// Runs `work` on a thread in the namespace. Its sockets and devices remain there.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
        let namespace = File::open(format!("/run/netns/{}", self.name))?;
        std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                // SAFETY: takes no pointers, and the descriptor is open. It changes this thread only.
                if unsafe { libc::setns(namespace.as_raw_fd(), libc::CLONE_NEWNET) } < 0 {
                    return Err(io::Error::last_os_error());
                }
                work()
            });
            thread.join().unwrap()
        })
    }

    /// A listening Linux socket.
    pub fn listen(&self, address: SocketAddr, protocol: Protocol) -> TcpListener {
        let listen = || {
            let socket = socket(address.ip(), protocol)?;
            let (raw, length) = sockaddr(address);
            // SAFETY: the descriptor is open, and the address has the given length.
            check(unsafe { libc::bind(socket.as_raw_fd(), (&raw const raw).cast(), length) })?;
            // SAFETY: takes no pointers.
            check(unsafe { libc::listen(socket.as_raw_fd(), 4096) })?;
            Ok(TcpListener::from(socket))
        };
        self.run(listen).unwrap()
    }

    /// A connected Linux socket.
    pub fn connect(&self, address: SocketAddr, protocol: Protocol) -> io::Result<TcpStream> {
        self.run(|| connect(address, protocol))
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        if let Err(why) = ip(&format!("netns del {}", self.name)) {
            eprintln!("{why}");
        }
    }
}

/// A connected Linux socket in the namespace of this thread.
pub fn connect(address: SocketAddr, protocol: Protocol) -> io::Result<TcpStream> {
    let socket = socket(address.ip(), protocol)?;
    let (raw, length) = sockaddr(address);
    // SAFETY: the descriptor is open, and the address has the given length.
    check(unsafe { libc::connect(socket.as_raw_fd(), (&raw const raw).cast(), length) })?;
    Ok(TcpStream::from(socket))
}

/// A connected Linux socket with a congestion controller. The controller must be set before the connection, because the
/// default one may enable pacing, which remains.
pub fn connect_by(address: SocketAddr, protocol: Protocol, congestion: &str) -> io::Result<TcpStream> {
    let socket = socket(address.ip(), protocol)?;
    use_congestion(&socket, congestion)?;
    let (raw, length) = sockaddr(address);
    // SAFETY: the descriptor is open, and the address has the given length.
    check(unsafe { libc::connect(socket.as_raw_fd(), (&raw const raw).cast(), length) })?;
    Ok(TcpStream::from(socket))
}

/// Sets the congestion controller of a Linux socket; accepted sockets inherit it.
pub fn use_congestion(socket: &impl AsRawFd, congestion: &str) -> io::Result<()> {
    let (level, option) = (libc::IPPROTO_TCP, libc::TCP_CONGESTION);
    let (name, length) = (congestion.as_ptr().cast(), congestion.len() as libc::socklen_t);
    // SAFETY: the descriptor is open, and the name has the given length.
    check(unsafe { libc::setsockopt(socket.as_raw_fd(), level, option, name, length) })
}

/// A raw socket that sends complete IPv4 packets.
pub struct RawSocket(OwnedFd);

/// Opens a raw socket in the namespace of this thread.
pub fn raw_socket() -> io::Result<RawSocket> {
    // SAFETY: takes no pointers.
    let fd = unsafe { libc::socket(libc::AF_INET, libc::SOCK_RAW | libc::SOCK_CLOEXEC, libc::IPPROTO_RAW) };
    check(fd)?;
    // SAFETY: the call succeeded, so the descriptor is open and nobody else has it.
    Ok(RawSocket(unsafe { OwnedFd::from_raw_fd(fd) }))
}

impl RawSocket {
    /// Sends a packet with its header on the route to `next`.
    pub fn send(&self, packet: &[u8], next: Ipv4Addr) -> io::Result<()> {
        let (to, length) = sockaddr(SocketAddr::new(next.into(), 0));
        let (place, count) = (packet.as_ptr().cast(), packet.len());
        // SAFETY: the descriptor is open; packet and address have the given lengths.
        let sent =
            unsafe { libc::sendto(self.0.as_raw_fd(), place, count, 0, (&raw const to).cast(), length) };
        if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

fn or_skip<T>(result: Result<T, String>) -> Option<T> {
    result
        .inspect_err(|why| {
            assert!(std::env::var_os("CI").is_none(), "in CI this must run, but {why}");
            eprintln!("skipped: {why}");
        })
        .ok()
}

fn ip(arguments: &str) -> Result<(), String> {
    run("ip", arguments).map(drop)
}

fn run(program: &str, arguments: &str) -> Result<String, String> {
    let output = Command::new(program).args(arguments.split_whitespace()).output();
    let output = output.map_err(|error| format!("{program} (of iproute2) cannot be run: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(format!("{program} {arguments}: {}", String::from_utf8_lossy(&output.stderr).trim()))
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn socket(family: IpAddr, protocol: Protocol) -> io::Result<OwnedFd> {
    let family = if family.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 };
    let protocol = if protocol == Protocol::Tcp { libc::IPPROTO_TCP } else { libc::IPPROTO_MPTCP };
    // SAFETY: takes no pointers.
    let fd = unsafe { libc::socket(family, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, protocol) };
    check(fd)?;
    // SAFETY: the call succeeded, so the descriptor is open and nobody else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

fn sockaddr(address: SocketAddr) -> (libc::sockaddr_storage, libc::socklen_t) {
    // SAFETY: a C struct of integers and arrays; all zero is a value of it.
    let mut storage: libc::sockaddr_storage = unsafe { std::mem::zeroed() };
    let place = &raw mut storage;
    let length = match address {
        SocketAddr::V4(v4) => {
            let place = place.cast::<libc::sockaddr_in>();
            // SAFETY: sockaddr_storage is large enough and aligned for every address.
            let raw = unsafe { &mut *place };
            raw.sin_family = libc::AF_INET as libc::sa_family_t;
            raw.sin_port = v4.port().to_be();
            raw.sin_addr.s_addr = u32::from_ne_bytes(v4.ip().octets());
            size_of::<libc::sockaddr_in>()
        }
        SocketAddr::V6(v6) => {
            let place = place.cast::<libc::sockaddr_in6>();
            // SAFETY: as above.
            let raw = unsafe { &mut *place };
            raw.sin6_family = libc::AF_INET6 as libc::sa_family_t;
            raw.sin6_port = v6.port().to_be();
            raw.sin6_addr.s6_addr = v6.ip().octets();
            size_of::<libc::sockaddr_in6>()
        }
    };
    (storage, length as libc::socklen_t)
}

/// Makes a Linux socket reset its connection on close (SO_LINGER of 0).
pub fn reset_on_close(stream: &TcpStream) {
    let linger = libc::linger { l_onoff: 1, l_linger: 0 };
    let length = size_of_val(&linger) as libc::socklen_t;
    let (level, option) = (libc::SOL_SOCKET, libc::SO_LINGER);
    // SAFETY: the descriptor is open, and the value has the given length.
    let set =
        unsafe { libc::setsockopt(stream.as_raw_fd(), level, option, (&raw const linger).cast(), length) };
    check(set).unwrap();
}

/// Linux's information about a connection, from `struct mptcp_info`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinuxInfo {
    pub subflows: u8,
    pub token: u32,
    pub write_seq: u64,
    pub snd_una: u64,
    pub rcv_nxt: u64,
    pub checksum: bool,
}

/// None for a TCP connection.
pub fn linux_info(stream: &TcpStream) -> Option<LinuxInfo> {
    const SOL_MPTCP: libc::c_int = 284;
    const MPTCP_INFO: libc::c_int = 1;
    const FALLBACK: u32 = 1;
    let mut info = [0_u8; 256];
    let mut length = info.len() as libc::socklen_t;
    // SAFETY: the descriptor is open, and the kernel writes at most `length` bytes.
    let result = unsafe {
        libc::getsockopt(stream.as_raw_fd(), SOL_MPTCP, MPTCP_INFO, info.as_mut_ptr().cast(), &raw mut length)
    };
    let u32_at = |at: usize| u32::from_ne_bytes(info[at..at + 4].try_into().unwrap());
    let u64_at = |at: usize| u64::from_ne_bytes(info[at..at + 8].try_into().unwrap());
    // Offsets in linux/mptcp.h.
    (result == 0 && u32_at(8) & FALLBACK == 0).then(|| LinuxInfo {
        subflows: info[0],
        token: u32_at(12),
        write_seq: u64_at(16),
        snd_una: u64_at(24),
        rcv_nxt: u64_at(32),
        checksum: info[42] != 0,
    })
}

/// Number of Linux's subflows after the first. None for a TCP connection.
pub fn linux_subflows(stream: &TcpStream) -> Option<u8> {
    linux_info(stream).map(|info| info.subflows)
}
