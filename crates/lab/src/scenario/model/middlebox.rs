//! Resolved middleboxes, and the events that switch them on and off.
//!
//! Resolved means: defaults are filled in, names are checked, and values have base units. `resolve` creates
//! these types, and `world` places the middleboxes on links. A kind is a type of middlebox, such as `nat`.

use mptcp_clock::Duration;

use super::Way;
use crate::middlebox::Maker;
use crate::scenario::kinds::Chosen;

/// A middlebox at the second end of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct Middlebox {
    /// Name.
    pub name: String,
    /// The link with the middlebox.
    pub link: String,
    /// The directions that the middlebox modifies.
    pub way: Way,
    /// Whether it is active at the start.
    pub on: bool,
    /// Kind and parameters.
    pub what: Chosen<Maker>,
}

/// A switch of a middlebox during the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Switch {
    /// Time, before the end of the run.
    pub at: Duration,
    /// The middlebox.
    pub middlebox: String,
    /// Whether it is active from then on.
    pub on: bool,
}
