//! Errors of system calls as errno values.
//!
//! Owns the type only; `memory` sets C's errno.

/// An errno value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Errno(pub(crate) i32);

/// The result of a system call.
pub(crate) type Result<T> = std::result::Result<T, Errno>;

/// Returns an error.
pub(crate) fn fail<T>(error: i32) -> Result<T> {
    Err(Errno(error))
}
