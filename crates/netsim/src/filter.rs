//! Filters before the queue of a link, as the pipes of dummynet on a bridge.
//!
//! A filter delays or drops frames of chosen classes only, such as one subflow. It owns the frames that its
//! extra delay holds, and has no rate and no limit.

use std::collections::VecDeque;

use mptcp_clock::{Duration, Instant, Rng};

use crate::frame::Frame;
use crate::loss::{Loss, LossProcess};

/// The frames that a filter matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Labels {
    /// Every frame.
    All,
    /// Frames of these classes: the upper 24 bits of their labels.
    Only(Vec<u32>),
}

impl Labels {
    fn contains(&self, label: u32) -> bool {
        match self {
            Self::All => true,
            Self::Only(classes) => classes.contains(&(label >> 8)),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Pipe<P> {
    labels: Labels,
    delay: Duration,
    loss: Loss,
    process: LossProcess,
    held: VecDeque<(Instant, Frame<P>)>,
    /// Number of the filter in the event queue.
    pub(crate) source: u32,
}

/// The result of a filter for a matching frame.
pub(crate) enum Passage<P> {
    Through(Frame<P>),
    Held,
    Lost(Frame<P>),
}

impl<P> Pipe<P> {
    pub(crate) fn new(labels: Labels, delay: Duration, loss: Loss, stream: Rng, source: u32) -> Self {
        Self { labels, delay, loss, process: LossProcess::new(stream), held: VecDeque::new(), source }
    }

    pub(crate) fn matches(&self, label: u32) -> bool {
        self.labels.contains(label)
    }

    /// Handles a frame at `now`.
    pub(crate) fn take(&mut self, now: Instant, frame: Frame<P>) -> Passage<P> {
        if self.process.takes(&self.loss, now, frame.bytes) {
            Passage::Lost(frame)
        } else if self.delay.is_zero() {
            Passage::Through(frame)
        } else {
            self.held.push_back((now + self.delay, frame));
            Passage::Held
        }
    }

    /// Time at which the next frame is released; [`Instant::FAR_FUTURE`] if none is held.
    pub(crate) fn next_event(&self) -> Instant {
        self.held.front().map_or(Instant::FAR_FUTURE, |(out, _)| *out)
    }

    /// The next frame released at or before `now`.
    pub(crate) fn release(&mut self, now: Instant) -> Option<Frame<P>> {
        if self.next_event() <= now { self.held.pop_front().map(|(_, frame)| frame) } else { None }
    }
}
