//! What Linux says of each subflow of a connection, as `ss -i` shows it.

use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::time::Duration;

/// Of `struct tcp_info`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinuxSubflow {
    /// Linux's number: 1 is established, 2 and 3 are handshakes.
    pub state: u8,
    /// Timeouts since the last acknowledgement.
    pub retransmits: u8,
    pub probes: u8,
    pub backoff: u8,
    /// With backoff.
    pub rto: Duration,
    pub unacked: u32,
    pub lost: u32,
    pub cwnd: u32,
    pub since_data_sent: Duration,
    pub since_data_received: Duration,
    pub total_retrans: u32,
}

/// Bytes of `struct tcp_info` that are asked for.
const LENGTH: usize = 104;
/// Bytes of `struct mptcp_subflow_data`.
const HEAD: usize = 16;
/// Subflows that there is room for.
const MOST: usize = 16;

/// MPTCP_TCPINFO: the subflows of a connection; none when it speaks TCP or is over.
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

/// The offsets of linux/tcp.h.
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
