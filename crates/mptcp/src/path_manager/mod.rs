//! Path managers: the choice of the subflows that a connection should have.
//!
//! Owns only this choice: it sees addresses and subflows, and returns the missing pairs. Never opens a
//! subflow.

mod endpoint;
mod fullmesh;
mod kernel;
mod ndiffports;
mod rule;

pub use crate::path_manager::endpoint::Endpoint;
pub use crate::path_manager::fullmesh::FullMesh;
pub use crate::path_manager::kernel::{EndpointLimits, Kernel};
pub use crate::path_manager::ndiffports::NdiffPorts;
pub use crate::path_manager::rule::{LocalAddress, Pair, PathEvent, PathManager, PathView, RemoteAddress};
