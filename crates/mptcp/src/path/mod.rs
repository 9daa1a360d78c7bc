//! The model of a path: its rate, its queue, its losses, and the arrival time of data that is sent now.
//!
//! Owns every estimate of a path. The subflow feeds it; schedulers, reinjection, pacing, congestion control and observers read it.

mod local_queue;
mod model;
mod per_path;
mod state;

pub use crate::path::local_queue::{Departure, LocalQueue};
pub(crate) use crate::path::model::Arrived;
pub use crate::path::model::{DeliveryRate, Losses, PathModel};
pub(crate) use crate::path::per_path::PerPath;
pub use crate::path::state::{Path, PathEstimate};

/// The rate of a path that has delivered nothing yet, bytes a second: 1 Mb/s. Every other path waits for a window that turns out to be stuck
/// there, so the prior is a slow link.
pub const PRIOR_RATE: f64 = 125_000.0;
