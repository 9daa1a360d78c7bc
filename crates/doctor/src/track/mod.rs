//! Follows the connections of a capture: subflows, data, round trips, losses, and limits at each moment.
//!
//! Memory is bounded for any capture: connections, segments in flight and time steps have maxima. Numbers of sequence
//! spaces are 64 bits, and times are ns.

mod capacity;
mod direction;
mod half;
mod histogram;
mod ladder;
mod limit_clock;
mod one_way;
mod path_rate;
mod reset_reason;
mod round_trips;
mod sequence;
mod series;
mod steps;
mod stream;
mod subflow;
mod totals;
mod tracker;
mod transmissions;
mod view;

pub(crate) use half::Half;
pub(crate) use reset_reason::reset_reason;
pub(crate) use series::Series;
pub(crate) use steps::{Limit, StreamStep};
pub(crate) use subflow::{Place, Request, Subflow};
pub(crate) use totals::LossEpisode;
pub(crate) use tracker::Tracker;
pub(crate) use transmissions::Transmission;
pub(crate) use view::{Announced, View};
