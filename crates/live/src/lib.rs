//! Multipath TCP in user space, on real packets.
//!
//! Owns everything outside the protocol. Links are TUN devices ([`Tun`]), Ethernet interfaces ([`Ethernet`]) and
//! links inside the process ([`Pipe`]). A clock and a thread drive an endpoint ([`Driver`]). Sockets block
//! ([`MptcpListener`], [`MptcpStream`]).
//! The endpoint is the one that the simulator runs, unchanged. Never makes decisions of the protocol, and
//! never configures the machine: the administrator sets addresses and routes of the devices.
//!
//! The kernel keeps one address of each device's subnet, the endpoint another:
//!
//! ```text
//! ip tuntap add mptcp0 mode tun && ip addr add 10.88.0.1/24 dev mptcp0 && ip link set mptcp0 up
//! ```
//!
//! ```no_run
//! use std::io::{Read, Write};
//!
//! use mptcp_live::{Config, Driver, Interface, MptcpStream, Tun};
//!
//! let tun = Tun::open("mptcp0")?;
//! let driver = Driver::start(vec![Interface::new(tun, ["10.88.0.2".parse()?])])?;
//! let mut stream = MptcpStream::connect(&driver, "10.88.0.1:80".parse()?, Config::default())?;
//! stream.write_all(b"GET / HTTP/1.0\r\n\r\n")?;
//! stream.shutdown_write()?;
//! let mut answer = Vec::new();
//! stream.read_to_end(&mut answer)?;
//! println!("{} bytes over {} subflows", answer.len(), stream.info()?.subflows.len());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Keys, nonces and sequence numbers come from ChaCha20 with a seed from the kernel, since keys must be hard
//! to guess (RFC 8684 section 3.1).
#![cfg(target_os = "linux")]
#![deny(unsafe_code)]

mod blocks;
pub mod bulk;
mod capture;
mod control;
mod device;
mod driver;
mod ethernet;
mod events;
mod impairment;
mod inbox;
pub mod kernel;
mod link;
mod listener;
pub mod namespace;
mod options;
mod outbox;
mod pipe;
mod poll;
mod shared;
mod sleeper;
mod socket;
#[allow(unsafe_code, reason = "the one place with system calls")]
mod sys;
#[cfg(feature = "tokio")]
pub mod tokio;
#[cfg(feature = "tracing")]
mod tracing;
mod transfer;
mod tun;
mod vnet;
mod waiting;

pub use capture::Capture;
pub use driver::{Driver, Interface};
pub use ethernet::Ethernet;
pub use events::EventLog;
pub use impairment::{Edge, Impairment};
pub use link::Link;
pub use listener::{MptcpListener, SOMAXCONN};
pub use mptcp::{
    CloseReason, Config, ConnectionInfo, ConnectionUse, Ecn, EndpointUse, IcmpError, InterfaceId, Keepalive,
    Mechanisms, Mode, MtuProbing, Recovery, SubflowCloseReason, SubflowId, SubflowInfo, SubflowState,
    Version,
};
pub use mptcp::{congestion, observe, path_manager, policy, scheduler};
pub use pipe::Pipe;
pub use shared::{Address, Counters};
pub use sleeper::{Sleeper, monotonic, run_first};
pub use socket::MptcpStream;
#[cfg(feature = "tracing")]
pub use tracing::Tracing;
pub use tun::{Offload, Tun};
