//! Time and chance as values.
//!
//! Owns [`Instant`], [`Duration`] and [`Rng`]. Nothing here reads a clock or an entropy
//! source: the driver says what time it is, and one seed says what chance will bring.
#![forbid(unsafe_code)]

mod rng;
mod time;

pub use rng::Rng;
pub use time::{Duration, Instant};
