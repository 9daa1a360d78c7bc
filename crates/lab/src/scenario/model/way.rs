//! Directions of a link.

use super::super::names::Side;

/// Which directions of a link are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Both.
    Both,
    /// One.
    One(Side),
}
