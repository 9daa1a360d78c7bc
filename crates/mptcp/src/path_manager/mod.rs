//! Which subflows a connection should have.
//!
//! Owns that decision only: it is shown the addresses and the subflows, and names the missing ones.

mod fullmesh;
mod ndiffports;

use std::net::{IpAddr, SocketAddr};

use crate::InterfaceId;

pub use fullmesh::FullMesh;
pub use ndiffports::NdiffPorts;

/// An address of ours that is up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalAddress {
    /// Address id; 0 for the address of the initial subflow.
    pub id: u8,
    /// Where it lives.
    pub interface: InterfaceId,
    /// The address.
    pub address: IpAddr,
    /// Subflows from it are backups.
    pub backup: bool,
}

/// An address of the peer's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemoteAddress {
    /// Address id; 0 for the address of the initial subflow.
    pub id: u8,
    /// Address and port to connect to.
    pub address: SocketAddr,
}

/// A subflow that exists or should exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Our side.
    pub local: LocalAddress,
    /// The peer's side.
    pub remote: RemoteAddress,
}

/// A rule for which subflows to open; asked after every change, at the side that opened the
/// connection.
pub trait PathManager: std::fmt::Debug + Send {
    /// The name that the field uses.
    fn name(&self) -> &'static str;

    /// Adds to `missing` what should be opened, given what there is.
    fn missing(
        &self,
        local: &[LocalAddress],
        remote: &[RemoteAddress],
        existing: &[Pair],
        missing: &mut Vec<Pair>,
    );
}

/// The path managers there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PathManagerKind {
    /// A subflow between each address of ours and each of the peer's.
    #[default]
    FullMesh,
    /// Several subflows between the same two addresses, with different ports.
    NdiffPorts {
        /// How many in all, the first one included.
        subflows: u8,
    },
}

impl PathManagerKind {
    /// Names in the order of the documentation.
    pub const NAMES: &'static [&'static str] = &["fullmesh", "ndiffports"];

    /// The path manager called `name`; `subflows` is for `ndiffports`.
    #[must_use]
    pub fn from_name(name: &str, subflows: u8) -> Option<Self> {
        Some(match name {
            "fullmesh" => Self::FullMesh,
            "ndiffports" => Self::NdiffPorts { subflows },
            _ => return None,
        })
    }

    pub(crate) fn build(self) -> Box<dyn PathManager> {
        match self {
            Self::FullMesh => Box::new(FullMesh),
            Self::NdiffPorts { subflows } => Box::new(NdiffPorts { subflows }),
        }
    }
}
