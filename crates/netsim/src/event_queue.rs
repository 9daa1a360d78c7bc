//! The event queue: finds the next event of a network. A source of events, such as a link direction or a
//! timer, has one pending time.
//!
//! Owns the times, in a tree of groups of sixteen. Each level holds the minimum of each group below, up to a
//! single group. An update propagates upwards only while it changes a minimum. Sources are only numbers here.
//!
//! Simultaneous sources are ordered by number, so the order depends only on the order of creation and is the
//! same in every run.

use mptcp_clock::Instant;

/// Entries per group.
const SIZE: usize = 16;
/// Entries that are compared together.
const QUARTER: usize = SIZE / 4;

/// A time and its source, ordered as events are.
type Pending = (u64, u32);

/// Times in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Times {
    list: [u64; SIZE],
    /// Number of used entries.
    used: usize,
}

impl Times {
    /// A group in which nothing is pending.
    const NEVER: Self = Self { list: [u64::MAX; SIZE], used: 0 };

    /// The minimum time and its first index.
    #[inline]
    fn least(&self) -> (u64, usize) {
        let mut least = least_of(&self.list[..QUARTER]);
        if self.used > QUARTER {
            least = least.min(least_of(&self.list[QUARTER..2 * QUARTER]));
        }
        if self.used > 2 * QUARTER {
            least = least.min(least_of(&self.list[2 * QUARTER..3 * QUARTER]));
        }
        if self.used > 3 * QUARTER {
            least = least.min(least_of(&self.list[3 * QUARTER..]));
        }
        // The index is searched once at the end, not tracked during the comparison.
        (least, self.list.iter().position(|&time| time == least).unwrap_or(0))
    }
}

#[inline]
fn least_of(times: &[u64]) -> u64 {
    times.iter().fold(u64::MAX, |least, &time| least.min(time))
}

/// The minima of sixteen groups.
#[derive(Clone, Copy, Debug)]
struct Firsts {
    times: Times,
    sources: [u32; SIZE],
}

impl Firsts {
    const NONE: Self = Self { times: Times::NEVER, sources: [0; SIZE] };

    #[inline]
    fn at(&self, place: usize) -> Pending {
        (self.times.list[place % SIZE], self.sources[place % SIZE])
    }

    #[inline]
    fn set(&mut self, place: usize, first: Pending) {
        (self.times.list[place % SIZE], self.sources[place % SIZE]) = first;
    }

    #[inline]
    fn first(&self) -> Pending {
        let (time, place) = self.times.least();
        (time, self.sources[place % SIZE])
    }
}

/// Pending times of the sources, numbered from 0.
#[derive(Debug)]
pub(crate) struct EventQueue {
    times: Vec<Times>,
    /// Levels of minima: of the groups of times, then of the groups below. The last level is one group. Empty
    /// with a single group of times.
    firsts: Vec<Vec<Firsts>>,
    sources: usize,
}

impl EventQueue {
    pub(crate) fn new() -> Self {
        Self { times: vec![Times::NEVER], firsts: Vec::new(), sources: 0 }
    }

    /// Adds a source with nothing pending.
    pub(crate) fn add(&mut self) -> u32 {
        let source = self.sources;
        self.sources += 1;
        if self.sources > SIZE * self.times.len() {
            self.times.push(Times::NEVER);
            self.add_group(self.times.len());
        }
        self.times[source / SIZE].used = source % SIZE + 1;
        source as u32
    }

    /// Extends the levels of minima for a new group of times. `groups` is the number of groups, with the new
    /// one.
    #[cold]
    fn add_group(&mut self, mut groups: usize) {
        for level in &mut self.firsts {
            let place = groups - 1;
            groups = groups.div_ceil(SIZE);
            let grows = level.len() < groups;
            if grows {
                level.push(Firsts::NONE);
            }
            level[place / SIZE].times.used = place % SIZE + 1;
            if !grows {
                return;
            }
        }
        // The last level grew from one group to two.
        let first = match self.firsts.last() {
            Some(last) => last[0].first(),
            None => first_of(&self.times[0], 0),
        };
        let mut top = Firsts::NONE;
        top.set(0, first);
        top.times.used = 2;
        self.firsts.push(vec![top]);
    }

    /// The first pending time and its source; [`Instant::FAR_FUTURE`] if nothing is pending.
    #[inline]
    pub(crate) fn first(&self) -> (Instant, u32) {
        let top = self.firsts.last().and_then(|level| level.first());
        let (time, source) = top.map_or_else(|| first_of(&self.times[0], 0), Firsts::first);
        (Instant::from_nanos(time), source)
    }

    /// The pending time of `source`.
    #[inline]
    pub(crate) fn pending(&self, source: u32) -> Instant {
        Instant::from_nanos(self.times[source as usize / SIZE].list[source as usize % SIZE])
    }

    /// Sets the pending time of `source`; [`Instant::FAR_FUTURE`] for nothing pending.
    #[inline]
    pub(crate) fn set(&mut self, source: u32, at: Instant) {
        let mut place = source as usize / SIZE;
        let Some(times) = self.times.get_mut(place) else { return };
        times.list[source as usize % SIZE] = at.as_nanos();
        let mut levels = self.firsts.iter_mut();
        let Some(level) = levels.next() else { return };
        let Some(mut group) = level.get_mut(place / SIZE) else { return };
        let (new, known) = ((at.as_nanos(), source), group.at(place));
        let mut first = match new < known {
            true => new,
            false if known.1 == source => first_of(times, place),
            false => return,
        };
        loop {
            let before = group.at(place);
            group.set(place, first);
            let Some(above) = levels.next() else { return };
            place /= SIZE;
            let Some(next) = above.get_mut(place / SIZE) else { return };
            let known = next.at(place);
            first = match first < known {
                true => first,
                false if known == before => group.first(),
                false => return,
            };
            group = next;
        }
    }
}

/// The minimum of a group of times.
#[inline]
fn first_of(times: &Times, group: usize) -> Pending {
    let (time, place) = times.least();
    (time, (SIZE * group + place) as u32)
}

#[cfg(test)]
mod tests;
