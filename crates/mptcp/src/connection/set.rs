//! The subflows of a connection, the living and those that are over.
//!
//! Owns their places, which later ones get, the numbers that nobody gets twice, and the bound on both, so that a
//! connection whose paths come and go for weeks does not grow. Never ends a subflow.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::ops::{Deref, DerefMut};

use super::report::SubflowInfo;
use crate::subflow::Subflow;

/// Places for subflows, the living and the dead; above it the dead make room. As many as a chunk of data
/// has bits for its carriers.
const PLACES: usize = 64;
/// Subflows remembered that lost their place.
const REMEMBERED: usize = 64;

/// A four-tuple with the place of its subflow: ours, the peer's, and whether it is in use.
pub(crate) type PlacedTuple = (usize, SocketAddr, SocketAddr, bool);

/// Subflows by place. It reads as a slice of them.
#[derive(Debug, Default)]
pub(super) struct SubflowSet {
    places: Vec<Subflow>,
    /// Those that lost their place to a later one, the oldest first.
    known: VecDeque<SubflowInfo>,
    /// How many are not even remembered.
    forgotten: u64,
    /// Four-tuples of subflows whose places others have got, which the endpoint may still know.
    retired: Vec<(usize, SocketAddr, SocketAddr)>,
    /// The endpoint has to look at the list.
    changed: bool,
}

impl Deref for SubflowSet {
    type Target = [Subflow];

    fn deref(&self) -> &[Subflow] {
        &self.places
    }
}

impl DerefMut for SubflowSet {
    fn deref_mut(&mut self) -> &mut [Subflow] {
        &mut self.places
    }
}

impl<'a> IntoIterator for &'a mut SubflowSet {
    type Item = &'a mut Subflow;
    type IntoIter = std::slice::IterMut<'a, Subflow>;

    fn into_iter(self) -> Self::IntoIter {
        self.places.iter_mut()
    }
}

impl SubflowSet {
    /// Subflows that there ever were.
    pub(super) fn opened(&self) -> u64 {
        self.places.len() as u64 + self.known.len() as u64 + self.forgotten
    }

    /// The place of the subflow that ended first, if there are so many that it has to make room. The first
    /// subflow stays: it says what the connection was called by.
    pub(super) fn vacant(&self) -> Option<usize> {
        if self.places.len() < PLACES {
            return None;
        }
        let dead = self.places.iter().enumerate().skip(1);
        let dead = dead.filter(|(_, subflow)| subflow.is_closed() && subflow.control().is_none());
        dead.min_by_key(|(_, subflow)| subflow.record().closed_at).map(|(id, _)| id)
    }

    /// Whether there is a place for one more subflow.
    pub(super) fn has_place(&self) -> bool {
        self.places.len() < PLACES || self.vacant().is_some()
    }

    /// Gives a subflow a place of its own; returns it.
    pub(super) fn push(&mut self, mut subflow: Subflow) -> usize {
        subflow.record_mut().number = self.opened();
        self.changed = true;
        self.places.push(subflow);
        self.places.len() - 1
    }

    /// Gives a subflow the place of one that is over, of which only `past` is kept.
    pub(super) fn replace(&mut self, id: usize, mut subflow: Subflow, past: SubflowInfo) {
        subflow.record_mut().number = self.opened();
        if self.known.len() == REMEMBERED {
            self.known.pop_front();
            self.forgotten += 1;
        }
        self.known.push_back(past);
        // The endpoint may not have looked since it ended.
        let over = &self.places[id];
        self.retired.push((id, over.ends().local, over.ends().remote));
        self.changed = true;
        self.places[id] = subflow;
    }

    /// Those that lost their place, as far as they are remembered, the oldest first.
    pub(super) fn past(&self) -> impl Iterator<Item = &SubflowInfo> {
        self.known.iter()
    }

    /// The endpoint should look at the list.
    pub(super) fn note_change(&mut self) {
        self.changed = true;
    }

    pub(super) fn has_changed(&self) -> bool {
        self.changed
    }

    /// Whether it should, since it was asked last.
    pub(super) fn take_change(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }

    /// The four-tuples of all places.
    pub(super) fn tuples(&self) -> impl Iterator<Item = PlacedTuple> + '_ {
        let places = self.places.iter().enumerate();
        places.map(|(id, subflow)| (id, subflow.ends().local, subflow.ends().remote, subflow.is_closed()))
    }

    /// Four-tuples that came into use (true) or went out of it since this was asked last.
    pub(super) fn tuple_changes(&mut self) -> impl Iterator<Item = PlacedTuple> + '_ {
        self.places.iter_mut().enumerate().filter_map(|(id, subflow)| {
            let open = !subflow.is_closed();
            let changed = std::mem::replace(&mut subflow.record_mut().registered, open) != open;
            changed.then_some((id, subflow.ends().local, subflow.ends().remote, open))
        })
    }

    /// Four-tuples that are in use no more, with the place that their subflow had.
    pub(super) fn take_retired(&mut self) -> Vec<(usize, SocketAddr, SocketAddr)> {
        std::mem::take(&mut self.retired)
    }
}
