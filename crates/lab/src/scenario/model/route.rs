//! Resolved explicit routes: lists of links that replace the routes that the network would choose.
//!
//! Resolved means: names are checked, and each route lists its flows. `resolve` creates these routes, and the
//! network chooses the routes of all other frames.

/// The route of frames of some flows from one host to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The sending host.
    pub from: String,
    /// The receiving host.
    pub to: String,
    /// The flows.
    pub flows: Vec<String>,
    /// The subflow that uses the route, in the order of opening, from 1; all subflows without it.
    pub subflow: Option<u8>,
    /// The links in order, from `from` to `to`.
    pub links: Vec<String>,
}
