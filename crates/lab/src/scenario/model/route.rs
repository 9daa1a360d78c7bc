//! Resolved explicit routes: lists of links that replace the routes that the network would choose.
//!
//! Resolved means: defaults are filled in, names are checked, and values have base units. The network chooses
//! the routes of all other frames.

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
