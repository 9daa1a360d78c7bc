//! Multipath TCP (RFC 8684) without I/O.
//!
//! Owns the protocol: an [`Endpoint`] has connections, a connection has subflows, and each subflow is a
//! complete TCP. Never reads a clock or a device. The driver calls `handle_*` with each event, and does what
//! `poll_*` returns:
//!
//! ```
//! use mptcp::{Config, Endpoint, EventKind};
//! use mptcp_clock::{Instant, Rng};
//!
//! let now = Instant::ZERO;
//! let (client_address, server_address) = ("10.0.0.1".parse()?, "10.0.0.2".parse()?);
//! let mut client = Endpoint::new(Rng::new(1, "client"));
//! let mut server = Endpoint::new(Rng::new(1, "server"));
//! let near = client.add_interface(client_address, false);
//! let far = server.add_interface(server_address, false);
//! server.listen(80, Config::default())?;
//! let connection = client.connect(now, near, (server_address, 80).into(), Config::default())?;
//! // A network without delay delivers each segment at once.
//! loop {
//!     let forth = client.poll_transmit(now).map(|sent| server.handle_segment(now, far, sent.segment));
//!     let back = server.poll_transmit(now).map(|sent| client.handle_segment(now, near, sent.segment));
//!     if forth.is_none() && back.is_none() {
//!         break;
//!     }
//! }
//! assert_eq!(client.poll_event().map(|event| (event.connection, event.kind)), Some((connection, EventKind::Connected)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
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
pub use mptcp_wire::crypto::Version;
pub use subflow::sender::Recovery;
pub use subflow::{State as SubflowState, SubflowCloseReason, SubflowStats};
