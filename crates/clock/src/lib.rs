//! Time and random numbers as values.
//!
//! Owns [`Instant`], [`Duration`], [`Rng`], and the mathematical functions that do not depend on the platform ([`math`]). Never reads a clock or an entropy source: the caller passes
//! the time, and one seed determines all random numbers. A simulation can therefore be repeated exactly.
#![forbid(unsafe_code)]

pub mod math;
mod rng;
mod time;

pub use rng::Rng;
pub use time::{Duration, Instant};
