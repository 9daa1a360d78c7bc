//! The laboratory: scenarios in, measurements out.
//!
//! Owns the meaning of a scenario. The one place where the protocol and the network meet; never
//! implements either.
#![forbid(unsafe_code)]

mod baselines;
pub mod measurements;
pub mod scenario;
pub mod world;

pub use baselines::{Baseline, TooManyRuns};
