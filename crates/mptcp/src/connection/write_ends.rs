//! Where the application's writes end, as far as that matters for segments.
//!
//! Owns the offsets. What follows from them is the affair of `writes`.

use std::collections::VecDeque;

/// An end that matters.
#[derive(Clone, Copy, Debug)]
struct End {
    at: u64,
    record: bool,
}

/// Ends of writes that are not acknowledged: no more of them than bytes in the send buffer.
#[derive(Debug, Default)]
pub(crate) struct WriteEnds {
    ends: VecDeque<End>,
    /// The last one that was noted.
    pushed: u64,
}

impl WriteEnds {
    /// A write from `start` to `at` is here, and all before `next` was sent.
    pub(crate) fn note(&mut self, start: u64, at: u64, next: u64, record: bool) {
        // What is unsent goes in the same segments as what follows it: Linux takes the flag back from there.
        self.ends.pop_back_if(|last| !last.record && last.at == start && start > next);
        self.ends.push_back(End { at, record });
        self.pushed = at;
    }

    /// So many bytes were put before all others.
    pub(crate) fn shift(&mut self, length: u64) {
        self.ends.iter_mut().for_each(|end| end.at += length);
        self.pushed += length;
    }

    /// The last end that was noted.
    pub(crate) fn pushed(&self) -> u64 {
        self.pushed
    }

    /// Whether a write ended at an offset.
    #[inline]
    pub(crate) fn has(&self, at: u64) -> bool {
        !self.ends.is_empty() && self.ends.binary_search_by_key(&at, |end| end.at).is_ok()
    }

    /// The first end of a record behind an offset.
    #[inline(always)]
    pub(crate) fn record_behind(&self, offset: u64) -> Option<u64> {
        if self.ends.is_empty() {
            return None;
        }
        let from = self.ends.partition_point(|end| end.at <= offset);
        self.ends.range(from..).find(|end| end.record).map(|end| end.at)
    }

    /// All up to an offset is acknowledged.
    #[inline]
    pub(crate) fn forget(&mut self, offset: u64) {
        while self.ends.pop_front_if(|end| end.at <= offset).is_some() {}
    }
}
