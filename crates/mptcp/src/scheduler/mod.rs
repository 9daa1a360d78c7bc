//! Schedulers: the choice of the subflow for the next data.
//!
//! A bad choice makes data on fast paths wait for a slow one (head-of-line blocking). Owns the choice among
//! subflows that could send. Never changes windows or data.

mod blest;
mod daps;
mod ecf;
mod fastest;
pub(crate) mod linux;
mod minrtt;
pub(crate) mod ontime;
mod opportunistic;
mod otias;
mod priority;
mod redundant;
mod roundrobin;
mod rule;
mod shares;
mod sttf;
mod view;
mod weighted;

pub use crate::scheduler::blest::Blest;
pub use crate::scheduler::daps::Daps;
pub use crate::scheduler::ecf::Ecf;
pub use crate::scheduler::linux::Linux;
pub use crate::scheduler::minrtt::{MaxRtt, MinRtt};
pub use crate::scheduler::ontime::OnTime;
pub(crate) use crate::scheduler::ontime::TAIL;
pub use crate::scheduler::opportunistic::OpportunisticRedundant;
pub use crate::scheduler::otias::Otias;
pub use crate::scheduler::priority::Priority;
pub use crate::scheduler::redundant::Redundant;
pub use crate::scheduler::roundrobin::RoundRobin;
pub use crate::scheduler::rule::Scheduler;
pub use crate::scheduler::sttf::Sttf;
pub use crate::scheduler::view::{Candidate, SendView};
pub use crate::scheduler::weighted::{WeightedRoundRobin, Weights};
