//! A value per path, indexed by the slot of the subflow in its connection. Controllers and schedulers keep
//! their state per path in it.
//!
//! Owns the growth of the vector when a slot is first used. Never interprets a value.

use std::ops::{Deref, DerefMut};

/// One `T` per path; the default for paths that were never written to.
#[derive(Clone, Debug, Default)]
pub(crate) struct PerPath<T>(Vec<T>);

impl<T: Clone + Default> PerPath<T> {
    /// The value of a path.
    #[inline]
    pub(crate) fn at(&mut self, path: usize) -> &mut T {
        if self.0.len() <= path {
            self.0.resize(path + 1, T::default());
        }
        &mut self.0[path]
    }
}

/// The values up to the last path that was written to.
impl<T> Deref for PerPath<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T> DerefMut for PerPath<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}
