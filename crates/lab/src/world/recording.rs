//! Writes the packets of a run to capture files, for Wireshark. `capture` owns the files; this module adds
//! the events of each packet as comments.

use std::path::{Path, PathBuf};

use mptcp::{ConnectionId, InterfaceId, SubflowId};
use mptcp_clock::Instant;

use super::World;
use super::capture::{CaptureError, Captures};
use super::error::RunError;

impl World {
    /// Captures all packets that hosts send or receive from now on in `directory`, in one pcapng file per host
    /// and interface. [`Self::finish_captures`] gives them their final names.
    ///
    /// # Errors
    /// If a file cannot be created.
    pub fn capture(&mut self, directory: &Path) -> Result<(), CaptureError> {
        self.captures = Some(Captures::new(directory, &self.hosts)?);
        Ok(())
    }

    /// Completes the captures. Returns their file names.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn finish_captures(&mut self) -> Result<Vec<PathBuf>, CaptureError> {
        self.captures.as_mut().map_or(Ok(Vec::new()), Captures::finish)
    }

    /// Writes a packet to the captures, if any. Events of its subflow since the previous packet become
    /// comments.
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
