//! Selection of the directions of a link.

use super::super::names::Side;

/// A selection of directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Both directions.
    Both,
    /// One direction.
    One(Side),
}
