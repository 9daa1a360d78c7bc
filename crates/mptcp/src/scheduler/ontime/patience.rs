//! Waiting for a path that carries all of a stream, and whose window a loss by chance has just halved.
//!
//! Owns who waits, and that the path itself goes on meanwhile: a loss that no full window caused says nothing of the next one; and for whom its
//! losses are a reason to go elsewhere.

use super::OnTime;
use super::estimates::Mend;
use crate::scheduler::{Candidate, SendView};

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

    /// What losses cost on a path is a reason for others only where these carry all of the stream and are sooner: else what is left on it loses as
    /// often, and a part that others bring later is late for nothing. Where one of them does, it costs more the less the path has to spare.
    #[cold]
    pub(super) fn weigh_losses(&mut self, view: &SendView<'_>) {
        for (at, path) in view.candidates.iter().enumerate() {
            let (mend, time) = (self.mends[at], self.times[at]);
            let crowded = time + mend.again * (self.stream.crowds(path) - 1.0);
            let times = &self.times;
            let sooner = |than: f64| {
                let others =
                    times.iter().zip(view.candidates).enumerate().filter(move |&(other, _)| other != at);
                others.filter(move |&(_, (&other, _))| other < than).map(|(_, (_, other))| other)
            };
            let takes_over = |other: &Candidate| self.stream.has_room_on(other) && loses_less(other, path);
            if sooner(crowded).any(takes_over) {
                self.times[at] = crowded;
            } else if self.stream.is_carried_by([path].into_iter())
                && !self.stream.has_room_in_all(sooner(time))
            {
                self.times[at] = time - mend.all();
                self.mends[at] = Mend::default();
            }
        }
    }

    /// What a candidate that loses by chance takes if it may go on behind its last loss.
    pub(super) fn without_next(&self, view: &SendView<'_>, at: usize) -> f64 {
        self.times[at] - if view.candidates[at].by_chance { self.mends[at].next } else { 0.0 }
    }
}

/// Whether a path is known to lose less than another one. Without a loss so far, it may lose as often as once in what it has carried.
fn loses_less(path: &Candidate, other: &Candidate) -> bool {
    let known = path.between_losses.map_or(path.delivered, |between| between.min(path.delivered));
    other.between_losses.is_some_and(|between| known > between)
}
