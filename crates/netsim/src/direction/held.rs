//! The queued frames of a wire with a queue discipline.
//!
//! A discipline orders packets, which have no payload. This file keeps the frame of each packet, in a
//! numbered slot. Makes no decisions.

use mptcp_clock::Rng;

use crate::frame::{DirectionId, Frame};
use crate::parameters::Parameters;
use crate::queue::{DropTailQueue, PacketOutcomes, QueueDiscipline};
use crate::trace::Cursor;

#[derive(Debug)]
pub(super) struct Held<P> {
    pub(super) discipline: Box<dyn QueueDiscipline>,
    /// Frames by slot ([`crate::Packet`] has the number); `None` for free slots.
    frames: Vec<Option<Frame<P>>>,
    free: Vec<u32>,
    pub(super) random: Rng,
    pub(super) outcomes: PacketOutcomes,
    /// Incoming direction of the next frame; `None` for frames of this node, and behind filters and taps.
    pub(super) port: Option<DirectionId>,
    /// Position in the recording of delivery opportunities, if the link replays one.
    pub(super) cursor: Option<Cursor>,
}

impl<P> Held<P> {
    /// The state for a wire with a discipline or a recording; `None` for other wires.
    pub(super) fn of(parameters: &Parameters, random: Rng) -> Option<Box<Self>> {
        let cursor = parameters.trace.clone().map(Cursor::new);
        let discipline = match &parameters.discipline {
            Some(kind) => kind.make(),
            None if cursor.is_some() => Box::new(DropTailQueue::new(parameters.queue)),
            None => return None,
        };
        let (frames, free, outcomes) = (Vec::new(), Vec::new(), PacketOutcomes::default());
        Some(Box::new(Self { discipline, frames, free, random, outcomes, port: None, cursor }))
    }

    /// Number of queued frames, excluding the frame in service.
    pub(super) fn waiting(&self) -> usize {
        self.frames.len() - self.free.len()
    }

    pub(super) fn keep(&mut self, frame: Frame<P>) -> u32 {
        if let Some(place) = self.free.pop() {
            self.frames[place as usize] = Some(frame);
            return place;
        }
        self.frames.push(Some(frame));
        self.frames.len() as u32 - 1
    }

    pub(super) fn release(&mut self, place: u32) -> Option<Frame<P>> {
        let frame = self.frames.get_mut(place as usize)?.take()?;
        self.free.push(place);
        Some(frame)
    }

    /// Removes all frames, in no particular order.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Frame<P>> + '_ {
        self.free.clear();
        self.frames.drain(..).flatten()
    }
}
