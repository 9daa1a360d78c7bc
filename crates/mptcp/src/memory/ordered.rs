//! What is known by offsets, in their order.
//!
//! Nearly all of it comes at the end and is taken from the front: a row, in which both cost a step. What belongs far from
//! both ends of the row goes to a tree, with all before it, each at most once: so no order of arrival costs more than the
//! logarithm of what waits, and the row is never so long that one of them pays for many. Knows nothing of what it holds.

use std::collections::{BTreeMap, VecDeque};

/// As far from an end of the row a value is put between others, or taken out: what has to move is that little.
const NEAR: usize = 16;
/// The longest row: what one value may make move to the tree at once. Beyond it each that is added moves one.
const LONGEST: usize = 1024;
/// Places that an empty row keeps.
const MOST_IDLE: usize = 128;

#[derive(Debug)]
pub(crate) struct Ordered<T> {
    /// All that lies before the row.
    tree: BTreeMap<u64, T>,
    row: VecDeque<(u64, T)>,
}

impl<T> Default for Ordered<T> {
    fn default() -> Self {
        Self { tree: BTreeMap::new(), row: VecDeque::new() }
    }
}

impl<T> Ordered<T> {
    pub(crate) fn len(&self) -> usize {
        self.tree.len() + self.row.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.row.is_empty() && self.tree.is_empty()
    }

    /// The last one.
    pub(crate) fn last(&self) -> Option<(u64, &T)> {
        match self.row.back() {
            Some((at, value)) => Some((*at, value)),
            None => self.tree.last_key_value().map(|(at, value)| (*at, value)),
        }
    }

    /// The first one.
    #[inline]
    pub(crate) fn first(&self) -> Option<(u64, &T)> {
        if self.tree.is_empty() {
            return self.row.front().map(|(at, value)| (*at, value));
        }
        self.first_in_tree()
    }

    #[inline(never)]
    fn first_in_tree(&self) -> Option<(u64, &T)> {
        self.tree.first_key_value().map(|(at, value)| (*at, value))
    }

    /// Takes the first one off.
    #[inline]
    pub(crate) fn pop_first(&mut self) -> Option<(u64, T)> {
        if !self.tree.is_empty() {
            return self.pop_from_tree();
        }
        let first = self.row.pop_front();
        if self.row.is_empty() && self.row.capacity() > 2 * MOST_IDLE {
            self.row.shrink_to(MOST_IDLE);
        }
        first
    }

    #[inline(never)]
    fn pop_from_tree(&mut self) -> Option<(u64, T)> {
        self.tree.pop_first()
    }

    /// The last one at `offset` or before it.
    pub(crate) fn at_or_before(&self, offset: u64) -> Option<(u64, &T)> {
        if let Some((at, value)) = self.row.back()
            && *at <= offset
        {
            return Some((*at, value));
        }
        match self.row.partition_point(|(at, _)| *at <= offset).checked_sub(1) {
            Some(place) => self.row.get(place).map(|(at, value)| (*at, value)),
            None => self.tree.range(..=offset).next_back().map(|(at, value)| (*at, value)),
        }
    }

    /// The first one in `[from, to)`.
    pub(crate) fn first_within(&self, from: u64, to: u64) -> Option<(u64, &T)> {
        if self.row.front().is_none_or(|(at, _)| *at > from)
            && let Some((at, value)) = self.tree.range(from..to).next()
        {
            return Some((*at, value));
        }
        let place = self.row.partition_point(|(at, _)| *at < from);
        self.row.get(place).filter(|(at, _)| *at < to).map(|(at, value)| (*at, value))
    }

    /// What is known by `offset` itself.
    pub(crate) fn get_mut(&mut self, offset: u64) -> Option<&mut T> {
        match self.row.binary_search_by_key(&offset, |(at, _)| *at) {
            Ok(place) => self.row.get_mut(place).map(|(_, value)| value),
            Err(_) => self.tree.get_mut(&offset),
        }
    }

    /// Whether something is known by `offset` itself.
    pub(crate) fn contains(&self, offset: u64) -> bool {
        self.at_or_before(offset).is_some_and(|(at, _)| at == offset)
    }

    /// Adds a value, unless there is one at its offset already.
    pub(crate) fn insert(&mut self, offset: u64, value: T) {
        if self.last().is_none_or(|(last, _)| last < offset) {
            if self.row.len() >= LONGEST {
                self.move_first();
            }
            return self.row.push_back((offset, value));
        }
        self.insert_between(offset, value);
    }

