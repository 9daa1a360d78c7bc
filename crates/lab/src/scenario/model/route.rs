//! Resolved explicit routes.

/// The route of frames of some flows from one host to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The sending host.
    pub from: String,
    /// The receiving host.
    pub to: String,
    /// The flows.
    pub flows: Vec<String>,
    /// The links in order, from `from` to `to`.
    pub links: Vec<String>,
}
