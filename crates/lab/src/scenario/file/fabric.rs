//! The tables `topology` (a generated network) and `routes` of a scenario file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::names::TopologyKind;
use super::super::units::Span;
use super::links::DirectionTable;

table! {
    /// A generated network. Its hosts are called h1, h2 and so on. Its links behave like those in `links`.
    TopologyTable {
        /// The type of network. Required.
        kind: TopologyKind,
        /// fat_tree: number of ports per switch, even, 2 to 40. bcube: number of the last level, 0 to 6.
        /// Required.
        k: u32,
        /// bcube: number of ports per switch, 2 to 128. Required for a bcube.
        n: u32,
        /// Keys that differ on the links of hosts, in both directions.
        hosts: DirectionTable,
        /// Round-trip propagation delay of each link, instead of `delay`. Each direction gets half of it.
        rtt: Span,
        /// The largest IP packet, 68 to 65535 bytes. Default: 1500.
        mtu: u32,
    } with both: DirectionTable;
}

table! {
    /// An explicit route of selected packets, which overrides `routing`.
    RouteTable {
        /// The host that sends the packets. Default: client.
        from: String,
        /// The host that receives the packets. Default: server.
        to: String,
        /// The flows between `from` and `to` that use this route. Default: all flows whose path is the first
        /// link of the route, or the last link if the route leads to the host that opened the connection.
        flows: Vec<String>,
        /// The subflow that uses this route, by its number in the order of opening, from 1 to 255. Default: all
        /// subflows that have no route of their own.
        subflow: u32,
        /// The links of the route, in order. Required.
        links: Vec<String>,
    }
}
