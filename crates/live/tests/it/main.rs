//! Tests the endpoint on real packets with Linux as the peer; `../README.md` lists the tested behaviour.
//!
//! `laboratory/turns.rs` schedules the tests.

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
