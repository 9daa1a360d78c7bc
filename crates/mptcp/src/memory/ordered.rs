//! A sorted map from offsets to values, optimised for insertion at the end and removal at the front: most
//! received data and mappings arrive in order.
//!
//! Values are stored in chunks of at most [`MAX_CHUNK`]. A full chunk is split on insertion, so one insertion
//! moves at most that many values, in any order of arrival.
//!
//! Owns the order. Never interprets the values.

use std::collections::VecDeque;

/// Maximum number of values in a chunk.
const MAX_CHUNK: usize = 128;
/// Unused capacity that a chunk may keep.
const MAX_IDLE_CAPACITY: usize = 16;

type Chunk<T> = VecDeque<(u64, T)>;

#[derive(Debug)]
pub(crate) struct Ordered<T> {
    /// All chunks before the last one; none is empty.
    before: VecDeque<Chunk<T>>,
    /// Number of values in `before`.
    count: usize,
    last: Chunk<T>,
}

impl<T> Default for Ordered<T> {
    fn default() -> Self {
        Self { before: VecDeque::new(), count: 0, last: Chunk::new() }
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

    /// The last value and its offset; `None` if the map is empty.
    #[inline]
    pub(crate) fn last(&self) -> Option<(u64, &T)> {
        match self.last.back() {
            Some((at, value)) => Some((*at, value)),
            None => self.before.back().and_then(Chunk::back).map(|(at, value)| (*at, value)),
        }
    }

    /// The first value and its offset; `None` if the map is empty.
    #[inline]
    pub(crate) fn first(&self) -> Option<(u64, &T)> {
        let chunk = self.before.front().unwrap_or(&self.last);
        chunk.front().map(|(at, value)| (*at, value))
    }

    /// Removes the first value.
    #[inline]
    pub(crate) fn pop_first(&mut self) -> Option<(u64, T)> {
        self.pop_up_to(u64::MAX)
    }

    /// Removes the first value if its offset is at most `offset`.
    #[inline(always)]
    pub(crate) fn pop_up_to(&mut self, offset: u64) -> Option<(u64, T)> {
        let Some(chunk) = self.before.front_mut() else {
            return self.last.pop_front_if(|(at, _)| *at <= offset);
        };
        let first = chunk.pop_front_if(|(at, _)| *at <= offset)?;
        self.count -= 1;
        if chunk.is_empty() {
            self.before.pop_front();
        }
        Some(first)
    }

    /// Index of the chunk to which an offset belongs.
    fn chunk_of(&self, offset: u64) -> usize {
        if self.last.front().is_some_and(|(at, _)| *at <= offset) {
            return self.before.len();
        }
        let begun = |chunk: &Chunk<T>| chunk.front().is_some_and(|(at, _)| *at <= offset);
        self.before.partition_point(begun).saturating_sub(1)
    }

    fn chunk(&self, number: usize) -> &Chunk<T> {
        self.before.get(number).unwrap_or(&self.last)
    }

    fn chunk_mut(&mut self, number: usize) -> &mut Chunk<T> {
        self.before.get_mut(number).unwrap_or(&mut self.last)
    }

    /// The last value at or before `offset`.
    pub(crate) fn at_or_before(&self, offset: u64) -> Option<(u64, &T)> {
        if let Some((at, value)) = self.last.back()
            && *at <= offset
        {
            return Some((*at, value));
        }
        let chunk = self.chunk(self.chunk_of(offset));
        let index = chunk.partition_point(|(at, _)| *at <= offset).checked_sub(1)?;
        chunk.get(index).map(|(at, value)| (*at, value))
    }

    /// The first value in `[from, to)`.
    pub(crate) fn first_within(&self, from: u64, to: u64) -> Option<(u64, &T)> {
        let number = self.chunk_of(from);
        let chunk = self.chunk(number);
        let found = match chunk.get(chunk.partition_point(|(at, _)| *at < from)) {
            None if number < self.before.len() => self.chunk(number + 1).front(),
            found => found,
        };
        found.filter(|(at, _)| *at < to).map(|(at, value)| (*at, value))
    }

    /// The value at `offset`.
    pub(crate) fn get_mut(&mut self, offset: u64) -> Option<&mut T> {
        let chunk = self.chunk_of(offset);
        let chunk = self.chunk_mut(chunk);
        let index = chunk.binary_search_by_key(&offset, |(at, _)| *at).ok()?;
        chunk.get_mut(index).map(|(_, value)| value)
    }

    /// Whether a value exists at `offset`.
    pub(crate) fn contains(&self, offset: u64) -> bool {
        self.at_or_before(offset).is_some_and(|(at, _)| at == offset)
    }

    /// Adds a value, unless `offset` already has one.
    #[inline]
    pub(crate) fn insert(&mut self, offset: u64, value: T) {
        if self.last().is_none_or(|(last, _)| last < offset) {
            return self.push(offset, value);
        }
        self.insert_between(offset, value);
    }

    /// Adds a value after all others.
    #[inline]
    pub(crate) fn push(&mut self, offset: u64, value: T) {
        if self.last.len() >= MAX_CHUNK {
            self.start_chunk();
        }
        self.last.push_back((offset, value));
    }

    /// Starts a new last chunk.
    #[inline(never)]
    fn start_chunk(&mut self) {
        self.count += self.last.len();
        let full = std::mem::replace(&mut self.last, Chunk::with_capacity(MAX_CHUNK));
        self.before.push_back(full);
    }

    #[inline(never)]
    fn insert_between(&mut self, offset: u64, value: T) {
        let number = self.chunk_of(offset);
        let chunk = self.chunk_mut(number);
        let Err(index) = chunk.binary_search_by_key(&offset, |(at, _)| *at) else { return };
        chunk.insert(index, (offset, value));
        let upper_half = (chunk.len() > MAX_CHUNK).then(|| chunk.split_off(MAX_CHUNK / 2));
        let is_before_last = usize::from(number < self.before.len());
        self.count += is_before_last;
        match upper_half {
            Some(upper_half) if is_before_last == 1 => self.before.insert(number + 1, upper_half),
            Some(upper_half) => {
                let full = std::mem::replace(&mut self.last, upper_half);
                self.count += full.len();
                self.before.push_back(full);
            }
            None => {}
        }
    }

    /// Removes the value at `offset`.
    pub(crate) fn remove(&mut self, offset: u64) -> Option<T> {
        let number = self.chunk_of(offset);
        let chunk = self.chunk_mut(number);
        let index = chunk.binary_search_by_key(&offset, |(at, _)| *at).ok()?;
        let (_, value) = chunk.remove(index)?;
        if chunk.capacity() > 4 * chunk.len() + 2 * MAX_IDLE_CAPACITY {
            chunk.shrink_to(2 * chunk.len() + MAX_IDLE_CAPACITY);
        }
        let empty = chunk.is_empty();
        if number < self.before.len() {
            self.count -= 1;
            if empty {
                self.before.remove(number);
            }
        }
        Some(value)
    }

    /// Removes and returns all values in order.
    pub(crate) fn take(&mut self) -> impl Iterator<Item = (u64, T)> + use<T> {
        let all = std::mem::take(self);
        all.before.into_iter().flatten().chain(all.last)
    }
}

impl<T> FromIterator<(u64, T)> for Ordered<T> {
    /// `values` must be sorted by offset.
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

