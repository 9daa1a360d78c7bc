//! What is known by offsets, in their order.
//!
//! Nearly all of it comes at the end and is taken from the front: rows, in which both cost a step. What belongs between others
//! goes between them in its row, and a row that is full is cut in two: so no order of arrival makes more move than a row
//! has, and what waits long is not sorted again. Knows nothing of what it holds.

use std::collections::VecDeque;

/// The longest row: what one value may make move.
const LONGEST: usize = 128;
/// Places that a row keeps without need.
const MAX_IDLE_CAPACITY: usize = 16;

type Row<T> = VecDeque<(u64, T)>;

#[derive(Debug)]
pub(crate) struct Ordered<T> {
    /// Rows of all that lies before the last one, none of them empty.
    before: VecDeque<Row<T>>,
    /// How many values they hold.
    count: usize,
    last: Row<T>,
}

impl<T> Default for Ordered<T> {
    fn default() -> Self {
        Self { before: VecDeque::new(), count: 0, last: Row::new() }
    }
}

impl<T> Ordered<T> {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.count + self.last.len()
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.last.is_empty() && self.before.is_empty()
    }

    /// The last one.
    #[inline]
    pub(crate) fn last(&self) -> Option<(u64, &T)> {
        match self.last.back() {
            Some((at, value)) => Some((*at, value)),
            None => self.before.back().and_then(Row::back).map(|(at, value)| (*at, value)),
        }
    }

    /// The first one.
    #[inline]
    pub(crate) fn first(&self) -> Option<(u64, &T)> {
        let row = self.before.front().unwrap_or(&self.last);
        row.front().map(|(at, value)| (*at, value))
    }

    /// Takes the first one off.
    #[inline]
    pub(crate) fn pop_first(&mut self) -> Option<(u64, T)> {
        self.pop_up_to(u64::MAX)
    }

    /// Takes the first one off, if it is at `offset` or before.
    #[inline(always)]
    pub(crate) fn pop_up_to(&mut self, offset: u64) -> Option<(u64, T)> {
        let Some(row) = self.before.front_mut() else {
            return self.last.pop_front_if(|(at, _)| *at <= offset);
        };
        let first = row.pop_front_if(|(at, _)| *at <= offset)?;
        self.count -= 1;
        if row.is_empty() {
            self.before.pop_front();
        }
        Some(first)
    }

    /// The row in which an offset has its place.
    fn row_of(&self, offset: u64) -> usize {
        if self.last.front().is_some_and(|(at, _)| *at <= offset) {
            return self.before.len();
        }
        let begun = |row: &Row<T>| row.front().is_some_and(|(at, _)| *at <= offset);
        self.before.partition_point(begun).saturating_sub(1)
    }

    fn row(&self, number: usize) -> &Row<T> {
        self.before.get(number).unwrap_or(&self.last)
    }

    fn row_mut(&mut self, number: usize) -> &mut Row<T> {
        self.before.get_mut(number).unwrap_or(&mut self.last)
    }

    /// The last one at `offset` or before it.
    pub(crate) fn at_or_before(&self, offset: u64) -> Option<(u64, &T)> {
        if let Some((at, value)) = self.last.back()
            && *at <= offset
        {
            return Some((*at, value));
        }
        let row = self.row(self.row_of(offset));
        let place = row.partition_point(|(at, _)| *at <= offset).checked_sub(1)?;
        row.get(place).map(|(at, value)| (*at, value))
    }

    /// The first one in `[from, to)`.
    pub(crate) fn first_within(&self, from: u64, to: u64) -> Option<(u64, &T)> {
        let number = self.row_of(from);
        let row = self.row(number);
        let found = match row.get(row.partition_point(|(at, _)| *at < from)) {
            None if number < self.before.len() => self.row(number + 1).front(),
            found => found,
        };
        found.filter(|(at, _)| *at < to).map(|(at, value)| (*at, value))
    }

    /// What is known by `offset` itself.
    pub(crate) fn get_mut(&mut self, offset: u64) -> Option<&mut T> {
        let row = self.row_of(offset);
        let row = self.row_mut(row);
        let place = row.binary_search_by_key(&offset, |(at, _)| *at).ok()?;
        row.get_mut(place).map(|(_, value)| value)
    }

    /// Whether something is known by `offset` itself.
    pub(crate) fn contains(&self, offset: u64) -> bool {
        self.at_or_before(offset).is_some_and(|(at, _)| at == offset)
    }

    /// Adds a value, unless there is one at its offset already.
    #[inline]
    pub(crate) fn insert(&mut self, offset: u64, value: T) {
        if self.last().is_none_or(|(last, _)| last < offset) {
            return self.push(offset, value);
        }
        self.insert_between(offset, value);
    }

    /// Adds a value behind all others.
    #[inline]
    pub(crate) fn push(&mut self, offset: u64, value: T) {
        if self.last.len() >= LONGEST {
            self.begin_row();
        }
        self.last.push_back((offset, value));
    }

    /// The last row is full.
    #[inline(never)]
    fn begin_row(&mut self) {
        self.count += self.last.len();
        let full = std::mem::replace(&mut self.last, Row::with_capacity(LONGEST));
        self.before.push_back(full);
    }

    #[inline(never)]
    fn insert_between(&mut self, offset: u64, value: T) {
        let number = self.row_of(offset);
        let row = self.row_mut(number);
        let Err(place) = row.binary_search_by_key(&offset, |(at, _)| *at) else { return };
        row.insert(place, (offset, value));
        let rest = (row.len() > LONGEST).then(|| row.split_off(LONGEST / 2));
        let grown = usize::from(number < self.before.len());
        self.count += grown;
        match rest {
            Some(rest) if grown == 1 => self.before.insert(number + 1, rest),
            Some(rest) => {
                let full = std::mem::replace(&mut self.last, rest);
                self.count += full.len();
                self.before.push_back(full);
            }
            None => {}
        }
    }

    /// Takes out what is known by `offset` itself.
    pub(crate) fn remove(&mut self, offset: u64) -> Option<T> {
        let number = self.row_of(offset);
        let row = self.row_mut(number);
        let place = row.binary_search_by_key(&offset, |(at, _)| *at).ok()?;
        let (_, value) = row.remove(place)?;
        if row.capacity() > 4 * row.len() + 2 * MAX_IDLE_CAPACITY {
            row.shrink_to(2 * row.len() + MAX_IDLE_CAPACITY);
        }
        let empty = row.is_empty();
        if number < self.before.len() {
            self.count -= 1;
            if empty {
                self.before.remove(number);
            }
        }
        Some(value)
    }

    /// Takes all of them, in order.
    pub(crate) fn take(&mut self) -> impl Iterator<Item = (u64, T)> + use<T> {
        let all = std::mem::take(self);
        all.before.into_iter().flatten().chain(all.last)
    }
}

impl<T> FromIterator<(u64, T)> for Ordered<T> {
    /// Of values in their order.
    fn from_iter<I: IntoIterator<Item = (u64, T)>>(values: I) -> Self {
        let mut ordered = Self::default();
        values.into_iter().for_each(|(at, value)| ordered.insert(at, value));
        ordered
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
            assert!(ours.last.len() <= LONGEST);
        }
        for offset in [1, 4_001, 9_001, 9_999] {
            ours.insert(offset, offset);
            tree.insert(offset, offset);
        }
        assert!(ours.before.iter().all(|row| (1..=LONGEST).contains(&row.len())));
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
