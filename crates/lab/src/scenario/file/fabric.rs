//! Networks of one line, and routes that somebody chose.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::names::TopologyKind;
use super::super::units::Span;
use super::links::DirectionTable;

table! {
    /// A whole network: its links are made as if they stood under `links`, its hosts are called h1, h2 and so on.
    TopologyTable {
        /// Which. Needed.
        kind: TopologyKind,
        /// fat_tree: the ports of a switch, even, 2 to 10. bcube: the number of the last level, 0 to 6. Needed.
        k: u32,
        /// bcube: the ports of a switch, 2 to 128. Needed there.
        n: u32,
        /// What is different on the links of hosts, in both directions: a table with the keys of a direction.
        hosts: DirectionTable,
        /// Twice the delay of a link, instead of `delay`: half goes to each direction.
        rtt: Span,
        /// The largest IP packet in bytes, 68 to 65535. Default: 1500.
        mtu: u32,
    } with both: DirectionTable;
}

table! {
    /// The way of chosen frames, whatever routing says.
    RouteTable {
        /// The host that sends them. Default: client.
        from: String,
        /// The host for which they are. Default: server.
        to: String,
        /// The flows between the two that go this way. Default: all whose path begins, or for its opener ends, with this route.
        flows: Vec<String>,
        /// The links in their order. Needed.
        links: Vec<String>,
    }
}
