//! Reports of senders that the attribution has not handled yet, and counts of dropped and marked frames.
//!
//! Attribution divides the capacity of a path among the causes that used it or left it unused. It needs the
//! limits that senders report, and the drops that links report. Endpoints and links report in the middle of a
//! network call, when their observers cannot access the network. So the senders' reports wait here until the
//! call ends. Drops need no network, so they are counted at once.
//!
//! Owns the queue of reports, the drop counts of the whole run, and the state of full buffers (`buffers`). A
//! note is one report. A hold is the limit that keeps a subflow from sending. The place of a drop is the link
//! direction that dropped the frame.

use std::collections::BTreeMap;

use mptcp::observe::{Event, Record, WindowChange};
use mptcp_clock::Instant;
use netsim::{Cause as DropCause, DirectionId, FrameEvent, FrameEventType};

use super::buffers::Buffers;
pub(in crate::world) use super::buffers::{Full, FullTimes};
pub(super) use super::buffers::{Hold, Key};
use super::cause::Cause;
use crate::classes::{flow_and_interface, flow_and_subflow};
use crate::measurements::PathDrops;

/// A report of a sender.
#[derive(Clone, Copy, Debug)]
pub(super) enum Note {
    /// The limit of a subflow changed.
    Limit(Hold),
    /// The congestion window was reduced after a loss, a mark or a timeout.
    Reduced { by_timeout: bool },
    /// A reduction was undone, because the loss was spurious.
    Undone,
}

/// Numbers of dropped or marked frames of one subflow, by cause.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Drops {
    /// Drops and marks of the queue or its discipline.
    pub(super) queue: u64,
    /// Random loss, drops by a MAC, and corruption.
    pub(super) random: u64,
    /// Drops of a filter.
    pub(super) filter: u64,
    /// Drops of a link that was down.
    pub(super) down: u64,
    /// Drops of a policer.
    pub(super) policed: u64,
    /// Frames longer than the maximum, without an ICMP error.
    pub(super) too_long: u64,
    /// Data that a middlebox dropped or held.
    pub(super) taken: u64,
    /// Acknowledgements dropped by a queue.
    pub(super) acks_queue: u64,
    /// Acknowledgements lost at random.
    pub(super) acks_random: u64,
    /// Acknowledgements dropped by a link that was down.
    pub(super) acks_down: u64,
    /// Bytes dropped before transmission.
    pub(super) unsent: u64,
}

impl Drops {
    /// The drops since `then`.
    pub(super) fn since(self, then: Self) -> Self {
        Self {
            queue: self.queue - then.queue,
            random: self.random - then.random,
            filter: self.filter - then.filter,
            down: self.down - then.down,
            policed: self.policed - then.policed,
            too_long: self.too_long - then.too_long,
            taken: self.taken - then.taken,
            acks_queue: self.acks_queue - then.acks_queue,
            acks_random: self.acks_random - then.acks_random,
            acks_down: self.acks_down - then.acks_down,
            unsent: self.unsent - then.unsent,
        }
    }

    /// The cause of the drop, if this value counts a single frame; `None` for others.
    fn cause(&self) -> Option<Cause> {
        let counts = [
            (self.queue, Cause::QueueOverflow),
            (self.random + self.filter, Cause::Loss),
            (self.down + self.acks_down, Cause::Down),
            (self.policed, Cause::Policer),
            (self.too_long, Cause::PathMtu),
            (self.acks_queue, Cause::AckQueue),
            (self.acks_random, Cause::AckLoss),
        ];
        counts.into_iter().find(|(count, _)| *count > 0).map(|(_, cause)| cause)
    }

    /// A frame was dropped or marked on the path of the acknowledgements.
    fn count_acknowledgement(&mut self, what: FrameEventType) {
        match what {
            FrameEventType::Dropped(DropCause::QueueFull | DropCause::Discipline) => self.acks_queue += 1,
            FrameEventType::Dropped(DropCause::Down | DropCause::NoRoute) => self.acks_down += 1,
            FrameEventType::Dropped(
                DropCause::Chance | DropCause::Retries | DropCause::Corrupted | DropCause::Filter,
            ) => self.acks_random += 1,
            FrameEventType::Dropped(DropCause::TooLong) | FrameEventType::Marked => {}
        }
    }

