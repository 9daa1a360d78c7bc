//! Middleboxes as they are run: plain values.

use mptcp_clock::Duration;

use super::Way;
use crate::middlebox::Maker;
use crate::scenario::kinds::Chosen;

/// A middlebox at the second end of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct Middlebox {
    /// Its name.
    pub name: String,
    /// The link on which it stands.
    pub link: String,
    /// The directions in which it meddles.
    pub way: Way,
    /// Whether it is there at the start.
    pub on: bool,
    /// What it does.
    pub what: Chosen<Maker>,
}

/// A middlebox comes or goes during the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Switch {
    /// When; before the end of the run.
    pub at: Duration,
    /// The middlebox.
    pub middlebox: String,
    /// Whether it is there from now on.
    pub on: bool,
}
