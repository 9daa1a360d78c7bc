//! One end of a link in user space: a device of a namespace, or a pipe to a driver.
//!
//! Owns the choice between them.

use std::fs::File;
use std::io::{Read, Write};
use std::net::IpAddr;
use std::os::fd::AsFd;

use bytes::Bytes;
use mptcp_live::{Offload, Pipe, Tun};

use super::Namespace;

/// The source and destination of packets.
pub enum Port {
    Device(File),
    Pipe(Pipe),
}

impl Port {
    /// Creates a device in a namespace with this address.
    pub fn device(namespace: &Namespace, name: &str, address: IpAddr) -> Self {
        let tun = namespace.run(|| Tun::open_with(name, Offload::None)).unwrap();
        namespace.ip(&format!("addr add {address}/24 dev {name}")).unwrap();
        namespace.ip(&format!("link set {name} up txqueuelen 10000")).unwrap();
        namespace.sysctl("net.ipv4.tcp_no_metrics_save", "1");
        Self::Device(File::from(tun.as_fd().try_clone_to_owned().unwrap()))
    }

    /// The next packet; never blocks.
    pub fn take(&self, buffer: &mut [u8]) -> Option<Bytes> {
        match self {
            Self::Device(file) => {
                (&*file).read(buffer).ok().map(|count| Bytes::copy_from_slice(&buffer[..count]))
            }
            Self::Pipe(pipe) => pipe.take().ok(),
        }
    }

    /// Sends a packet.
    pub fn put(&self, packet: Bytes) {
        // As on a real link, a full device or pipe drops the packet.
        let _ = match self {
            Self::Device(file) => (&*file).write_all(&packet),
            Self::Pipe(pipe) => pipe.put(packet),
        };
    }
}
