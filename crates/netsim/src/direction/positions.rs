//! The frames of a direction at an instant, for programs that draw the network.
//!
//! Reading changes nothing: no frame is settled, so a run with a viewer equals one without. The position of a frame
//! whose departure was not processed yet is computed from its departure time.

use mptcp_clock::{Duration, Instant};

use super::Direction;
use crate::frame::Frame;

/// The position of a frame on a direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Position {
    /// In the queue, behind this number of frames; 0 is the frame in service.
    Queued(usize),
    /// On the way: the part of the propagation delay that has passed, 0 to 1.
    Travelling(f64),
}

impl<P> Direction<P> {
    /// Frames in flight and queued at `now`, in the order of their arrival. Frames that wait in a queue discipline are
    /// missing, because the discipline selects their order later.
    pub(crate) fn frames_at(&self, now: Instant) -> impl Iterator<Item = (Position, &Frame<P>)> {
        let delay = self.parameters.delay;
        let departed = self.frames.iter().skip(self.in_flight).take_while(|(time, _)| *time <= now).count();
        let first_queued = self.in_flight + departed;
        self.frames.iter().enumerate().map(move |(at, (time, frame))| {
            let position = if at < self.in_flight {
                Position::Travelling(1.0 - part(time.since(now), delay))
            } else if at < first_queued {
                Position::Travelling(part(now.since(*time), delay))
            } else {
                Position::Queued(at - first_queued)
            };
            (position, frame)
        })
    }
}

/// `time` as a part of `whole`, 0 to 1.
fn part(time: Duration, whole: Duration) -> f64 {
    if whole.is_zero() { 1.0 } else { (time.as_secs_f64() / whole.as_secs_f64()).min(1.0) }
}
