//! The addresses and ports that tell subflows apart.

use std::hash::{Hash, Hasher};
use std::net::{IpAddr, SocketAddr};

/// Both addresses and ports of a subflow, ours first, as numbers that compare and hash fast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tuple {
    local: u128,
    remote: u128,
    ports: u32,
}

impl Tuple {
    pub(super) fn new(local: SocketAddr, remote: SocketAddr) -> Self {
        let number = |address: IpAddr| match address {
            IpAddr::V4(address) => 0xffff << 32 | u128::from(u32::from(address)),
            IpAddr::V6(address) => u128::from(address),
        };
        let ports = u32::from(local.port()) << 16 | u32::from(remote.port());
        Self { local: number(local.ip()), remote: number(remote.ip()), ports }
    }
}

/// A number that differs for most subflows that differ, as their ports do, and costs next to nothing.
#[inline]
pub(super) fn mixed(local: &SocketAddr, remote: &SocketAddr) -> usize {
    let ports = usize::from(local.port() ^ remote.port());
    ports ^ ports >> 8
}

impl Hash for Tuple {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let mut bytes = [0; 36];
        let (local, rest) = bytes.split_at_mut(16);
        let (remote, ports) = rest.split_at_mut(16);
        local.copy_from_slice(&self.local.to_ne_bytes());
        remote.copy_from_slice(&self.remote.to_ne_bytes());
        ports.copy_from_slice(&self.ports.to_ne_bytes());
        state.write(&bytes);
    }
}
