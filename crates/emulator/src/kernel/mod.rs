//! The flows of a scenario on kernel sockets, over the emulated links, to compare Linux with the simulator.
//!
//! Owns the mapping from flows to sockets. `ability` compares features, `ends` has the sockets, `run` the
//! threads. Never creates namespaces or devices.

mod ability;
mod ends;
mod run;

pub use crate::flows::report::{FlowReport, Ran};
pub use ability::{Ability, Lack, Setting};
pub use run::{Order, run};
