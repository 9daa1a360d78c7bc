//! Errors for scenarios that the emulator cannot run on real packets.
//!
//! Owns the messages; each states the fix. `emulation`, `plan`, `kernel` and `wire` check scenarios.

use mptcp_clock::Duration;
use netsim::TopologyError;

/// The reason why a scenario cannot be emulated.
#[derive(Debug, thiserror::Error)]
pub enum EmulatorError {
    /// An event changes the policies of a flow.
    #[error(
        "an event changes policies of flow {0:?}: this works only in simulated networks; remove it, or use mptcplab run"
    )]
    PolicyChange(String),
    /// Middleboxes need simulated segments.
    #[error("middlebox {0:?}: middleboxes work only in simulated networks; remove it, or use mptcplab run")]
    Middlebox(String),
    /// The emulator cannot tell to which flow a real packet belongs.
    #[error(
        "the filter on {0:?} selects flows or paths, but the emulator cannot tell the flow of a real packet; remove \
         its flows and paths, or use mptcplab run"
    )]
    Filter(String),
    /// The emulator cannot tell to which flow a real packet belongs.
    #[error(
        "the route from {0:?} to {1:?} selects flows, but the emulator cannot tell the flow of a real packet; remove it \
         (routing = \"ecmp\" works), or use mptcplab run"
    )]
    Route(String, String),
    /// Too many links: each link takes a subnet.
    #[error("{0} links: an emulated network must have at most 250 links, each with its own subnet")]
    Links(usize),
    /// An MTU below the minimum of IPv4 (RFC 791 section 3.2).
    #[error("{link:?} has mtu = {mtu}: must be at least 68 for a device with an IPv4 address")]
    Mtu {
        /// The link.
        link: String,
        /// Its mtu.
        mtu: u32,
    },
    /// Traffic other than bulk and files.
    #[error("flow {flow:?} sends {what}: on real sockets, flows support only bulk and bytes")]
    Traffic {
        /// The flow.
        flow: String,
        /// Its traffic.
        what: &'static str,
    },
    /// The stack is not notified when a real interface sends a packet.
    #[error(
        "flow {flow:?} has {key}: only the simulator knows the queue of the local interface; remove the key"
    )]
    Departures {
        /// The flow.
        flow: String,
        /// The key that needs the length of the local queue.
        key: &'static str,
    },
    /// The kernel opens one subflow for each pair of addresses.
    #[error(
        "flow {0:?} has several subflows on one path (ndiffports), but the kernel opens one per pair of addresses"
    )]
    Ports(String),
    /// The kernel's endpoints apply to a whole network namespace.
    #[error(
        "flows {0:?} and {1:?} use different paths, but the kernel's endpoints apply to all connections of a host"
    )]
    Paths(String, String),
    /// The kernel's backup flag applies to a whole network namespace.
    #[error(
        "flows {0:?} and {1:?} have different backups, but the kernel's endpoints apply to all connections of a host"
    )]
    Backup(String, String),
    /// More paths than the kernel has endpoints (`MPTCP_PM_ADDR_MAX` in net/mptcp/pm.c).
    #[error(
        "flow {flow:?} has {paths} paths, but the kernel supports at most {most} endpoints; name fewer paths (paths = [..])"
    )]
    Endpoints {
        /// The flow.
        flow: String,
        /// Its paths.
        paths: usize,
        /// The maximum.
        most: usize,
    },
    /// A host both opens and accepts MPTCP flows; its endpoints support only one of the two.
    #[error(
        "host {host:?} accepts MPTCP (flow {accepted:?}) and opens flows (flow {opened:?}), but then no path could join \
         the accepted connection; open all flows on one side (direction = \"download\" sends the other way)"
    )]
    Both {
        /// The host.
        host: String,
        /// A flow that it accepts.
        accepted: String,
        /// A flow that it opens.
        opened: String,
    },
    /// A sampling interval below the minimum of the kernel back end.
    #[error("sample = {sample:?}: must be at least {least:?} with the kernel back end")]
    Sample {
        /// The interval of the scenario.
        sample: Duration,
        /// The minimum.
        least: Duration,
    },
    /// Sysctls apply to a whole network namespace.
    #[error(
        "flow {flow:?} needs a different {key} than the flows before it, but the kernel has one value for host {host:?}"
    )]
    Setting {
        /// The host.
        host: String,
        /// The sysctl.
        key: &'static str,
        /// The flow.
        flow: String,
    },
    /// The topology is invalid.
    #[error(transparent)]
    Topology(#[from] TopologyError),
}
