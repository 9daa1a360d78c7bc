//! Plain values as people write them.

use netsim::QueueLimit;

use super::model::Way;
use super::names::Side;
use super::units::{Percent, QueueSize};

/// Fractions are decimals of at most twelve places; the rounding finds the percentage again.
pub(super) fn percent(fraction: f64) -> Percent {
    Percent((fraction * 1e12).round() / 1e10)
}

pub(super) fn queue_size(limit: QueueLimit) -> QueueSize {
    match limit {
        QueueLimit::Packets(packets) => QueueSize::Packets(packets),
        QueueLimit::Bytes(bytes) => QueueSize::Bytes(bytes),
        QueueLimit::Time(time) => QueueSize::Time(time),
        QueueLimit::Unlimited => QueueSize::Unlimited,
    }
}

pub(super) fn direction(way: Way) -> Option<Side> {
    match way {
        Way::Both => None,
        Way::One(side) => Some(side),
    }
}
