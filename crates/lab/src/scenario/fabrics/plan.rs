//! The hosts and links of a generated topology: the common result of `bcube` and `fat_tree`.

/// A topology, without the parameters of its links.
pub(super) struct Fabric {
    /// Names of the hosts, by number.
    pub(super) hosts: Vec<String>,
    /// Pairs of nodes; a host comes first in its pair.
    pub(super) links: Vec<[String; 2]>,
    /// Whether hosts forward frames of other hosts.
    pub(super) relays: bool,
}

/// The name of a host by its index.
pub(super) fn host(number: usize) -> String {
    format!("h{}", number + 1)
}
