//! What the observers of a run report, until the world accounts for it.
//!
//! Owns the queue between them: observers hear of an event in the middle of a call, and may not look at the network then.

use std::collections::{BTreeMap, BTreeSet};

use mptcp::observe::{Event, Record, WindowChange};
use mptcp_clock::Instant;
use netsim::{Cause as DropCause, DirectionId, FrameEvent, Happening};

use super::buffers::Buffers;
pub(in crate::world) use super::buffers::{Full, FullTimes};
pub(super) use super::buffers::{Hold, Key};
use crate::classes::{flow_and_interface, flow_and_subflow};
use crate::measurements::PathDrops;

/// What a sender reported.
#[derive(Clone, Copy, Debug)]
pub(super) enum Note {
    /// From here on this holds a subflow back.
    Limit(Hold),
    /// The congestion window was reduced after a loss, a timeout or marks.
    Reduced,
    /// A reduction was undone: nothing had been lost.
    Undone,
}

/// Frames of one subflow that the network dropped or marked, by why.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Drops {
    /// The queue or its discipline dropped or marked them.
    pub(super) queue: u64,
    /// Random loss or a MAC took them, or they arrived damaged.
    pub(super) random: u64,
    /// A filter of the scenario took them.
    pub(super) filter: u64,
    /// The link was down.
    pub(super) down: u64,
    /// Acknowledgements that a queue dropped.
    pub(super) acks: u64,
    /// Bytes that never left the queue.
    pub(super) unsent: u64,
}

/// The queue.
#[derive(Debug, Default)]
pub(in crate::world) struct Notes {
    notes: Vec<(Key, u16, Note)>,
    buffers: Buffers,
    drops: BTreeMap<Key, Drops>,
    /// By flow and interface of the host that opened it: in both directions, over the whole run.
    by_path: BTreeMap<(u16, u16), PathDrops>,
    /// By flow and interface of the host that opened it: acknowledgements that a queue dropped.
    acks: BTreeMap<(u16, u16), u64>,
    /// By flow: the directions that its data takes.
    forth: BTreeSet<(u16, DirectionId)>,
}

impl Notes {
    /// An event of the subflow of `flow` on `path`, at its sending host.
    pub(in crate::world) fn hear(&mut self, flow: u16, path: u16, record: &Record) {
        let key = (flow, record.place.subflow.number() as u8);
        let note = match record.event {
            Event::Limit { limit, .. } => Note::Limit(self.buffers.report(record.at, key, path, limit)),
            Event::Block { limit, .. } => return self.buffers.block(record.at, flow, limit),
            Event::Window {
                why: WindowChange::Loss | WindowChange::Timeout | WindowChange::Marks, ..
            } => Note::Reduced,
            Event::Spurious { .. } => Note::Undone,
            _ => return,
        };
        self.notes.push((key, path, note));
    }

    /// The flows that full buffers hold back.
    pub(in crate::world) fn waiting(&self) -> Vec<u16> {
        self.buffers.waiting().collect()
    }

    /// These buffers of a flow are full from `at` on.
    pub(in crate::world) fn note_full(&mut self, at: Instant, flow: u16, full: Full) {
        let changed = self.buffers.note_full(at, flow, full);
        self.notes.extend(changed.into_iter().map(|(key, path, hold)| (key, path, Note::Limit(hold))));
    }

    /// How long until `until` full buffers held a path back whose oldest data was on it, and its connection wherever that was.
    pub(in crate::world) fn full_times(
        &self,
        flow: u16,
        path: u16,
        until: Instant,
    ) -> (FullTimes, FullTimes) {
        (self.buffers.of_path(flow, path, until), self.buffers.of_flow(flow, until))
    }

    /// All data of a flow has arrived.
    pub(super) fn stop(&mut self, now: Instant, flow: u16) {
        self.buffers.stop(now, flow);
    }

    /// What buffers did counts from now on.
    pub(super) fn count_anew(&mut self, now: Instant, flow: u16) {
        self.buffers.count_anew(now, flow);
    }

    /// What was heard since it was asked last.
    pub(super) fn take(&mut self) -> Vec<(Key, u16, Note)> {
        std::mem::take(&mut self.notes)
    }

    /// What the network has dropped of a subflow so far.
    pub(super) fn drops_of(&self, subflow: Key) -> Drops {
        self.drops.get(&subflow).copied().unwrap_or_default()
    }

    /// The same, with the acknowledgements that came by an interface.
    pub(super) fn all_drops_of(&self, subflow: Key, interface: u16) -> Drops {
        let acks = self.acks.get(&(subflow.0, interface)).copied().unwrap_or_default();
        Drops { acks, ..self.drops_of(subflow) }
    }

    /// The data of a flow takes this direction.
    pub(super) fn follow(&mut self, flow: u16, direction: DirectionId) {
        self.forth.insert((flow, direction));
    }

    /// Frames of a flow that were dropped on the path of an interface.
    pub(in crate::world) fn drops_on(&self, flow: u16, interface: u16) -> PathDrops {
        self.by_path.get(&(flow, interface)).copied().unwrap_or_default()
    }

    /// A frame was dropped or marked.
    pub(in crate::world) fn hear_drop(&mut self, event: &FrameEvent) {
        let Some((flow, subflow)) = flow_and_subflow(event.label) else { return };
        if let Some((_, interface)) = flow_and_interface(event.label) {
            let drops = self.by_path.entry((flow as u16, interface as u16)).or_default();
            match event.what {
                Happening::Dropped(DropCause::QueueFull | DropCause::Discipline) => drops.queue += 1,
                Happening::Dropped(DropCause::Down | DropCause::NoRoute) => drops.down += 1,
                Happening::Dropped(DropCause::Filter) => drops.filter += 1,
                Happening::Dropped(DropCause::Chance | DropCause::Retries | DropCause::Corrupted) => {
                    drops.random += 1;
                }
                Happening::Dropped(DropCause::TooLong) | Happening::Marked => {}
            }
        }
        // A lost or late acknowledgement makes no window smaller, unless so many are lost that the sender takes its data for lost.
        if !self.forth.contains(&(flow as u16, event.direction)) {
            if matches!(event.what, Happening::Dropped(DropCause::QueueFull | DropCause::Discipline))
                && let Some((flow, interface)) = flow_and_interface(event.label)
            {
                *self.acks.entry((flow as u16, interface as u16)).or_default() += 1;
            }
            return;
        }
        let drops = self.drops.entry((flow as u16, subflow as u8)).or_default();
        match event.what {
            Happening::Marked => drops.queue += 1,
            Happening::Dropped(DropCause::QueueFull | DropCause::Discipline) => {
                drops.queue += 1;
                drops.unsent += u64::from(event.bytes);
            }
            Happening::Dropped(DropCause::Down | DropCause::NoRoute) => {
                drops.down += 1;
                drops.unsent += u64::from(event.bytes);
            }
            Happening::Dropped(DropCause::Filter) => {
                drops.filter += 1;
                drops.unsent += u64::from(event.bytes);
            }
            Happening::Dropped(DropCause::Chance | DropCause::Retries | DropCause::Corrupted) => {
                drops.random += 1;
            }
            // A packet that is too long is an answer of the network, and sent again in parts.
            Happening::Dropped(DropCause::TooLong) => drops.unsent += u64::from(event.bytes),
        }
    }
}
