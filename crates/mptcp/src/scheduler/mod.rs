//! Schedulers: the choice of the subflow for the next data.
//!
//! A bad choice makes data on fast paths wait for a slow one (head-of-line blocking). Owns the choice among
//! subflows that could send. Never changes windows or data.

pub(crate) mod linux;
mod minrtt;
pub(crate) mod ontime;
mod redundant;
mod roundrobin;
mod rule;
mod view;

pub use crate::scheduler::linux::Linux;
pub use crate::scheduler::minrtt::{MaxRtt, MinRtt};
pub use crate::scheduler::ontime::OnTime;
pub(crate) use crate::scheduler::ontime::TAIL;
pub use crate::scheduler::redundant::Redundant;
pub use crate::scheduler::roundrobin::RoundRobin;
pub use crate::scheduler::rule::Scheduler;
pub use crate::scheduler::view::{Candidate, SendView};
