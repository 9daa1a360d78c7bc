//! Structures that Linux 6.18 returns at level SOL_MPTCP (include/uapi/linux/mptcp.h), which packetdrill
//! scripts compare.
//!
//! Owns the field order and the size negotiation of `struct mptcp_info` and of the arrays with one element for each
//! subflow. Fields that this stack does not know are 0.

use std::net::{IpAddr, SocketAddr};

use mptcp::{ConnectionInfo, SubflowInfo, SubflowState};
use mptcp_clock::Instant;

use crate::clocks::Clocks;
use crate::errno::{Result, fail};
use crate::tcp_info;

pub(crate) const MPTCP_INFO: i32 = 1;
pub(crate) const MPTCP_TCPINFO: i32 = 2;
pub(crate) const MPTCP_SUBFLOW_ADDRS: i32 = 3;
pub(crate) const MPTCP_FULL_INFO: i32 = 4;

/// Size of `struct mptcp_subflow_data`: its size, the number of elements, and the element sizes of kernel and caller.
const HEADER: usize = 16;
/// Size of `struct sockaddr_storage`.
const STORAGE: usize = 128;

/// The output of getsockopt(2): the option's value, and arrays with the addresses that the caller gave for them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) value: Vec<u8>,
    pub(crate) elsewhere: Vec<(u64, Vec<u8>)>,
}

impl From<Vec<u8>> for Answer {
    fn from(value: Vec<u8>) -> Self {
        Self { value, elsewhere: Vec::new() }
    }
}

/// Builds the output for a connection. `asked` holds the content of the caller's buffer.
pub(crate) fn answer(
    name: i32,
    asked: &[u8],
    info: &ConnectionInfo,
    clocks: &Clocks,
    now: Instant,
) -> Result<Answer> {
    let open = || info.subflows.iter().filter(|subflow| subflow.state != SubflowState::Closed);
    let tcp = || open().map(|subflow| tcp_info::of(now, info, subflow, clocks)).collect::<Vec<_>>();
    match name {
        MPTCP_INFO => Ok(whole(info, clocks, now).into()),
        MPTCP_TCPINFO => array(asked, &tcp()).map(Answer::from),
        MPTCP_SUBFLOW_ADDRS => {
            let found: Vec<_> = open().map(addresses).collect();
            array(asked, &found).map(Answer::from)
        }
        MPTCP_FULL_INFO => {
            let found: Vec<_> = open().map(named).collect();
            full(asked, &tcp(), &found, &whole(info, clocks, now))
        }
        _ => fail(libc::EOPNOTSUPP),
    }
}

/// `struct mptcp_info`, 96 bytes.
fn whole(info: &ConnectionInfo, clocks: &Clocks, now: Instant) -> Vec<u8> {
    let open = info.subflows.iter().filter(|subflow| subflow.state != SubflowState::Closed).count();
    let small = |count: u64| count.min(255) as u8;
    let since = |at: Instant| u32::try_from(now.since(at).as_nanos() / 1_000_000).unwrap_or(u32::MAX);
    let sum = |of: fn(&SubflowInfo) -> u64| info.subflows.iter().map(of).sum::<u64>();
    let mut bytes = vec![
        small((open as u64).saturating_sub(1)),
        small(info.add_addr_signal as u64),
        small(info.add_addr_accepted as u64),
        info.subflows_max,
        8,
        8,
        0,
        0,
    ];
    let flags = u32::from(info.fallback) | u32::from(info.remote_token.is_some()) << 1;
    for word in [flags, info.token] {
        bytes.extend(word.to_ne_bytes());
    }
    for long in [info.write_seq, info.snd_una, info.rcv_nxt] {
        bytes.extend(long.to_ne_bytes());
    }
    bytes.extend([0, 8, u8::from(info.checksum), 0]);
    bytes.extend((sum(|subflow| subflow.retransmissions) as u32).to_ne_bytes());
    let again = sum(|subflow| subflow.retransmitted_bytes);
    for long in [again, info.bytes_sent, info.bytes_received, info.bytes_acked] {
        bytes.extend(long.to_ne_bytes());
    }
    bytes.extend([small(open as u64), 0, 0, 0]);
    for word in [since(clocks.sent), since(clocks.data), since(clocks.heard)] {
        bytes.extend(word.to_ne_bytes());
    }
    bytes
}

fn word(bytes: &[u8], at: usize) -> Result<usize> {
    let found = bytes.get(at..).and_then(|rest| rest.first_chunk::<4>());
    found.map_or_else(|| fail(libc::EINVAL), |word| Ok(u32::from_ne_bytes(*word) as usize))
}

/// A header and an array whose elements are truncated to the caller's element size.
fn array(asked: &[u8], elements: &[Vec<u8>]) -> Result<Vec<u8>> {
    let (header, room) = (word(asked, 0)?, word(asked, 12)?);
    if header < HEADER || word(asked, 4)? != 0 || word(asked, 8)? != 0 {
        return fail(libc::EINVAL);
    }
    let size = elements.first().map_or(0, Vec::len);
    let mut value = Vec::new();
    for number in [header, elements.len(), size, room] {
        value.extend((number as u32).to_ne_bytes());
    }
    value.resize(header.min(asked.len()), 0);
    value.extend(fitted(elements, room, asked.len().saturating_sub(value.len())));
    Ok(value)
}

