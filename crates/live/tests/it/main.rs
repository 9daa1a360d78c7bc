//! The endpoint on real packets, with Linux as the peer; `../README.md` has the table of what is shown.
//!
//! How many run beside each other, and which run alone: `laboratory/turns.rs`.

mod controllers;
mod downloads;
mod driver;
mod events;
mod examples;
mod icmp;
mod impaired;
mod joins;
mod keepalive;
mod kernel;
#[cfg(target_os = "linux")]
mod laboratory;
mod leaks;
mod linux;
mod linux_comparison;
mod marks;
mod matrix;
mod outages;
mod path_mtu;
mod paths;
mod pipes;
mod raw_data;
mod raw_endings;
mod raw_handshake;
mod robust;
mod sleeper;
mod sockets;
mod table;
mod tasks;
mod throughput;
