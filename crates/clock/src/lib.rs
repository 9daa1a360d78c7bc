//! Time and random numbers as values.
//!
//! Owns [`Instant`], [`Duration`] and [`Rng`]. Never reads a clock or an entropy source: the caller passes
//! the time, and one seed determines all random numbers. A simulation can therefore be repeated exactly.
#![forbid(unsafe_code)]

mod rng;
mod time;

pub use rng::Rng;
pub use time::{Duration, Instant};