/// Elements truncated or padded to `size`, as many as fit into `room` bytes.
fn fitted(elements: &[Vec<u8>], size: usize, room: usize) -> Vec<u8> {
    let most = room.checked_div(size).unwrap_or(0);
    let fit = |element: &Vec<u8>| {
        let mut element = element.clone();
        element.resize(size, 0);
        element
    };
    elements.iter().take(most).flat_map(fit).collect()
}

/// `struct mptcp_full_info`: sizes, addresses of the arrays, and `struct mptcp_info`.
fn full(asked: &[u8], tcp: &[Vec<u8>], subflows: &[Vec<u8>], whole: &[u8]) -> Result<Answer> {
    let address = |at: usize| {
        let found = asked.get(at..).and_then(|rest| rest.first_chunk::<8>());
        found.map_or_else(|| fail(libc::EINVAL), |bytes| Ok(u64::from_ne_bytes(*bytes)))
    };
    if word(asked, 0)? != 0 || word(asked, 8)? != 0 || word(asked, 16)? != 0 {
        return fail(libc::EINVAL);
    }
    let (tcp_size, subflow_size, places) = (word(asked, 4)?, word(asked, 12)?, word(asked, 20)?);
    let (subflows_to, tcp_to) = (address(24)?, address(32)?);
    let size = |elements: &[Vec<u8>]| elements.first().map_or(0, Vec::len);
    let mut value = Vec::new();
    for number in [size(tcp), tcp_size, size(subflows), subflow_size, subflows.len(), places] {
        value.extend((number as u32).to_ne_bytes());
    }
    value.extend(subflows_to.to_ne_bytes());
    value.extend(tcp_to.to_ne_bytes());
    value.extend(whole);
    let put = |to: u64, elements: &[Vec<u8>], size: usize| {
        let bytes = fitted(elements, size, size.saturating_mul(places));
        (to != 0 && !bytes.is_empty()).then_some((to, bytes))
    };
    let elsewhere = [put(subflows_to, subflows, subflow_size), put(tcp_to, tcp, tcp_size)];
    Ok(Answer { value, elsewhere: elsewhere.into_iter().flatten().collect() })
}

/// `struct mptcp_subflow_addrs`: the local and the remote address.
fn addresses(subflow: &SubflowInfo) -> Vec<u8> {
    [storage(subflow.local), storage(subflow.remote)].concat()
}

/// `struct mptcp_subflow_info`: the subflow's number, padding, and its addresses.
fn named(subflow: &SubflowInfo) -> Vec<u8> {
    let mut bytes = subflow.id.number().to_ne_bytes()[..4].to_vec();
    bytes.resize(8, 0);
    bytes.extend(addresses(subflow));
    bytes
}

fn storage(address: SocketAddr) -> Vec<u8> {
    let mut bytes = Vec::new();
    match address.ip() {
        IpAddr::V4(ip) => {
            bytes.extend((libc::AF_INET as u16).to_ne_bytes());
            bytes.extend(address.port().to_be_bytes());
            bytes.extend(ip.octets());
        }
        IpAddr::V6(ip) => {
            bytes.extend((libc::AF_INET6 as u16).to_ne_bytes());
            bytes.extend(address.port().to_be_bytes());
            bytes.extend([0; 4]);
            bytes.extend(ip.octets());
        }
    }
    bytes.resize(STORAGE, 0);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(room: u32) -> Vec<u8> {
        [16, 0, 0, room].iter().flat_map(|word| word.to_ne_bytes()).chain(vec![0; 64]).collect()
    }

    #[test]
    fn arrays_have_the_size_that_the_caller_knows() {
        let elements = vec![vec![1; 8], vec![2; 8]];
        let value = array(&header(4), &elements).unwrap();
        assert_eq!(value[..16], [16, 2, 8, 4].map(u32::to_ne_bytes).concat());
        assert_eq!(value[16..], [1, 1, 1, 1, 2, 2, 2, 2]);
        // A caller with larger elements gets padding of zeroes.
        assert_eq!(
            array(&header(12), &elements).unwrap()[16..40],
            [[1; 8].as_slice(), &[0; 4], &[2; 8], &[0; 4]].concat()
        );
    }

    #[test]
    fn a_header_that_is_filled_already_is_refused() {
        let mut asked = header(4);
        asked[4] = 1;
        assert_eq!(array(&asked, &[]), fail(libc::EINVAL));
        assert_eq!(array(&[], &[]), fail(libc::EINVAL));
    }

    #[test]
    fn full_information_puts_arrays_where_they_are_wanted() {
        let mut asked: Vec<u8> =
            [0, 4, 0, 8, 0, 1].iter().flat_map(|word: &u32| word.to_ne_bytes()).collect();
        asked.extend([7_u64, 9].map(u64::to_ne_bytes).concat());
        let answer = full(&asked, &[vec![1; 8]], &[vec![2; 8], vec![3; 8]], &[5; 96]).unwrap();
        assert_eq!(answer.elsewhere, [(7, vec![2; 8]), (9, vec![1; 4])]);
        assert_eq!((answer.value.len(), answer.value[16]), (136, 2));
    }
}
