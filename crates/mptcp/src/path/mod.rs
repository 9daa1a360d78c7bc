//! The model of a path: its rate, queues, losses, and arrival times.
//!
//! Owns every estimate of a path. Schedulers, reinjection, pacing, congestion control and observers read it.
//! Never decides: subflows update it.

mod local_queue;
mod model;
mod per_path;
mod state;

pub use crate::path::local_queue::{Departure, LocalQueue};
pub(crate) use crate::path::model::Arrived;
pub use crate::path::model::{DeliveryRate, Losses, PathModel};
pub(crate) use crate::path::per_path::PerPath;
pub use crate::path::state::{Path, PathEstimate};

/// Rate of a path before its first measurement, bytes per second: 1 Mb/s. The value is low, because all other
/// paths wait for data that is stuck on a path slower than expected.
pub const PRIOR_RATE: f64 = 125_000.0;
