//! TCP sequence numbers: arithmetic modulo 2^32 (RFC 9293 section 3.4).
//!
//! Owns the type and its arithmetic, so that no caller compares numbers without regard to the wrap at 2^32.

use std::fmt;
use std::ops::{Add, Sub};

/// A 32-bit sequence number. Only [`Seq::offset_from`] compares two numbers, because modular numbers have no order.
///
/// ```
/// use mptcp_wire::Seq;
///
/// let last = Seq::new(u32::MAX);
/// assert_eq!((last + 2).value(), 1);
/// assert_eq!((last + 2).offset_from(last), 2);
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Seq(u32);

impl Seq {
    /// Creates a sequence number from a header field.
    #[must_use]
    pub const fn new(value: u32) -> Self {
        Self(value)
    }

    /// The value of the header field.
    #[must_use]
    pub const fn value(self) -> u32 {
        self.0
    }

    /// The signed distance from `origin`, in -2^31..2^31: positive when `self` comes later.
    #[must_use]
    pub const fn offset_from(self, origin: Self) -> i32 {
        self.0.wrapping_sub(origin.0) as i32
    }
}

impl Add<u32> for Seq {
    type Output = Self;
    fn add(self, bytes: u32) -> Self {
        Self(self.0.wrapping_add(bytes))
    }
}

impl Sub<u32> for Seq {
    type Output = Self;
    fn sub(self, bytes: u32) -> Self {
        Self(self.0.wrapping_sub(bytes))
    }
}

impl fmt::Debug for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}
