//! Who is told of frames that are dropped or marked, when it happens.
//!
//! Owns the words. A network that nobody observes spends nothing on it: only what drops or marks a frame looks.

use mptcp_clock::Instant;

use crate::frame::{Cause, DirectionId};

/// What is told of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameEvent {
    /// When. A link is settled when it is next looked at, so that this may lie before what was told last; never after now.
    pub at: Instant,
    /// In which queue, or on which line.
    pub direction: DirectionId,
    /// The frame's label.
    pub label: u32,
    /// Bytes on the wire.
    pub bytes: u32,
    /// What happened to it.
    pub what: Happening,
}

/// What may happen to a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happening {
    /// It never arrives.
    Dropped(Cause),
    /// A queue marked it (RFC 3168).
    Marked,
}

/// Somebody who is told. Nothing that it does comes back.
pub trait Observer: std::fmt::Debug + Send + Sync {
    /// It happened.
    fn observe(&self, event: &FrameEvent);
}
