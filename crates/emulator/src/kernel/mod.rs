//! The flows of a scenario on Linux's own sockets, over the emulated links.
//!
//! Owns what of a flow becomes which socket, and what the kernel said of it. `ability` says what the kernel cannot do, `end` sends and
//! receives, `watch` looks at it again and again, `summary` puts it into the tables that the simulator gives. Never makes a
//! namespace or a device.

mod ability;
mod ends;
mod run;
mod summary;
mod watch;

pub use ability::{Ability, Lack, Setting};
pub use run::{FlowReport, Order, Ran, run};
