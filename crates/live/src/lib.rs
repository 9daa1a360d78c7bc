#![doc = include_str!("../README.md")]
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
