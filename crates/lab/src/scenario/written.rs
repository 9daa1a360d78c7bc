//! Conversions between values of the resolved scenario and values of the scenario file.
//!
//! The resolved scenario (`model`) has plain values, such as a fraction from 0 to 1. The file has text with
//! units, such as `"3%"`. `write` needs these conversions to write a resolved scenario as TOML, and `resolve`
//! to read queue limits.

use netsim::QueueLimit;

use super::model::Way;
use super::names::Side;
use super::units::{Percent, QueueSize};

/// A fraction as a percentage. Fractions have at most twelve decimals, so rounding restores the percentage of
/// the file.
pub(super) fn percent(fraction: f64) -> Percent {
    Percent((fraction * 1e12).round() / 1e10)
}

impl From<QueueLimit> for QueueSize {
    fn from(limit: QueueLimit) -> Self {
        match limit {
            QueueLimit::Packets(packets) => Self::Packets(packets),
            QueueLimit::Bytes(bytes) => Self::Bytes(bytes),
            QueueLimit::Time(time) => Self::Time(time),
            QueueLimit::Unlimited => Self::Unlimited,
        }
    }
}

impl From<QueueSize> for QueueLimit {
    fn from(size: QueueSize) -> Self {
        match size {
            QueueSize::Packets(packets) => Self::Packets(packets),
            QueueSize::Bytes(bytes) => Self::Bytes(bytes),
            QueueSize::Time(time) => Self::Time(time),
            QueueSize::Unlimited => Self::Unlimited,
        }
    }
}

/// The direction for a scenario file; `None` for both directions, which is the default.
pub(super) fn direction(way: Way) -> Option<Side> {
    match way {
        Way::Both => None,
        Way::One(side) => Some(side),
    }
}
