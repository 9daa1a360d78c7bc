//! The flows of a scenario on kernel sockets, over the emulated links, to compare Linux with the simulator.
//!
//! Owns the mapping from flows to sockets. `ability` finds what the kernel lacks of each flow's congestion
//! control, MPTCP version, scheduler, path manager, mechanisms, send-queue rule, traffic and paths. `ends`
//! has the sockets, `run` the threads. Never creates namespaces or devices.

mod ability;
mod ends;
mod run;

pub use crate::flows::report::{FlowReport, Ran};
pub use ability::{Ability, Lack, Setting};
pub use run::{Order, run};
