//! Why a call failed, as C says it.

/// An errno value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Errno(pub(crate) i32);

/// What a call gives.
pub(crate) type Result<T> = std::result::Result<T, Errno>;

/// A failed call.
pub(crate) fn fail<T>(error: i32) -> Result<T> {
    Err(Errno(error))
}
