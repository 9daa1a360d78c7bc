//! Addresses of the two hosts.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

pub fn client_address(path: usize, v6: bool) -> IpAddr {
    if v6 {
        Ipv6Addr::new(0xfd00, path as u16, 0, 0, 0, 0, 0, 2).into()
    } else {
        Ipv4Addr::new(10, path as u8, 0, 2).into()
    }
}

pub fn server_address(number: usize, v6: bool) -> IpAddr {
    if v6 {
        Ipv6Addr::new(0xfd00, 0x99, 0, 0, 0, 0, 0, 1 + number as u16).into()
    } else {
        Ipv4Addr::new(10, 99, 0, 1 + number as u8).into()
    }
}

/// The path of a client address.
pub fn path_of(address: IpAddr) -> usize {
    match address {
        IpAddr::V4(address) => usize::from(address.octets()[1]),
        IpAddr::V6(address) => usize::from(address.segments()[1]),
    }
}

/// The interface of a server address.
pub fn server_interface(address: IpAddr) -> usize {
    let last = match address {
        IpAddr::V4(address) => usize::from(address.octets()[3]),
        IpAddr::V6(address) => usize::from(address.segments()[7]),
    };
    last.saturating_sub(1)
}
