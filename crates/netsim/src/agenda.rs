//! The order of what happens: one pending time for each source.
//!
//! Owns the times, as an indexed 4-ary heap of fixed membership. Never knows what a source is.
//! Two sources pending at one instant go by their number, the lower first: a rule that depends on
//! nothing but the order of creation, so it is the same in every run.

use mptcp_clock::Instant;

/// Children of a heap node: four 16-byte keys fill one cache line.
const ARITY: usize = 4;

/// Pending times of sources numbered from 0.
#[derive(Debug, Default)]
pub(crate) struct Agenda {
    /// Time in the upper bits, source in the lower 32, so that one comparison orders both.
    heap: Vec<u128>,
    /// Where each source stands in the heap.
    place: Vec<u32>,
}

const fn key(at: Instant, source: u32) -> u128 {
    ((at.as_nanos() as u128) << 32) | source as u128
}

const fn time(key: u128) -> Instant {
    Instant::from_nanos((key >> 32) as u64)
}

impl Agenda {
    /// A new source with nothing pending.
    pub(crate) fn add(&mut self) -> u32 {
        let source = self.place.len() as u32;
        self.place.push(source);
        self.heap.push(key(Instant::FAR_FUTURE, source));
        source
    }

    /// The first pending time and its source; [`Instant::FAR_FUTURE`] if nothing is pending.
    #[inline]
    pub(crate) fn first(&self) -> (Instant, u32) {
        self.heap.first().map_or((Instant::FAR_FUTURE, 0), |&key| (time(key), key as u32))
    }

    /// When `source` is pending.
    #[inline]
    pub(crate) fn pending(&self, source: u32) -> Instant {
        time(self.heap[self.place[source as usize] as usize])
    }

    /// Sets the pending time of `source`; [`Instant::FAR_FUTURE`] for nothing pending.
    #[inline]
    pub(crate) fn set(&mut self, source: u32, at: Instant) {
        let place = self.place[source as usize] as usize;
        let new = key(at, source);
        let old = self.heap[place];
        if new < old {
            self.rise(place, new);
        } else if new > old {
            self.sink(place, new);
        }
    }

    /// Moves the hole at `place` up until `new` may fill it.
    fn rise(&mut self, mut place: usize, new: u128) {
        while place > 0 {
            let parent = (place - 1) / ARITY;
            let above = self.heap[parent];
            if above < new {
                break;
            }
            self.put(place, above);
            place = parent;
        }
        self.put(place, new);
    }

    /// Moves the hole at `place` down until `new` may fill it.
    fn sink(&mut self, mut place: usize, new: u128) {
        loop {
            let first = place * ARITY + 1;
            let (below, least) = if let Some(children) = self.heap.get(first..first + ARITY) {
                least(first, children)
            } else if let Some(children) = self.heap.get(first..).filter(|rest| !rest.is_empty()) {
                least(first, children)
            } else {
                break;
            };
            if new < least {
                break;
            }
            self.put(place, least);
            place = below;
        }
        self.put(place, new);
    }

    #[inline]
    fn put(&mut self, place: usize, key: u128) {
        self.heap[place] = key;
        self.place[key as u32 as usize] = place as u32;
    }
}

/// The least of `children`, which begin at `first`, and where it stands.
#[inline]
fn least(first: usize, children: &[u128]) -> (usize, u128) {
    let mut best = (first, children[0]);
    for (offset, &key) in children.iter().enumerate().skip(1) {
        if key < best.1 {
            best = (first + offset, key);
        }
    }
    best
}
