//! Where an event happens.

use std::net::SocketAddr;

use crate::ids::SubflowId;

/// A subflow, and where it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The subflow.
    pub subflow: SubflowId,
    /// Our address.
    pub local: SocketAddr,
    /// The peer's address.
    pub remote: SocketAddr,
}