    /// A frame of `bytes` was dropped or marked on the path of the data.
    fn count_data(&mut self, what: FrameEventType, bytes: u32, hop: Hop) {
        let count = match what {
            FrameEventType::Dropped(DropCause::Discipline) if hop.polices => &mut self.policed,
            FrameEventType::Marked
            | FrameEventType::Dropped(DropCause::QueueFull | DropCause::Discipline) => &mut self.queue,
            FrameEventType::Dropped(DropCause::Down | DropCause::NoRoute) => &mut self.down,
            FrameEventType::Dropped(DropCause::Filter) => &mut self.filter,
            FrameEventType::Dropped(DropCause::Chance | DropCause::Retries | DropCause::Corrupted) => {
                self.random += 1;
                return;
            }
            // A notified sender retransmits the data in smaller packets.
            FrameEventType::Dropped(DropCause::TooLong) if hop.tells => {
                self.unsent += u64::from(bytes);
                return;
            }
            FrameEventType::Dropped(DropCause::TooLong) => &mut self.too_long,
        };
        *count += 1;
        if what != FrameEventType::Marked {
            self.unsent += u64::from(bytes);
        }
    }
}

/// Classification of the drops of a hop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hop {
    /// Whether its queue is a policer.
    pub(super) polices: bool,
    /// Whether senders are notified of packets that are too long.
    pub(super) tells: bool,
}

/// Unhandled reports, and counts over the run.
#[derive(Debug, Default)]
pub(in crate::world) struct Notes {
    notes: Vec<(Key, u16, Note)>,
    buffers: Buffers,
    drops: BTreeMap<Key, Drops>,
    /// By flow and interface of the opening host: drops in both directions over the whole run.
    by_path: BTreeMap<(u16, u16), PathDrops>,
    /// By flow and interface of the opening host: dropped acknowledgements.
    acks: BTreeMap<(u16, u16), Drops>,
    /// By flow: the directions of its data.
    forth: BTreeMap<(u16, DirectionId), Hop>,
    /// By flow and interface: directions of drops, by cause.
    places: BTreeMap<(u16, u16), BTreeMap<(Cause, DirectionId), u64>>,
}

impl Notes {
    /// An event of the subflow of `flow` on `path` at its sending host.
    pub(in crate::world) fn hear(&mut self, flow: u16, path: u16, record: &Record) {
        let key = (flow, record.place.subflow.number() as u8);
        let note = match record.event {
            Event::Limit { limit, .. } => Note::Limit(self.buffers.report(record.at, key, path, limit)),
            Event::Block { limit, .. } => return self.buffers.block(record.at, flow, limit),
            Event::Window { why: WindowChange::Loss | WindowChange::Marks, .. } => {
                Note::Reduced { by_timeout: false }
            }
            // A window of one segment cannot be reduced further, but the timeout has its own cause.
            Event::Timeout { .. } => Note::Reduced { by_timeout: true },
            Event::Spurious { .. } => Note::Undone,
            _ => return,
        };
        self.notes.push((key, path, note));
    }

    /// Whether full buffers block a flow.
    pub(in crate::world) fn is_waiting(&self, flow: u16) -> bool {
        self.buffers.is_waiting(flow)
    }

    /// Updates the full buffers of a flow at `at`.
    pub(in crate::world) fn note_full(&mut self, at: Instant, flow: u16, full: Full) {
        let changed = self.buffers.note_full(at, flow, full);
        self.notes.extend(changed.into_iter().map(|(key, path, hold)| (key, path, Note::Limit(hold))));
    }

    /// Times until `until` for which full buffers blocked the path while their oldest data was on it, and
    /// times for which they blocked the connection.
    pub(in crate::world) fn full_times(
        &self,
        flow: u16,
        path: u16,
        until: Instant,
    ) -> (FullTimes, FullTimes) {
        (self.buffers.of_path(flow, path, until), self.buffers.of_flow(flow, until))
    }

    /// All data of a flow arrived.
    pub(super) fn stop(&mut self, now: Instant, flow: u16) {
        self.buffers.stop(now, flow);
    }

