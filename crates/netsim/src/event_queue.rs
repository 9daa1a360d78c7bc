//! The order of what happens: one pending time for each source.
//!
//! Owns the times, as a tournament: a complete binary tree in which every node holds the earlier of
//! its two children, so the root is what happens first, and a new time for a source replays only
//! the matches above it, without a branch to guess. Never knows what a source is.
//!
//! Two sources pending at one instant go by their number, the lower first: a rule that depends on
//! nothing but the order of creation, so it is the same in every run.

use mptcp_clock::Instant;

/// Nothing pending, from no source.
const NEVER: u128 = u128::MAX;

/// Pending times of sources numbered from 0.
#[derive(Debug)]
pub(crate) struct EventQueue {
    /// Time in the upper bits, source in the lower 32, so that one comparison orders both. The root
    /// is at 1, the children of `i` at `2 i` and `2 i + 1`; the second half are the sources.
    matches: Vec<u128>,
    sources: usize,
}

const fn key(at: Instant, source: u32) -> u128 {
    ((at.as_nanos() as u128) << 32) | source as u128
}

const fn time(key: u128) -> Instant {
    Instant::from_nanos((key >> 32) as u64)
}

impl EventQueue {
    pub(crate) fn new() -> Self {
        Self { matches: vec![NEVER; 4], sources: 0 }
    }

    /// A new source with nothing pending.
    pub(crate) fn add(&mut self) -> u32 {
        let source = self.sources;
        let places = self.matches.len() / 2;
        if source == places {
            let mut doubled = vec![NEVER; places * 4];
            doubled[places * 2..places * 3].copy_from_slice(&self.matches[places..]);
            for node in (1..places * 2).rev() {
                doubled[node] = doubled[node * 2].min(doubled[node * 2 + 1]);
            }
            self.matches = doubled;
        }
        self.sources += 1;
        self.set(source as u32, Instant::FAR_FUTURE);
        source as u32
    }

    /// The first pending time and its source; [`Instant::FAR_FUTURE`] if nothing is pending.
    #[inline]
    pub(crate) fn first(&self) -> (Instant, u32) {
        let first = self.matches[1];
        (time(first), first as u32)
    }

    /// When `source` is pending.
    #[inline]
    pub(crate) fn pending(&self, source: u32) -> Instant {
        time(self.matches[self.matches.len() / 2 + source as usize])
    }

    /// Sets the pending time of `source`; [`Instant::FAR_FUTURE`] for nothing pending.
    #[inline]
    pub(crate) fn set(&mut self, source: u32, at: Instant) {
        let matches = self.matches.as_mut_slice();
        let mut node = matches.len() / 2 + source as usize;
        let mut winner = key(at, source);
        while node > 0 && matches[node] != winner {
            matches[node] = winner;
            winner = winner.min(matches[node ^ 1]);
            node /= 2;
        }
    }
}

#[cfg(test)]
mod tests;
