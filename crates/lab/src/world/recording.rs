//! Records the packets of a run: in capture files for Wireshark, and the first ones for sequence diagrams. `capture` and
//! `segments` own the records; this module adds the events of each captured packet as comments.

use std::path::{Path, PathBuf};

use mptcp::{ConnectionId, InterfaceId, SubflowId};
use mptcp_clock::Instant;

use super::capture::{CaptureError, Captures};
use super::error::RunError;
use super::ports::flow_of_ports;
use super::segments::{SeenSegment, SegmentLog};
use super::{World, host};

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

    /// Captures as [`Self::capture`] does, in memory and in one file, until it has `most` bytes. Keeps the first 256
    /// bytes of each packet.
    ///
    /// # Errors
    /// Never in practice: writing to memory succeeds.
    pub fn capture_in_memory(&mut self, most: usize) -> Result<(), CaptureError> {
        self.captures = Some(Captures::in_memory(&self.hosts, most)?);
        Ok(())
    }

    /// The pcapng file of a capture in memory so far, and whether it has all packets; `None` without a capture.
    #[must_use]
    pub fn captured(&self) -> Option<(&[u8], bool)> {
        self.captures.as_ref().and_then(Captures::bytes)
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

    /// Keeps the first `most` segments that hosts send or receive from now on.
    pub fn keep_segments(&mut self, most: usize) {
        self.segments = Some(Box::new(SegmentLog::new(most)));
    }

    /// The kept segments, by time.
    #[must_use]
    pub fn segments(&self) -> &[SeenSegment] {
        self.segments.as_ref().map_or(&[], |log| log.seen())
    }

    /// Keeps a segment that a host sends (`sent`) or has received.
    #[cold]
    pub(super) fn keep_segment(
        &mut self,
        now: Instant,
        host: usize,
        interface: InterfaceId,
        payload: u32,
        sent: bool,
    ) {
        let Some(log) = self.segments.as_mut().filter(|log| !log.is_full()) else { return };
        let id = log.identify(payload, sent);
        let segment = self.pool.look(payload);
        let app = flow_of_ports(&self.apps, segment);
        let path = app.and_then(|app| {
            let opener = app.from;
            let far = host::interface_of(if sent { segment.destination.ip() } else { segment.source.ip() });
            let at = if host == opener { interface } else { far };
            let name = self.hosts[opener].interface_names.get(at.0 as usize)?;
            self.sampler.path_names().iter().position(|known| known == name)
        });
        let flow = app.map(|app| app.flow);
        let segment = segment.clone();
        log.keep(SeenSegment { id, at: now, host, path, flow, sent, segment });
    }
}
