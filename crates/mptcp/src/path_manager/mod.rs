//! Which subflows a connection should have.
//!
//! Owns that decision only: it is shown the addresses and the subflows, and names the missing ones.

mod fullmesh;
mod ndiffports;
mod rule;

pub use crate::path_manager::fullmesh::FullMesh;
pub use crate::path_manager::ndiffports::NdiffPorts;
pub use crate::path_manager::rule::{LocalAddress, Pair, PathEvent, PathManager, PathView, RemoteAddress};
