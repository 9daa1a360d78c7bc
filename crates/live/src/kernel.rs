//! Linux kernel sockets for TCP and MPTCP: the options that the standard library lacks. The emulator uses
//! them to run a scenario on the kernel's own MPTCP.
//!
//! Owns the meaning of options and of kernel reports; `sys` makes the calls, and the standard library reads
//! and writes. A socket belongs to the network namespace of the thread that created it.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};
use std::time::Duration;

use crate::sys::sockets::{self, SUBFLOW, TCP};

/// Maximum number of queried subflows; the kernel has at most nine (MPTCP_SUBFLOWS_MAX in addition to the
/// first).
const MOST: usize = 16;
/// Interval between calls of `waits`.
const SLICE: Duration = Duration::from_millis(50);
/// Maximum length of a controller name (TCP_CA_NAME_MAX).
const NAME: usize = 16;

/// Socket options for one endpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// MPTCP instead of TCP.
    pub multipath: bool,
    /// The congestion controller, by its kernel name.
    pub congestion: String,
    /// SO_RCVBUF in bytes; the kernel doubles it. `None` enables autotuning.
    pub receive_buffer: Option<u32>,
    /// SO_SNDBUF in bytes; the kernel doubles it. `None` enables autotuning.
    pub send_buffer: Option<u32>,
    /// Disables the Nagle algorithm (TCP_NODELAY).
    pub nodelay: bool,
    /// Maximum segment size in bytes (TCP_MAXSEG).
    pub segment: Option<u32>,
}

/// The kernel's state of a subflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathInfo {
    /// Local address.
    pub local: SocketAddrV4,
    /// Remote address.
    pub remote: SocketAddrV4,
    /// Payload bytes sent, including retransmissions.
    pub bytes_sent: u64,
    /// Bytes acknowledged.
    pub bytes_acked: u64,
    /// Retransmitted segments.
    pub retransmits: u64,
    /// Retransmission timeouts (since Linux 6.7).
    pub timeouts: u64,
    /// Maximum segment size, bytes.
    pub mss: u32,
    /// Congestion window, segments.
    pub cwnd: u32,
    /// Slow start threshold in segments; `None` before the first loss.
    pub ssthresh: Option<u32>,
    /// Segments in flight.
    pub unacked: u32,
    /// Smoothed RTT, microseconds.
    pub srtt_us: u32,
    /// RTT variation, microseconds.
    pub rttvar_us: u32,
}

/// The kernel's state of a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SocketInfo {
    /// Whether the connection uses MPTCP.
    pub multipath: bool,
    /// Bytes that the kernel reinjected on another path.
    pub reinjected: u64,
    /// Its open subflows.
    pub paths: Vec<PathInfo>,
}

/// A listening socket; the options apply to accepted sockets.
///
/// # Errors
/// If the kernel refuses an option, or the address is taken.
pub fn listen(at: SocketAddrV4, options: &Options) -> io::Result<TcpListener> {
    let socket = prepared(options)?;
    set_number(socket.as_fd(), libc::SOL_SOCKET, libc::SO_REUSEADDR, 1)?;
    sockets::bind(&socket, at)?;
    sockets::listen(&socket)?;
    Ok(TcpListener::from(socket))
}

/// Connects a socket from an address of this host. Until an answer arrives, calls `waits` every 50 ms, which
/// returns whether to wait longer.
///
/// # Errors
/// If the kernel refuses an option or the connection, or after `waits` has returned false (`TimedOut`).
pub fn connect(
    from: Ipv4Addr,
    to: SocketAddrV4,
    options: &Options,
    waits: impl Fn() -> bool,
) -> io::Result<TcpStream> {
    let socket = prepared(options)?;
    sockets::bind(&socket, SocketAddrV4::new(from, 0))?;
    // The write timeout also limits connect(2), which then continues in the background and is queried again.
    let stream = TcpStream::from(socket);
    stream.set_write_timeout(Some(SLICE))?;
    loop {
        let error = match sockets::connect(stream.as_fd(), to) {
            Ok(()) => break,
            Err(error) => error,
        };
        match error.raw_os_error() {
            Some(libc::EISCONN) => break,
            Some(libc::EINPROGRESS | libc::EALREADY | libc::EINTR) if waits() => {}
            Some(libc::EINPROGRESS | libc::EALREADY | libc::EINTR) => {
                return Err(io::Error::new(io::ErrorKind::TimedOut, format!("no answer from {to}")));
            }
            _ => return Err(error),
        }
    }
    stream.set_write_timeout(None)?;
    Ok(stream)
}

/// A second descriptor for a connected stream socket of this process, such as one that Python has opened.
///
/// # Errors
/// As dup(2): EBADF if `descriptor` is not open.
pub fn duplicate(descriptor: RawFd) -> io::Result<TcpStream> {
    sockets::duplicate(descriptor).map(TcpStream::from)
}

/// Creates a socket and sets all options before it connects: a default controller could enable pacing
/// permanently.
fn prepared(options: &Options) -> io::Result<OwnedFd> {
    let socket = sockets::stream(options.multipath)?;
    let fd = socket.as_fd();
    let (level, name) = (libc::IPPROTO_TCP, options.congestion.as_bytes());
    sockets::set(fd, level, libc::TCP_CONGESTION, name)
        .map_err(|error| told(&error, &format!("congestion control {}", options.congestion)))?;
    // The FORCE variants can exceed net.core.rmem_max and wmem_max. They need CAP_NET_ADMIN.
    if let Some(bytes) = options.receive_buffer {
        set_number(fd, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, bytes)?;
    }
    if let Some(bytes) = options.send_buffer {
        set_number(fd, libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, bytes)?;
    }
    if options.nodelay {
        set_number(fd, level, libc::TCP_NODELAY, 1)?;
    }
    if let Some(bytes) = options.segment {
        set_number(fd, level, libc::TCP_MAXSEG, bytes)?;
    }
    Ok(socket)
}

