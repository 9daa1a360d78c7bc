//! The subflows of a connection, the living and those that are over.
//!
//! Owns their places, which later ones get, the numbers that nobody gets twice, and the bound on both, so that a
//! connection whose paths come and go for weeks does not grow. Never ends a subflow.

use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};

use crate::connection::lifecycle::{EndpointEvent, Lifecycle, SubflowTuple};
use crate::connection::report::SubflowInfo;
use crate::ids::SubflowId;
use crate::subflow::Subflow;

/// Places for subflows, the living and the dead. As many as a chunk of data has bits for its carriers.
const SLOTS_PER_CONNECTION: usize = SubflowId::SLOTS;
/// Dead ones that keep their places; of more, the first makes room for a new one: every packet looks at all places.
const MAX_CLOSED: usize = 8;
/// Subflows remembered that lost their place.
const MAX_REMEMBERED: usize = 119;

/// Subflows by place. It reads as a slice of them.
#[derive(Debug, Default)]
pub(crate) struct SubflowSet {
    places: Vec<Subflow>,
    /// Those that lost their place to a later one, the oldest first.
    known: VecDeque<SubflowInfo>,
    /// How many are not even remembered.
    forgotten: u64,
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
    pub(crate) fn opened(&self) -> u64 {
        self.places.len() as u64 + self.known.len() as u64 + self.forgotten
    }

    /// The place of the subflow that ended first, if there are so many that it has to make room. The first
    /// subflow stays: it says what the connection was called by.
    pub(crate) fn vacant(&self) -> Option<usize> {
        let dead = self.places.iter().enumerate().skip(1);
        let dead = dead.filter(|(_, subflow)| subflow.is_closed() && subflow.control().is_none());
        if self.places.len() < SLOTS_PER_CONNECTION && dead.clone().nth(MAX_CLOSED - 1).is_none() {
            return None;
        }
        dead.min_by_key(|(_, subflow)| subflow.record().closed_at).map(|(id, _)| id)
    }

    /// Whether there is a place for one more subflow.
    pub(crate) fn has_place(&self) -> bool {
        self.places.len() < SLOTS_PER_CONNECTION || self.vacant().is_some()
    }

    /// Gives a subflow a place of its own; returns it.
    pub(crate) fn push(&mut self, mut subflow: Subflow, fate: &mut Lifecycle) -> usize {
        let id = self.places.len();
        subflow.record_mut().id = SubflowId::new(self.opened(), id);
        self.places.push(subflow);
        fate.tell(EndpointEvent::Opened(self.subflow_tuple(id)));
        id
    }

    /// Gives a subflow the place of one that is over, of which only `past` is kept.
    pub(crate) fn replace(
        &mut self,
        id: usize,
        mut subflow: Subflow,
        past: SubflowInfo,
        fate: &mut Lifecycle,
    ) {
        subflow.record_mut().id = SubflowId::new(self.opened(), id);
        if self.known.len() == MAX_REMEMBERED {
            self.known.pop_front();
            self.forgotten += 1;
        }
        self.known.push_back(past);
        self.places[id] = subflow;
        fate.tell(EndpointEvent::Opened(self.subflow_tuple(id)));
    }

    /// Those that lost their place, as far as they are remembered, the oldest first.
    pub(crate) fn past(&self) -> impl Iterator<Item = &SubflowInfo> {
        self.known.iter()
    }

    /// Tells the endpoint which subflows are over, as far as it has not heard.
    pub(crate) fn notify_closed(&mut self, fate: &mut Lifecycle) {
        for id in 0..self.places.len() {
            let over = self.places[id].is_closed();
            if over && !std::mem::replace(&mut self.places[id].record_mut().close_notified, true) {
                fate.tell(EndpointEvent::Closed(self.subflow_tuple(id)));
            }
        }
    }

    /// The place of a subflow, unless another one has got it.
    #[inline]
    pub(crate) fn slot(&self, id: SubflowId) -> Option<usize> {
        let slot = id.slot();
        self.places.get(slot).is_some_and(|subflow| subflow.record().id == id).then_some(slot)
    }

    /// Where the subflow in a place is found.
    pub(crate) fn subflow_tuple(&self, slot: usize) -> SubflowTuple {
        let (id, addresses) = (self.places[slot].record().id, self.places[slot].addresses());
        SubflowTuple { id, local: addresses.local, remote: addresses.remote }
    }
}
