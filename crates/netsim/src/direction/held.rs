//! Frames that wait under a discipline, which knows them as packets.
//!
//! Owns the frames and their places. Decides nothing.

use mptcp_clock::Rng;

use crate::frame::{DirectionId, Frame};
use crate::queue::{Fates, QueueDiscipline, QueueKind};

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
}

impl<P> Held<P> {
    pub(super) fn new(kind: &QueueKind, random: Rng) -> Self {
        let (frames, free, fates) = (Vec::new(), Vec::new(), Fates::default());
        Self { discipline: kind.make(), frames, free, random, fates, port: None }
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
