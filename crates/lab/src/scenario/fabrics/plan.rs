//! What a network of one line consists of. Only names.

/// A network without rates.
pub(super) struct Fabric {
    /// By number.
    pub(super) hosts: Vec<String>,
    /// Pairs of nodes. A host is the first of its pair.
    pub(super) links: Vec<[String; 2]>,
    /// Whether hosts pass on what is not for them.
    pub(super) relays: bool,
}

/// The name of a host, by its number from 0.
pub(super) fn host(number: usize) -> String {
    format!("h{}", number + 1)
}