    #[inline(never)]
    fn move_first(&mut self) {
        if let Some((at, value)) = self.row.pop_front() {
            self.tree.insert(at, value);
        }
    }

    #[inline(never)]
    fn insert_between(&mut self, offset: u64, value: T) {
        let Err(place) = self.row.binary_search_by_key(&offset, |(at, _)| *at) else { return };
        let inside = place > 0 || self.tree.last_key_value().is_none_or(|(at, _)| *at < offset);
        if inside && place.min(self.row.len() - place) <= NEAR {
            return self.row.insert(place, (offset, value));
        }
        self.spill(place);
        self.tree.entry(offset).or_insert(value);
    }

    /// Takes out what is known by `offset` itself.
    pub(crate) fn remove(&mut self, offset: u64) -> Option<T> {
        let Ok(place) = self.row.binary_search_by_key(&offset, |(at, _)| *at) else {
            return self.tree.remove(&offset);
        };
        if place.min(self.row.len() - 1 - place) <= NEAR {
            return self.row.remove(place).map(|(_, value)| value);
        }
        self.spill(place);
        self.row.pop_front().map(|(_, value)| value)
    }

    /// Moves the first `count` of the row to the tree.
    fn spill(&mut self, count: usize) {
        self.tree.extend(self.row.drain(..count));
        if self.row.capacity() > 4 * self.row.len() + MOST_IDLE {
            self.row.shrink_to(2 * self.row.len());
        }
    }

    /// Takes all of them, in order.
    pub(crate) fn take(&mut self) -> impl Iterator<Item = (u64, T)> + use<T> {
        std::mem::take(&mut self.tree).into_iter().chain(std::mem::take(&mut self.row))
    }
}

impl<T> FromIterator<(u64, T)> for Ordered<T> {
    /// Of values in their order.
    fn from_iter<I: IntoIterator<Item = (u64, T)>>(values: I) -> Self {
        Self { tree: BTreeMap::new(), row: values.into_iter().collect() }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use mptcp_clock::Rng;

    use super::{LONGEST, Ordered};

    #[test]
    fn one_value_makes_no_more_move_than_the_longest_row_has() {
        let (mut ours, mut tree) = (Ordered::default(), BTreeMap::new());
        for offset in 0..5000 {
            ours.insert(2 * offset, offset);
            tree.insert(2 * offset, offset);
            assert!(ours.row.len() <= LONGEST);
        }
        for offset in [1, 4_001, 9_001, 9_999] {
            ours.insert(offset, offset);
            tree.insert(offset, offset);
        }
        assert_eq!(ours.len(), tree.len());
        assert!(std::iter::from_fn(|| ours.pop_first()).eq(tree));
    }

    /// Random work, at the ends and between: always what a tree alone says.
    #[test]
    fn it_is_a_map_in_order() {
        let mut random = Rng::new(7, "ordered");
        for round in 0..200 {
            let (mut ours, mut tree) = (Ordered::default(), BTreeMap::new());
            let (span, mut end) = (1 + random.below(2000), 0);
            for step in 0..1500 {
                let offset = if random.below(100) < round / 2 { end } else { random.below(span) };
                end = end.max(offset + 1 + random.below(3));
                match random.below(8) {
                    0 => assert_eq!(ours.pop_first(), tree.pop_first()),
                    1 => assert_eq!(ours.remove(offset), tree.remove(&offset)),
                    2 => assert_eq!(ours.get_mut(offset), tree.get_mut(&offset)),
                    _ => {
                        ours.insert(offset, step);
                        tree.entry(offset).or_insert(step);
                    }
                }
                let known = |(at, value): (&u64, &i32)| (*at, *value);
                let copied = |(at, value): (u64, &i32)| (at, *value);
                let to = offset + random.below(20);
                assert_eq!(ours.len(), tree.len());
                assert_eq!(ours.is_empty(), tree.is_empty());
                assert_eq!(ours.contains(offset), tree.contains_key(&offset));
                assert_eq!(ours.first().map(copied), tree.first_key_value().map(known));
                assert_eq!(ours.last().map(copied), tree.last_key_value().map(known));
                assert_eq!(
                    ours.at_or_before(offset).map(copied),
                    tree.range(..=offset).next_back().map(known)
                );
                assert_eq!(
                    ours.first_within(offset, to).map(copied),
                    tree.range(offset..to).next().map(known)
                );
            }
            assert!(ours.take().eq(tree));
            assert!(ours.is_empty());
        }
    }
}
