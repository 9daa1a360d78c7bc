//! Runs packetdrill scripts against the MPTCP endpoint instead of the Linux kernel.
//!
//! A shared library for `packetdrill --so_filename=libmptcp_packetdrill.so --so_flags=local=ADDRESS`. packetdrill calls
//! its functions in place of system calls, injects the packets of a script, and compares the packets that the endpoint
//! sends.
//!
//! Owns sockets over an [`mptcp::Endpoint`], a clock that follows the machine's clock, and a network device that
//! packetdrill reads. `tools/conformance` thus tests the endpoint of the simulator with scripts written for Linux. The
//! endpoint uses [`mptcp::LinuxCompat::LINUX`] here. Never knows the script, and never touches a network.
//!
//! - `sockets`, `calls`, `streams` and `options` implement Linux's sockets.
//! - `stack` drives the endpoint.
//! - `settings` reads the script's `ip` and `sysctl` commands.
//! - `interface` holds the table of C functions, and `memory` accesses C's memory.
#![deny(unsafe_code)]

mod buffers;
mod calls;
mod clocks;
mod device;
mod epoll;
mod errno;
mod events;
mod fast_open;
mod flags;
#[allow(unsafe_code, reason = "the functions that C calls")]
mod interface;
#[allow(unsafe_code, reason = "reads and writes C's memory")]
mod memory;
mod messages;
mod mptcp_info;
mod options;
mod settings;
mod socket_options;
mod sockets;
mod stack;
mod streams;
mod tcp_info;
mod values;
mod watching;
mod zero_copy;

pub use interface::{Interface, packetdrill_interface_init};
