//! Notification of an observer when a frame is dropped or marked.
//!
//! Counters lack the time of each drop, which records of a run need. Owns the types of events. Without an
//! observer, a network has no extra cost.

use mptcp_clock::Instant;

use crate::frame::{Cause, DirectionId};

/// A drop or mark of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameEvent {
    /// Time of the event. Links process departures only when the result is needed, so this time may precede
    /// that of the previous event. It is never in the future.
    pub at: Instant,
    /// The direction.
    pub direction: DirectionId,
    /// The label of the frame.
    pub label: u32,
    /// Length of the frame in bytes.
    pub bytes: u32,
    /// The type of the event.
    pub what: FrameEventType,
}

/// The types of frame events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameEventType {
    /// The frame was dropped.
    Dropped(Cause),
    /// A queue marked the frame (RFC 3168).
    Marked,
}

/// A receiver of frame events, which cannot affect the network.
pub trait Observer: std::fmt::Debug + Send + Sync {
    /// Called for each event.
    fn observe(&self, event: &FrameEvent);
}
