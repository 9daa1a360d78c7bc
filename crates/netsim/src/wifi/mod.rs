//! 802.11 cells: stations that share the air by DCF.
//!
//! Owns who may send when, at which rate, and whether it is read. A frame waits in a queue here by
//! its length only; the frame itself stays in its link direction, which is told when the MAC is done
//! with it. Cells that can hear each other form one medium, and a medium has one pending event.
//! Never holds a payload, never reorders the frames of a direction.
//!
//! What the model leaves out: all stations of one cell hear each other; signals take no time from
//! one to another; only data frames are too weak to be read, never their acknowledgements; of two
//! frames that collide neither survives; there are no beacons, no RTS, no power saving, and 802.11n
//! contends like the others, without the classes of EDCA. An exchange, data and its answer, is
//! heard or spoilt as one.
//!
//! `parameters` says what a cell is like, `phy` how long things take on the air, `access` when a
//! station may send, `interface` what waits for it, `air` who is there, `medium` what happens.

mod access;
mod air;
mod background;
mod coupling;
mod exchange;
mod interface;
mod interference;
mod medium;
mod parameters;
mod phy;
mod propagation;
mod rate_control;

pub(crate) use air::{Air, Done};
pub use interference::Interference;
pub use parameters::{
    Activity, Aggregation, Background, CellId, CellParameters, Channel, CollisionWait, Countdown, Coupling,
    Discipline, MacCounters, Standard, StationParameters, StationRate,
};
