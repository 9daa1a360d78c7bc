//! Connections in line, by their places.
//!
//! Owns their order. The first stands apart: seldom does anybody wait behind it, and then nothing moves in a ring.

use std::collections::VecDeque;

/// No connection has that place.
const NOBODY: u32 = u32::MAX;

#[derive(Debug)]
pub(super) struct Line {
    first: u32,
    others: VecDeque<u32>,
}

impl Default for Line {
    fn default() -> Self {
        Self { first: NOBODY, others: VecDeque::new() }
    }
}

impl Line {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.first == NOBODY
    }

    /// Whether there is one, and nobody behind it.
    #[inline]
    pub(super) fn is_one(&self) -> bool {
        !self.is_empty() && self.others.is_empty()
    }

    #[inline]
    pub(super) fn first(&self) -> Option<u32> {
        (!self.is_empty()).then_some(self.first)
    }

    /// Somebody comes.
    #[inline]
    pub(super) fn push(&mut self, place: u32) {
        if self.is_empty() {
            self.first = place;
        } else {
            self.others.push_back(place);
        }
    }

    /// The first goes.
    #[inline]
    pub(super) fn pop(&mut self) {
        self.first = if self.others.is_empty() { NOBODY } else { self.next() };
    }

    #[inline(never)]
    fn next(&mut self) -> u32 {
        self.others.pop_front().unwrap_or(NOBODY)
    }

    /// All of them, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.first().into_iter().chain(self.others.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_comes_first_goes_first() {
        let mut line = Line::default();
        assert!(line.is_empty() && !line.is_one());
        (0..3).for_each(|place| line.push(place));
        assert_eq!(line.iter().collect::<Vec<_>>(), [0, 1, 2]);
        line.pop();
        line.push(0);
        assert_eq!(line.iter().collect::<Vec<_>>(), [1, 2, 0]);
        line.pop();
        line.pop();
        assert!(line.is_one());
        assert_eq!(line.first(), Some(0));
        line.pop();
        line.pop();
        assert_eq!(line.first(), None);
    }
}
