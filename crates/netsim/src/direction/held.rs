//! Frames under a discipline, which sees them as packets.
//!
//! Owns the frames and their slots. Makes no decisions.

use mptcp_clock::Rng;

use crate::frame::{DirectionId, Frame};
use crate::parameters::Parameters;
use crate::queue::{DropTailQueue, PacketOutcomes, QueueDiscipline};
use crate::trace::Cursor;

#[derive(Debug)]
pub(super) struct Held<P> {
    pub(super) discipline: Box<dyn QueueDiscipline>,
    /// Frames by the slot in their packet.
    frames: Vec<Option<Frame<P>>>,
    free: Vec<u32>,
    pub(super) random: Rng,
    pub(super) outcomes: PacketOutcomes,
    /// Direction by which the next frame arrives.
    pub(super) port: Option<DirectionId>,
    /// Position in the recording, if there is one.
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
