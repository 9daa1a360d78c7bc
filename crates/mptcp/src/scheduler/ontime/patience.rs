//! Waiting for a path that carries all of a stream, and whose window a loss by chance has just halved.
//!
//! Owns who waits, and that the path itself goes on meanwhile: a loss that no full window caused says nothing of the next one.

use super::OnTime;
use crate::scheduler::SendView;

impl OnTime {
    /// Whether a path that cannot carry all of a stream is behind one that does, which would take less were its window not just halved.
    #[cold]
    pub(super) fn is_patient(&self, view: &SendView<'_>, slow: usize) -> bool {
        let takes = self.without_next(view, slow);
        let mut sooner = view
            .candidates
            .iter()
            .enumerate()
            .filter(|&(at, fast)| self.without_next(view, at) < takes && !self.silent.is(view.now, fast));
        !self.stream.has_room_on(&view.candidates[slow])
            && sooner.any(|(_, fast)| self.stream.is_carried_by([fast].into_iter()))
    }

    /// Whether a path is the one that these wait for: then it goes on itself, as if its window were not halved.
    #[cold]
    pub(super) fn grows_itself(&self, view: &SendView<'_>, at: usize) -> bool {
        let (path, takes) = (&view.candidates[at], self.without_next(view, at));
        let first = || (0..view.candidates.len()).all(|other| self.without_next(view, other) >= takes);
        path.by_chance && self.stream.is_carried_by([path].into_iter()) && first()
    }

    /// What a candidate that loses by chance takes if it may go on behind its last loss.
    pub(super) fn without_next(&self, view: &SendView<'_>, at: usize) -> f64 {
        self.times[at] - if view.candidates[at].by_chance { self.mends[at].next } else { 0.0 }
    }
}
