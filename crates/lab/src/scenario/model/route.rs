//! Routes that somebody chose. Only values.

/// The way of the frames of some flows from one host to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The host that sends them.
    pub from: String,
    /// The host for which they are.
    pub to: String,
    /// The flows that go this way.
    pub flows: Vec<String>,
    /// The links in their order, from `from` to `to`.
    pub links: Vec<String>,
}
