//! Time and chance as values.
//!
//! Owns [`Instant`], [`Duration`] and [`Stream`]. Nothing here reads a clock or an entropy
//! source: the driver says what time it is, and one seed says what chance will bring.
#![forbid(unsafe_code)]

mod chance;
mod time;

pub use chance::Stream;
pub use time::{Duration, Instant};
