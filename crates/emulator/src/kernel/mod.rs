//! The flows of a scenario on Linux's own sockets, over the emulated links.
//!
//! Owns what of a flow becomes which socket. `ability` says what the kernel cannot do, `ends` has the sockets, `run` the threads. Never
//! makes a namespace or a device.

mod ability;
mod ends;
mod run;

pub use crate::flows::report::{FlowReport, Ran};
pub use ability::{Ability, Lack, Setting};
pub use run::{Order, run};
