//! The packets of a run, handed to the captures.

use std::path::{Path, PathBuf};

use mptcp::{ConnectionId, InterfaceId, SubflowId};
use mptcp_clock::Instant;

use super::World;
use super::capture::{CaptureError, Captures};
use super::error::RunError;

impl World {
    /// Writes every packet that hosts send or receive from now on into `directory`, one pcapng for each host and
    /// interface. They get their names by [`Self::finish_captures`].
    ///
    /// # Errors
    /// When a file cannot be made.
    pub fn capture(&mut self, directory: &Path) -> Result<(), CaptureError> {
        self.captures = Some(Captures::new(directory, &self.hosts)?);
        Ok(())
    }

    /// Completes the captures and gives them their names; says where they are.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn finish_captures(&mut self) -> Result<Vec<PathBuf>, CaptureError> {
        self.captures.as_mut().map_or(Ok(Vec::new()), Captures::finish)
    }

    /// Hands a packet to the captures, where there are any. Of one that leaves, what was told of its subflow since the one before
    /// says why.
    #[cold]
    pub(super) fn record(
        &mut self,
        now: Instant,
        at: usize,
        interface: InterfaceId,
        payload: u32,
        whose: Option<(ConnectionId, SubflowId)>,
    ) {
        if let Some(captures) = &mut self.captures {
            let known = self.recorder.as_ref().zip(whose);
            let comments = known.map_or_else(Vec::new, |(recorder, whose)| recorder.take_comments(at, whose));
            captures.record(now, at, interface, self.pool.get(payload), comments);
            self.failure = captures.failure().map(RunError::from).or(self.failure.take());
        }
    }
}
