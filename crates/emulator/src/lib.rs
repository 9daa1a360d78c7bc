//! Scenarios on real packets: simulated links between network devices, in real time.
//!
//! Owns the transfer of packets between devices and the network. `netsim` implements links, and `mptcp-lab` the
//! meaning of scenarios. [`Emulation`] has neither clock nor devices, so tests run it in virtual time;
//! [`Driver`] adds clock and devices. Two modules run flows: [`kernel`] on Linux's sockets, [`wire`] on
//! mptcplab's stack inside this process. Never creates namespaces, addresses or routes: [`Plan`] lists those
//! that are needed.
#![cfg(target_os = "linux")]
#![forbid(unsafe_code)]

mod capture;
mod control;
mod driver;
mod emulation;
mod error;
mod flows;
mod header;
pub mod kernel;
mod lateness;
mod plan;
mod ports;
mod slots;
mod turns;
mod verdict;
pub mod wire;

pub use capture::Recording;
pub use control::Control;
pub use driver::{Driver, LinkCounters, Snapshot};
pub use emulation::{Delivery, Emulation};
pub use error::EmulatorError;
pub use lateness::{Lateness, Spread};
pub use plan::{Device, Host, Notice, Plan, Route};
pub use ports::Attachment;