    use super::{MAX_CHUNK, Ordered};

    #[test]
    fn no_chunk_exceeds_its_maximum_length() {
        let (mut map, mut reference) = (Ordered::default(), BTreeMap::new());
        for offset in 0..5000 {
            map.insert(2 * offset, offset);
            reference.insert(2 * offset, offset);
            assert!(map.last.len() <= MAX_CHUNK);
        }
        for offset in [1, 4_001, 9_001, 9_999] {
            map.insert(offset, offset);
            reference.insert(offset, offset);
        }
        assert!(map.before.iter().all(|chunk| (1..=MAX_CHUNK).contains(&chunk.len())));
        assert_eq!(map.len(), reference.len());
        assert!(std::iter::from_fn(|| map.pop_first()).eq(reference));
    }

    /// Random operations at the ends and in between give the same results as a `BTreeMap`.
    #[test]
    fn random_operations_match_a_btree_map() {
        let mut random = Rng::new(7, "ordered");
        for round in 0..200 {
            let (mut map, mut reference) = (Ordered::default(), BTreeMap::new());
            let (span, mut end) = (1 + random.below(2000), 0);
            for step in 0..1500 {
                let offset = if random.below(100) < round / 2 { end } else { random.below(span) };
                end = end.max(offset + 1 + random.below(3));
                match random.below(8) {
                    0 => assert_eq!(map.pop_first(), reference.pop_first()),
                    1 => assert_eq!(map.remove(offset), reference.remove(&offset)),
                    2 => assert_eq!(map.get_mut(offset), reference.get_mut(&offset)),
                    _ => {
                        map.insert(offset, step);
                        reference.entry(offset).or_insert(step);
                    }
                }
                let known = |(at, value): (&u64, &i32)| (*at, *value);
                let copied = |(at, value): (u64, &i32)| (at, *value);
                let to = offset + random.below(20);
                assert_eq!(map.len(), reference.len());
                assert_eq!(map.is_empty(), reference.is_empty());
                assert_eq!(map.contains(offset), reference.contains_key(&offset));
                assert_eq!(map.first().map(copied), reference.first_key_value().map(known));
                assert_eq!(map.last().map(copied), reference.last_key_value().map(known));
                assert_eq!(
                    map.at_or_before(offset).map(copied),
                    reference.range(..=offset).next_back().map(known)
                );
                assert_eq!(
                    map.first_within(offset, to).map(copied),
                    reference.range(offset..to).next().map(known)
                );
            }
            assert!(map.take().eq(reference));
            assert!(map.is_empty());
        }
    }
}
