//! 802.11 cells: stations that share a medium by DCF.
//!
//! The link of a station has no fixed rate, because each transmission waits for those of other stations. This
//! module decides when a frame is sent instead. Owns medium access, rates, and the success of transmissions.
//! Only the length of a frame is queued here. The frame stays in its link direction, which is notified when
//! the MAC is done with the frame. Cells that sense each other form one medium. Never reorders the frames of
//! a direction.
//!
//! Simplifications: all stations of a cell sense each other. Signals have no propagation time. A weak signal
//! loses data frames, but never acknowledgements. A collision destroys both frames. There are no beacons, no
//! RTS and no power saving. 802.11n has no EDCA classes. An exchange, data and its acknowledgement, is sensed
//! or destroyed as a whole.
//!
//! `parameters` describes cells, `phy` computes durations, `access` decides when a station sends, `interface`
//! has the queues, `cells` has the state of all cells, and `medium` runs the transmissions.

mod access;
mod background;
mod cells;
mod coupling;
mod exchange;
mod interface;
mod interference;
mod medium;
mod parameters;
mod phy;
mod propagation;
mod rate_control;

pub(crate) use cells::{Cells, Done};
pub use interference::Interference;
pub use parameters::{
    Activity, Aggregation, Background, CellId, CellParameters, Channel, CollisionWait, Countdown, Coupling,
    Discipline, MacCounters, Standard, StationParameters, StationRate,
};
