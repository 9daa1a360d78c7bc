//! Errno values that the socket calls of this crate return to packetdrill, as Linux's calls would.
//!
//! Owns the type only. The module `memory` stores the value in C's `errno` before a call returns.

/// An errno value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Errno(pub(crate) i32);

/// The result of a system call.
pub(crate) type Result<T> = std::result::Result<T, Errno>;

/// Returns `error` as the result of a call.
pub(crate) fn fail<T>(error: i32) -> Result<T> {
    Err(Errno(error))
}
