//! Linux's information about each subflow of a connection, as `ss -i` shows it.
//!
//! Owns the parsing of the kernel's structures.

use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::time::Duration;

/// Fields of `struct tcp_info`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinuxSubflow {
    /// Linux's state number: 1 is established, 2 and 3 are handshakes.
    pub state: u8,
    /// Timeouts since the latest acknowledgement.
    pub retransmits: u8,
    pub probes: u8,
    pub backoff: u8,
    /// The RTO with backoff.
    pub rto: Duration,
    pub unacked: u32,
    pub lost: u32,
    pub cwnd: u32,
    pub since_data_sent: Duration,
    pub since_data_received: Duration,
    pub total_retrans: u32,
}

/// Requested size of `struct tcp_info`, in bytes.
const LENGTH: usize = 104;
/// Size of `struct mptcp_subflow_data`, in bytes.
const HEAD: usize = 16;
/// Maximum number of subflows.
const MOST: usize = 16;

/// The subflows of a connection (MPTCP_TCPINFO); empty for TCP and for closed connections.
pub fn linux_subflow_infos(stream: &TcpStream) -> Vec<LinuxSubflow> {
    const SOL_MPTCP: libc::c_int = 284;
    const MPTCP_TCPINFO: libc::c_int = 2;
    let mut buffer = vec![0_u8; HEAD + MOST * LENGTH];
    buffer[0..4].copy_from_slice(&(HEAD as u32).to_ne_bytes());
    buffer[12..16].copy_from_slice(&(LENGTH as u32).to_ne_bytes());
    let mut length = buffer.len() as libc::socklen_t;
    let (fd, place) = (stream.as_raw_fd(), buffer.as_mut_ptr().cast());
    // SAFETY: the descriptor is open, and the kernel writes at most `length` bytes.
    let result = unsafe { libc::getsockopt(fd, SOL_MPTCP, MPTCP_TCPINFO, place, &raw mut length) };
    if result < 0 {
        return Vec::new();
    }
    let count = u32::from_ne_bytes(buffer[4..8].try_into().unwrap()) as usize;
    buffer[HEAD..].chunks_exact(LENGTH).take(count).map(parse).collect()
}

/// Offsets in linux/tcp.h.
fn parse(info: &[u8]) -> LinuxSubflow {
    let word = |at: usize| u32::from_ne_bytes(info[at..at + 4].try_into().unwrap());
    LinuxSubflow {
        state: info[0],
        retransmits: info[2],
        probes: info[3],
        backoff: info[4],
        rto: Duration::from_micros(word(8).into()),
        unacked: word(24),
        lost: word(32),
        cwnd: word(80),
        since_data_sent: Duration::from_millis(word(44).into()),
        since_data_received: Duration::from_millis(word(52).into()),
        total_retrans: word(100),
    }
}
