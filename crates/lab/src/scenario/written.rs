//! Plain values as people write them.

use netsim::QueueLimit;

use super::model::Way;
use super::names::Side;
use super::units::{Percent, QueueSize};

/// Fractions are decimals of at most twelve places; the rounding finds the percentage again.
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

pub(super) fn direction(way: Way) -> Option<Side> {
    match way {
        Way::Both => None,
        Way::One(side) => Some(side),
    }
}
