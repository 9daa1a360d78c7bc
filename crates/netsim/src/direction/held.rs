//! Frames that wait under a discipline, which knows them as packets.
//!
//! Owns the frames and their places. Decides nothing.

use mptcp_clock::Rng;

use crate::frame::{DirectionId, Frame};
use crate::parameters::Parameters;
use crate::queue::{DropTailQueue, Fates, QueueDiscipline};
use crate::trace::Cursor;

#[derive(Debug)]
pub(super) struct Held<P> {
    pub(super) discipline: Box<dyn QueueDiscipline>,
    /// By the place that its packet names.
    frames: Vec<Option<Frame<P>>>,
    free: Vec<u32>,
    pub(super) random: Rng,
    pub(super) fates: Fates,
    /// By which direction the next frame comes.
    pub(super) port: Option<DirectionId>,
    /// Where the line is in its recording, if it has one.
    pub(super) cursor: Option<Cursor>,
}

impl<P> Held<P> {
    /// For a wire that has a discipline or a recording; `None` for one that has neither.
    pub(super) fn of(parameters: &Parameters, random: Rng) -> Option<Box<Self>> {
        let cursor = parameters.trace.clone().map(Cursor::new);
        let discipline = match &parameters.discipline {
            Some(kind) => kind.make(),
            None if cursor.is_some() => Box::new(DropTailQueue::new(parameters.queue)),
            None => return None,
        };
        let (frames, free, fates) = (Vec::new(), Vec::new(), Fates::default());
        Some(Box::new(Self { discipline, frames, free, random, fates, port: None, cursor }))
    }

    /// Frames that wait; the one in service is not among them.
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

    /// All of them, in no order that means anything.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Frame<P>> + '_ {
        self.free.clear();
        self.frames.drain(..).flatten()
    }
}
