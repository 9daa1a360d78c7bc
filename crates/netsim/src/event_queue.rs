//! The order of what happens: one pending time for each source.
//!
//! Owns the times, in groups of four, and above them the least time of each group, in groups of four, up to one: so the
//! first is found by going down, and a new time for a source is told upwards as far as it changes a least. Never knows what
//! a source is.
//!
//! Two sources pending at one instant go by their number, the lower first: a rule that depends on
//! nothing but the order of creation, so it is the same in every run.

use mptcp_clock::Instant;

/// Four times.
type Group = [u64; 4];

/// Nothing pending.
const NEVER: Group = [u64::MAX; 4];

/// Pending times of sources numbered from 0.
#[derive(Debug)]
pub(crate) struct EventQueue {
    /// The times of the sources in nanoseconds, then the least ones of the groups below; the last level is one group.
    levels: Vec<Vec<Group>>,
    sources: usize,
}

#[inline]
fn least(group: &Group) -> u64 {
    group[0].min(group[1]).min(group[2].min(group[3]))
}

/// Where the least one is, the first of them.
#[inline]
fn place_of_least(group: &Group) -> usize {
    let left = usize::from(group[1] < group[0]);
    let right = 2 + usize::from(group[3] < group[2]);
    if group[right] < group[left] { right } else { left }
}

impl EventQueue {
    pub(crate) fn new() -> Self {
        Self { levels: vec![vec![NEVER]], sources: 0 }
    }

    /// A new source with nothing pending.
    pub(crate) fn add(&mut self) -> u32 {
        let source = self.sources;
        self.sources += 1;
        let mut place = source;
        for level in &mut self.levels {
            place /= 4;
            if level.len() > place {
                return source as u32;
            }
            level.push(NEVER);
        }
        if let Some([first, _]) = self.levels.last().and_then(|top| top.first_chunk()) {
            self.levels.push(vec![[least(first), u64::MAX, u64::MAX, u64::MAX]]);
        }
        source as u32
    }

    /// The first pending time and its source; [`Instant::FAR_FUTURE`] if nothing is pending.
    #[inline]
    pub(crate) fn first(&self) -> (Instant, u32) {
        let (mut at, mut time) = (0, u64::MAX);
        for level in self.levels.iter().rev() {
            let Some(group) = level.get(at) else { break };
            let place = place_of_least(group);
            time = group[place];
            at = 4 * at + place;
        }
        (Instant::from_nanos(time), at as u32)
    }

    /// When `source` is pending.
    #[inline]
    pub(crate) fn pending(&self, source: u32) -> Instant {
        Instant::from_nanos(self.levels[0][source as usize / 4][source as usize % 4])
    }

    /// Sets the pending time of `source`; [`Instant::FAR_FUTURE`] for nothing pending.
    #[inline]
    pub(crate) fn set(&mut self, source: u32, at: Instant) {
        let (mut place, mut time) = (source as usize, at.as_nanos());
        for level in &mut self.levels {
            let Some(group) = level.get_mut(place / 4) else { return };
            if group[place % 4] == time {
                return;
            }
            group[place % 4] = time;
            time = least(group);
            place /= 4;
        }
    }
}

#[cfg(test)]
mod tests;
