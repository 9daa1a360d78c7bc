//! The subflow that an event belongs to. The addresses tell an observer the path, even after the subflow has
//! ended.

use std::net::SocketAddr;

use crate::ids::SubflowId;

/// A subflow and its addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The subflow.
    pub subflow: SubflowId,
    /// The local address and port.
    pub local: SocketAddr,
    /// The peer's address and port.
    pub remote: SocketAddr,
}
