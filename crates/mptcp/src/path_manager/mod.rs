//! Which subflows a connection should have.
//!
//! Owns that decision only: it is shown the addresses and the subflows, and names the missing ones.

mod fullmesh;
mod ndiffports;
mod rule;

pub use crate::path_manager::fullmesh::FullMesh;
pub use crate::path_manager::ndiffports::NdiffPorts;
pub use crate::path_manager::rule::{LocalAddress, Pair, PathEvent, PathManager, PathView, RemoteAddress};
use crate::policy::Registry;

/// Subflows of `ndiffports` in all, at most.
const MAX_PORTS: u64 = 8;

/// The built-in path managers.
pub(crate) fn built_in() -> Registry<dyn PathManager> {
    Registry::new("path manager")
        .with("fullmesh", "A subflow between each address of ours and each of the peer's", |_| {
            Ok(FullMesh.into())
        })
        .with(
            "ndiffports",
            "Several subflows between the same two addresses, with different ports",
            |parameters| {
                let subflows = parameters.count("subflows", 2, 1..=MAX_PORTS)?;
                Ok(NdiffPorts { subflows: subflows as u8 }.into())
            },
        )
}
