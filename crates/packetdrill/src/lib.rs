//! The endpoint under packetdrill.
//!
//! A shared library for `packetdrill --so_filename=libmptcp_packetdrill.so --so_flags=local=ADDRESS`: packetdrill
//! calls its functions where it would make system calls, hands it the packets of a script, and compares the packets
//! that it takes back. Owns sockets over an [`mptcp::Endpoint`], a clock that is the machine's, and a device that is
//! packetdrill's. The endpoint is the one that the simulator runs, with [`mptcp::LinuxCompat::LINUX`]. Never knows which
//! script is run, and never touches a network.
//!
//! `sockets`, `calls`, `streams` and `options` are Linux's sockets; `stack` drives the endpoint; `settings` reads what
//! the script told the kernel; `interface` is the table of functions that C sees, and `memory` C's memory.
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
