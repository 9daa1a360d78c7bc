//! Which subflow carries the next data.
//!
//! Owns the choice among subflows that could send. Never touches windows or data.

pub(crate) mod linux;
mod minrtt;
pub(crate) mod ontime;
mod redundant;
mod roundrobin;
mod rule;
mod view;

use crate::policy::Registry;
pub use crate::scheduler::linux::Linux;
pub use crate::scheduler::minrtt::{MaxRtt, MinRtt};
pub use crate::scheduler::ontime::OnTime;
pub(crate) use crate::scheduler::ontime::TAIL;
pub use crate::scheduler::redundant::Redundant;
pub use crate::scheduler::roundrobin::RoundRobin;
pub use crate::scheduler::rule::Scheduler;
pub use crate::scheduler::view::{Candidate, SendView};

/// The built-in schedulers.
pub(crate) fn built_in() -> Registry<dyn Scheduler> {
    Registry::new("scheduler")
        .with(
            "ontime",
            "The path on which data arrives first, and slower paths only where that holds up nobody",
            |_| Ok(OnTime::default().into()),
        )
        .with("minrtt", "Lowest round-trip time first, as long as its window has room", |_| Ok(MinRtt.into()))
        .with("maxrtt", "Highest round-trip time first: the opposite of minrtt, for experiments", |_| {
            Ok(MaxRtt.into())
        })
        .with("linux", "Linux's: bursts of 64 KiB for the subflow whose queue would be empty first", |_| {
            Ok(Linux::default().into())
        })
        .with("roundrobin", "One segment each in turn", |_| Ok(RoundRobin::default().into()))
        .with("redundant", "Everything on every subflow", |_| Ok(Redundant.into()))
}
