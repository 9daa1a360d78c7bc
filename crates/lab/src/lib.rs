//! The laboratory: runs scenarios and returns measurements.
//!
//! Owns the meaning of a scenario. The only crate in which the protocol and the network meet; implements
//! neither.
#![forbid(unsafe_code)]

pub mod application;
mod baselines;
mod classes;
pub mod cli;
mod columns;
mod description;
pub mod events;
mod export;
mod flow_config;
pub mod measurements;
pub mod middlebox;
pub mod pattern;
mod queues;
pub mod reasons;
mod registry;
pub mod scenario;
mod summary;
pub mod wiring;
pub mod world;

pub use baselines::{Baseline, TooManyRuns};
pub use description::described;
pub use export::{export, write_samples};
pub use flow_config::{accepting_config, flow_config};
pub use mptcp_clock::{Duration, Instant, Rng};
pub use mptcp_wire::Segment;
pub use registry::{Registry, RegistryError};
pub use scenario::{Parameters, ScenarioError};
pub use summary::{registered, summary};
pub use {mptcp, mptcp_wire as wire, netsim};
