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
pub use linux::Linux;
pub use minrtt::{MaxRtt, MinRtt};
pub use ontime::OnTime;
pub(crate) use ontime::TAIL;
pub use redundant::Redundant;
pub use roundrobin::RoundRobin;
pub use rule::Scheduler;
pub use view::{Candidate, SendView};

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
