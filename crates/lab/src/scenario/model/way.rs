//! The directions of a link to which an event, a filter or a middlebox applies.
//!
//! Resolved form of the key `direction` of the scenario file, without which both directions are meant.

use super::super::names::Side;

/// A selection of directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Both directions.
    Both,
    /// One direction.
    One(Side),
}
