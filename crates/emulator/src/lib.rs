//! Scenarios on real packets: the links of the simulator between network devices, driven by the wall clock.
//!
//! Owns the way of a packet from a device into the network and out to another one. What a link does to it is
//! `netsim`'s, what the scenario means is `mptcp-lab`'s; neither is written again here. [`Emulation`] has no clock
//! and no device, so tests drive it in virtual time; [`Driver`] gives it both. Never makes a namespace, an address or a
//! route: [`Plan`] says which there have to be.
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
