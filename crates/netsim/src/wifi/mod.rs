//! 802.11 cells: stations that share the air by DCF.
//!
//! Owns who may send when, at which rate, and whether it is read. A frame waits in a queue here by
//! its length only; the frame itself stays in its link direction, which is told when the MAC is done
//! with it. Cells that can hear each other form one medium, and a medium has one pending event.
//! Never holds a payload, never reorders the frames of a direction.
//!
//! `parameters` says what a cell is like, `phy` how long things take on the air, `access` when a
//! station may send, `interface` what waits for it, `air` who is there, `medium` what happens.

mod access;
mod air;
mod background;
mod codel;
mod coupling;
mod exchange;
mod interface;
mod medium;
mod parameters;
mod phy;
mod propagation;
mod rate_control;

pub(crate) use air::{Air, Done};
pub use coupling::Interference;
pub use parameters::{
    Activity, Aggregation, Background, CellId, CellParameters, Channel, CollisionWait, Countdown, Coupling,
    Discipline, MacCounters, Standard, StationParameters, StationRate,
};
