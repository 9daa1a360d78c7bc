//! The subflows of a connection, open and closed.
//!
//! Owns the slots (indices, reused after a subflow has closed), the unique numbers of subflows, and the
//! statistics of closed ones. Slots and statistics are bounded, so a connection whose paths change for weeks
//! does not grow. Never ends a subflow.

use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};

use crate::connection::lifecycle::{EndpointEvent, Lifecycle, SubflowTuple};
use crate::connection::report::SubflowInfo;
use crate::ids::SubflowId;
use crate::subflow::Subflow;

/// The maximum of slots for open and closed subflows: a chunk of the send buffer has one bit for each.
const SLOTS_PER_CONNECTION: usize = SubflowId::SLOTS;
/// Closed subflows that keep their slots. Above this number the oldest is replaced, because every packet visits all
/// slots.
const MAX_CLOSED: usize = 8;
/// The maximum of subflows without a slot whose statistics are kept.
const MAX_REMEMBERED: usize = 119;

/// Subflows by slot. Dereferences to a slice.
#[derive(Debug, Default)]
pub(crate) struct SubflowSet {
    slots: Vec<Subflow>,
    /// Subflows that lost their slot, the oldest first.
    closed: VecDeque<SubflowInfo>,
    /// The number of closed subflows whose statistics were dropped.
    forgotten: u64,
}

impl Deref for SubflowSet {
    type Target = [Subflow];

    fn deref(&self) -> &[Subflow] {
        &self.slots
    }
}

impl DerefMut for SubflowSet {
    fn deref_mut(&mut self) -> &mut [Subflow] {
        &mut self.slots
    }
}

impl<'a> IntoIterator for &'a mut SubflowSet {
    type Item = &'a mut Subflow;
    type IntoIter = std::slice::IterMut<'a, Subflow>;

    fn into_iter(self) -> Self::IntoIter {
        self.slots.iter_mut()
    }
}

impl SubflowSet {
    /// The number of subflows that have ever existed.
    pub(crate) fn opened(&self) -> u64 {
        self.slots.len() as u64 + self.closed.len() as u64 + self.forgotten
    }

    /// The slot to reuse: that of the subflow that closed first, if too many are closed. The first subflow keeps its
    /// slot, because its address identifies the connection.
    pub(crate) fn reusable_slot(&self) -> Option<usize> {
        let closed = self.slots.iter().enumerate().skip(1);
        let closed = closed.filter(|(_, subflow)| subflow.is_closed() && subflow.control().is_none());
        if self.slots.len() < SLOTS_PER_CONNECTION && closed.clone().nth(MAX_CLOSED - 1).is_none() {
            return None;
        }
        closed.min_by_key(|(_, subflow)| subflow.record().closed_at).map(|(id, _)| id)
    }

    /// Whether there is a slot for another subflow.
    pub(crate) fn has_free_slot(&self) -> bool {
        self.slots.len() < SLOTS_PER_CONNECTION || self.reusable_slot().is_some()
    }

    /// Adds a subflow in a new slot. Returns the slot.
    pub(crate) fn push(&mut self, mut subflow: Subflow, lifecycle: &mut Lifecycle) -> usize {
        let id = self.slots.len();
        subflow.record_mut().id = SubflowId::new(self.opened(), id);
        self.slots.push(subflow);
        lifecycle.tell(EndpointEvent::Opened(self.subflow_tuple(id)));
        id
    }

    /// Puts a subflow into the slot of a closed one, of which only `past` is kept.
    pub(crate) fn replace(
        &mut self,
        id: usize,
        mut subflow: Subflow,
        past: SubflowInfo,
        lifecycle: &mut Lifecycle,
    ) {
        subflow.record_mut().id = SubflowId::new(self.opened(), id);
        if self.closed.len() == MAX_REMEMBERED {
            self.closed.pop_front();
            self.forgotten += 1;
        }
        self.closed.push_back(past);
        self.slots[id] = subflow;
        lifecycle.tell(EndpointEvent::Opened(self.subflow_tuple(id)));
    }

    /// The remembered subflows without a slot, the oldest first.
    pub(crate) fn past(&self) -> impl Iterator<Item = &SubflowInfo> {
        self.closed.iter()
    }

    /// Notifies the endpoint of closed subflows, once each.
    pub(crate) fn notify_closed(&mut self, lifecycle: &mut Lifecycle) {
        for id in 0..self.slots.len() {
            let over = self.slots[id].is_closed();
            if over && !std::mem::replace(&mut self.slots[id].record_mut().close_notified, true) {
                lifecycle.tell(EndpointEvent::Closed(self.subflow_tuple(id)));
            }
        }
    }

    /// The slot of a subflow. `None` if the slot was reused.
    #[inline]
    pub(crate) fn slot(&self, id: SubflowId) -> Option<usize> {
        let slot = id.slot();
        self.slots.get(slot).is_some_and(|subflow| subflow.record().id == id).then_some(slot)
    }

    /// The identifier and the addresses of the subflow in a slot.
    pub(crate) fn subflow_tuple(&self, slot: usize) -> SubflowTuple {
        let (id, addresses) = (self.slots[slot].record().id, self.slots[slot].addresses());
        SubflowTuple { id, local: addresses.local, remote: addresses.remote }
    }
}
