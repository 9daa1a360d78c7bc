//! The model of a path: its rate, its queue, its losses, and the arrival time of data that is sent now.
//!
//! Owns every estimate of a path. The subflow feeds it; schedulers, reinjection, pacing, congestion control and observers read it.

mod estimate;
mod local_queue;
mod losses;
mod per_path;
mod queue;
mod rate;
mod state;

use mptcp_clock::Duration;

pub use crate::path::estimate::PathEstimate;
pub use crate::path::local_queue::{Departure, LocalQueue};
pub use crate::path::losses::Losses;
pub(crate) use crate::path::per_path::PerPath;
pub(crate) use crate::path::queue::{OwnQueue, Standing};
pub(crate) use crate::path::rate::Arrived;
pub use crate::path::rate::DeliveryRate;
pub use crate::path::state::Path;

/// The estimates of one path.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PathModel {
    /// How fast it delivers.
    pub(crate) delivery: DeliveryRate,
    /// How often it loses.
    pub(crate) losses: Losses,
    /// The queue of its own packets at the bottleneck.
    pub(crate) queue: OwnQueue,
    /// Whether a queue stands there, whoever filled it.
    pub(crate) standing: Standing,
    /// How much sooner than on the path its data is acknowledged by a DATA_ACK on another one.
    pub(crate) lead: Duration,
}

impl PathModel {
    /// How fast the path delivers.
    #[must_use]
    pub fn delivery(&self) -> &DeliveryRate {
        &self.delivery
    }

    /// Its congestion events.
    #[must_use]
    pub fn losses(&self) -> &Losses {
        &self.losses
    }
}

/// The rate of a path that has delivered nothing yet, bytes a second: 1 Mb/s. Every other path waits for a window that turns out to be stuck
/// there, so the prior is a slow link.
pub const PRIOR_RATE: f64 = 125_000.0;