    /// Resets the times of full buffers.
    pub(super) fn count_anew(&mut self, now: Instant, flow: u16) {
        self.buffers.count_anew(now, flow);
    }

    /// Removes and returns the reports since the last call.
    pub(super) fn take(&mut self) -> Vec<(Key, u16, Note)> {
        std::mem::take(&mut self.notes)
    }

    /// Drops of a subflow so far.
    pub(super) fn drops_of(&self, subflow: Key) -> Drops {
        self.drops.get(&subflow).copied().unwrap_or_default()
    }

    /// Drops of a subflow, including acknowledgements at an interface.
    pub(super) fn all_drops_of(&self, subflow: Key, interface: u16) -> Drops {
        let acks = self.acks.get(&(subflow.0, interface)).copied().unwrap_or_default();
        let Drops { acks_queue, acks_random, acks_down, .. } = acks;
        Drops { acks_queue, acks_random, acks_down, ..self.drops_of(subflow) }
    }

    /// Registers a direction of the data of a flow.
    pub(super) fn follow(&mut self, flow: u16, direction: DirectionId, hop: Hop) {
        self.forth.insert((flow, direction), hop);
    }

    /// The direction with most drops of a path for a cause.
    pub(super) fn place_of(&self, flow: u16, interface: u16, cause: Cause) -> Option<DirectionId> {
        let places = self.places.get(&(flow, interface))?;
        let own = places.iter().filter(|((of, _), _)| *of == cause);
        own.max_by_key(|(_, count)| **count).map(|((_, at), _)| *at)
    }

    /// Dropped frames of a flow on the path of an interface.
    pub(in crate::world) fn drops_on(&self, flow: u16, interface: u16) -> PathDrops {
        self.by_path.get(&(flow, interface)).copied().unwrap_or_default()
    }

    /// A middlebox of a direction dropped or held a frame with data.
    pub(super) fn hear_taken(&mut self, label: u32, direction: DirectionId) {
        let Some((flow, subflow)) = flow_and_subflow(label) else { return };
        self.drops.entry((flow as u16, subflow as u8)).or_default().taken += 1;
        if let Some((flow, interface)) = flow_and_interface(label) {
            let places = self.places.entry((flow as u16, interface as u16)).or_default();
            *places.entry((Cause::Middlebox, direction)).or_default() += 1;
        }
    }

    /// A frame was dropped or marked.
    pub(in crate::world) fn hear_drop(&mut self, event: &FrameEvent) {
        let Some((flow, subflow)) = flow_and_subflow(event.label) else { return };
        if let Some((_, interface)) = flow_and_interface(event.label) {
            let drops = self.by_path.entry((flow as u16, interface as u16)).or_default();
            match event.what {
                FrameEventType::Dropped(DropCause::QueueFull | DropCause::Discipline) => drops.queue += 1,
                FrameEventType::Dropped(DropCause::Down | DropCause::NoRoute) => drops.down += 1,
                FrameEventType::Dropped(DropCause::Filter) => drops.filter += 1,
                FrameEventType::Dropped(DropCause::Chance | DropCause::Retries | DropCause::Corrupted) => {
                    drops.random += 1;
                }
                FrameEventType::Dropped(DropCause::TooLong) | FrameEventType::Marked => {}
            }
        }
        let hop = self.forth.get(&(flow as u16, event.direction)).copied();
        let mut one = Drops::default();
        match hop {
            Some(hop) => {
                one.count_data(event.what, event.bytes, hop);
                self.drops.entry((flow as u16, subflow as u8)).or_default().count_data(
                    event.what,
                    event.bytes,
                    hop,
                );
            }
            // A lost or late acknowledgement reduces a window only if the sender declares the acknowledged
            // data lost.
            None => {
                one.count_acknowledgement(event.what);
                if let Some((flow, interface)) = flow_and_interface(event.label) {
                    self.acks
                        .entry((flow as u16, interface as u16))
                        .or_default()
                        .count_acknowledgement(event.what);
                }
            }
        }
        if let (Some(cause), Some((flow, interface))) = (one.cause(), flow_and_interface(event.label)) {
            let places = self.places.entry((flow as u16, interface as u16)).or_default();
            *places.entry((cause, event.direction)).or_default() += 1;
        }
    }
}