/// The actual settings of a socket: controller, and receive and send buffer in bytes.
///
/// # Errors
/// As getsockopt(2).
pub fn given(socket: &impl AsFd) -> io::Result<(String, u32, u32)> {
    let mut name = [0; NAME];
    let length = sockets::get(socket.as_fd(), libc::IPPROTO_TCP, libc::TCP_CONGESTION, &mut name)?;
    let name = name[..length].split(|byte| *byte == 0).next().unwrap_or_default();
    let number = |option| {
        let mut value = [0; 4];
        sockets::get(socket.as_fd(), libc::SOL_SOCKET, option, &mut value)?;
        Ok::<_, io::Error>(u32::from_ne_bytes(value))
    };
    let buffers = (number(libc::SO_RCVBUF)?, number(libc::SO_SNDBUF)?);
    Ok((String::from_utf8_lossy(name).into_owned(), buffers.0, buffers.1))
}

/// The addresses of a connected socket, local first. A closed TCP socket loses its remote address.
///
/// # Errors
/// If the socket is not connected, or not over IPv4.
pub fn ends(stream: &TcpStream) -> io::Result<(SocketAddrV4, SocketAddrV4)> {
    match (stream.local_addr()?, stream.peer_addr()?) {
        (SocketAddr::V4(local), SocketAddr::V4(remote)) => Ok((local, remote)),
        _ => Err(io::Error::new(io::ErrorKind::Unsupported, "an IPv6 socket; must be IPv4")),
    }
}

/// The kernel's state of a connection with these addresses, while the socket is open.
///
/// # Errors
/// As getsockopt(2).
pub fn info(stream: &TcpStream, (local, remote): (SocketAddrV4, SocketAddrV4)) -> io::Result<SocketInfo> {
    let (mut ends, mut tcp) = ([0; SUBFLOW * MOST], [0; TCP * MOST]);
    let full = match sockets::full_info(stream.as_fd(), &mut ends, &mut tcp) {
        // Error of TCP sockets, of sockets after a fallback, and of kernels before 6.6.
        Err(error) if matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP | libc::ENOPROTOOPT)) => None,
        full => Some(full?),
    };
    if let Some(full) = full {
        let pairs = ends.chunks_exact(full.subflow.max(1)).zip(tcp.chunks_exact(full.tcp.max(1)));
        let paths = pairs.take(full.count);
        let paths = paths.filter_map(|(ends, tcp)| Some(path(address(ends, 8)?, address(ends, 136)?, tcp)));
        return Ok(SocketInfo {
            // The first flag is MPTCP_INFO_FLAG_FALLBACK.
            multipath: u32_at(&full.general, 8) & 1 == 0,
            reinjected: u64_at(&full.general, 48),
            paths: paths.collect(),
        });
    }
    let length = sockets::get(stream.as_fd(), libc::IPPROTO_TCP, libc::TCP_INFO, &mut tcp[..TCP])?;
    Ok(SocketInfo { multipath: false, reinjected: 0, paths: vec![path(local, remote, &tcp[..length])] })
}

fn set_number(socket: BorrowedFd<'_>, level: i32, option: i32, value: u32) -> io::Result<()> {
    sockets::set(socket, level, option, &value.to_ne_bytes())
}

fn told(error: &io::Error, what: &str) -> io::Error {
    io::Error::new(error.kind(), format!("{what}: {error}"))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |chunk| u32::from_ne_bytes(*chunk))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |chunk| u64::from_ne_bytes(*chunk))
}

/// Parses `struct sockaddr_in`: family, port, address.
fn address(bytes: &[u8], at: usize) -> Option<SocketAddrV4> {
    let address = bytes.get(at..)?.first_chunk::<8>()?;
    let [f0, f1, p0, p1, a, b, c, d] = *address;
    let is_v4 = i32::from(u16::from_ne_bytes([f0, f1])) == libc::AF_INET;
    is_v4.then(|| SocketAddrV4::new(Ipv4Addr::new(a, b, c, d), u16::from_be_bytes([p0, p1])))
}

/// Parses `struct tcp_info` of linux/tcp.h. Fields that an older kernel lacks are zero.
fn path(local: SocketAddrV4, remote: SocketAddrV4, tcp: &[u8]) -> PathInfo {
    let ssthresh = u32_at(tcp, 76);
    PathInfo {
        local,
        remote,
        bytes_sent: u64_at(tcp, 200),
        bytes_acked: u64_at(tcp, 120),
        retransmits: u32_at(tcp, 100).into(),
        // tcpi_total_rto has two bytes.
        timeouts: u64::from(tcp.get(240..242).map_or(0, |two| u16::from_ne_bytes([two[0], two[1]]))),
        mss: u32_at(tcp, 16),
        cwnd: u32_at(tcp, 80),
        // TCP_INFINITE_SSTHRESH
        ssthresh: (ssthresh < 0x7fff_ffff).then_some(ssthresh),
        unacked: u32_at(tcp, 24),
        srtt_us: u32_at(tcp, 68),
        rttvar_us: u32_at(tcp, 72),
    }
}
