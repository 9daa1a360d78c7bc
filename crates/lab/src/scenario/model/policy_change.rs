//! Resolved changes of the policies of a flow during the run. `resolve` creates them, and `world` applies them.

use mptcp::congestion::CongestionControl;
use mptcp::scheduler::Scheduler;
use mptcp_clock::Duration;

use crate::scenario::policies::Policy;

/// A change of the policies of a flow.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyChange {
    /// Time, before the end of the run.
    pub at: Duration,
    /// The flow, or the name of all copies of a flow.
    pub flow: String,
    /// The new scheduler; `None` keeps the present one.
    pub scheduler: Option<Policy<dyn Scheduler>>,
    /// The new congestion controller; `None` keeps the present one.
    pub congestion: Option<Policy<dyn CongestionControl>>,
}
