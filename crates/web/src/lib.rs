//! The simulator in a browser: scenarios in, packets, samples and events out.
//!
//! Owns the interface to JavaScript (`interface`) and a run that a person watches, changes and rewinds (`run`). Numbers cross the border as typed arrays, everything else as JSON whose types are in
//! `web/src/engine/types.ts`. Never computes a result of its own.
#![forbid(unsafe_code)]

pub mod action;
pub mod decode;
mod edit;
mod interface;
pub mod run;
pub mod state;

pub use edit::{EditError, apply};
pub use interface::Simulation;
