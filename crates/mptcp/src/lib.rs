#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod bounds;
mod built_in;
mod config;
mod config_ends;
pub mod congestion;
mod connection;
mod endpoint;
mod event;
mod icmp_error;
mod ids;
mod linux_compat;
mod linux_stack;
mod mechanisms;
mod memory;
pub mod observe;
pub mod path;
pub mod path_manager;
pub mod policy;
mod rate_limiter;
pub mod scheduler;
mod subflow;

pub use bounds::{ConnectionUse, EndpointBounds, EndpointUse};
pub use config::{
    Announced, Config, Ecn, JOIN_PROBATION, Keepalive, MtuProbing, ServerFastOpen, SpuriousLoss,
};
pub use congestion::{CouplingScope, PenaltyRule, SendQueueRule, SlowStart};
pub use connection::observe::limits::Limit;
pub use connection::{Connection, ConnectionInfo, Mode, SubflowInfo, WriteFlags};
pub use endpoint::{ConnectError, Counters, Endpoint, IcmpMessage, InterfaceChange, ListenError, Transmit};
pub use event::{CloseReason, Event, EventKind, FallbackReason};
pub use icmp_error::IcmpError;
pub use ids::{ConnectionId, InterfaceId, SubflowId};
pub use linux_compat::LinuxCompat;
pub use linux_stack::LinuxStack;
pub use mechanisms::{Mechanisms, OpportunisticRule};
pub use mptcp_clock as clock;
pub use mptcp_wire as wire;
pub use mptcp_wire::crypto::Version;
pub use subflow::sender::Recovery;
pub use subflow::{State as SubflowState, SubflowCloseReason, SubflowStats};
