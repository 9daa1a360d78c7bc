//! What a scenario asks for that real packets cannot have, in words.

use mptcp_clock::Duration;
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
    /// Whose packets are whose is known to the simulator only.
    #[error(
        "the route from {0:?} to {1:?} is for chosen flows, and whose a real packet is nobody knows; leave it out (routing \
         = \"ecmp\" works), or use mptcplab run"
    )]
    Route(String, String),
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
    /// The traffic tool sends bulk and files.
    #[error(
        "flow {flow:?} sends {what}: on real sockets flows send in bulk or files (bytes) in this version"
    )]
    Traffic {
        /// The flow.
        flow: String,
        /// What it sends.
        what: &'static str,
    },
    /// Nobody tells our stack of departures from a real interface.
    #[error(
        "flow {flow:?} has {key}: what waits in its own interface is known in the simulator only; leave it out"
    )]
    Departures {
        /// The flow.
        flow: String,
        /// What looks at that queue.
        key: &'static str,
    },
    /// The kernel has one subflow for a pair of addresses.
    #[error(
        "flow {0:?} has several subflows on one path (ndiffports), and the kernel opens one for a pair of addresses"
    )]
    Ports(String),
    /// Endpoints belong to a host, not to a socket.
    #[error(
        "flows {0:?} and {1:?} use different paths, and the kernel's endpoints are those of all connections of a host"
    )]
    Paths(String, String),
    /// Whether an endpoint is a backup belongs to a host, not to a socket.
    #[error(
        "flows {0:?} and {1:?} have different backups, and the kernel's endpoints are those of all connections of a host"
    )]
    Backup(String, String),
    /// The kernel has so many endpoints (net/mptcp/pm.c, MPTCP_PM_ADDR_MAX).
    #[error(
        "flow {flow:?} has {paths} paths, and the kernel has endpoints for {most}; name fewer (paths = [..])"
    )]
    Endpoints {
        /// The flow.
        flow: String,
        /// Its paths.
        paths: usize,
        /// The most.
        most: usize,
    },
    /// A host's addresses are paths, or all its paths lead to each address.
    #[error(
        "host {host:?} accepts Multipath TCP (flow {accepted:?}) and opens flows (flow {opened:?}), and no path could          join what it accepts; open all flows on one side (direction = \"download\" sends the other way)"
    )]
    Both {
        /// The host.
        host: String,
        /// A flow that it accepts.
        accepted: String,
        /// A flow that it opens.
        opened: String,
    },
    /// Counters of links are looked at so often.
    #[error("sample = {sample:?}: the kernel back end looks every {least:?} at most; take that or more")]
    Sample {
        /// What was asked for.
        sample: Duration,
        /// The least.
        least: Duration,
    },
    /// A sysctl belongs to a host, not to a socket.
    #[error(
        "flow {flow:?} needs another {key} than the flows before it, and the kernel has one for all of host {host:?}"
    )]
    Setting {
        /// The host.
        host: String,
        /// The sysctl.
        key: &'static str,
        /// The flow.
        flow: String,
    },
    /// What the network says of the topology.
    #[error(transparent)]
    Topology(#[from] TopologyError),
}
