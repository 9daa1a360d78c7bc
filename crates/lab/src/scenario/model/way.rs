//! Selection of the directions of a link, for events, filters and middleboxes.
//!
//! In the scenario file, a missing key `direction` means both directions.

use super::super::names::Side;

/// A selection of directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Both directions.
    Both,
    /// One direction.
    One(Side),
}
