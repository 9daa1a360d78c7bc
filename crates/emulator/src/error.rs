//! What a scenario asks for that real packets cannot have, in words.

use netsim::TopologyError;

/// Why a scenario cannot be emulated.
#[derive(Debug, thiserror::Error)]
pub enum EmulatorError {
    /// Boxes read what simulated segments say.
    #[error(
        "middlebox {0:?}: middleboxes stand in simulated networks only; leave it out, or use mptcplab run"
    )]
    Middlebox(String),
    /// Whose packets are whose is known to the simulator only.
    #[error(
        "a filter on {0:?} is for chosen flows or paths, and whose a real packet is nobody knows; leave out its flows \
         and paths, or use mptcplab run"
    )]
    Filter(String),
    /// An address for each end of each link, in one subnet a link.
    #[error("{0} links: an emulated network has 250 at most, a subnet for each")]
    Links(usize),
    /// Below it IPv4 gives a device no address (RFC 791 section 3.2).
    #[error("{link:?} carries packets of {mtu} bytes: a device gets an address from 68 on")]
    Mtu {
        /// The link.
        link: String,
        /// Its mtu.
        mtu: u32,
    },
    /// What the network says of the topology.
    #[error(transparent)]
    Topology(#[from] TopologyError),
}
