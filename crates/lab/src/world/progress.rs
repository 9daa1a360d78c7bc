//! The state of a flow while the scenario runs, for programs that step through a run.
//!
//! Owns only the view. A controller outside of the simulation reads it between two calls of [`World::advance`]; the
//! results of a run come from [`World::finish`].

use mptcp::{Mode, SubflowInfo};
use mptcp_clock::Instant;

use super::World;
use crate::measurements::Block;

/// A subflow of the sending host.
#[derive(Clone, Debug)]
pub struct SubflowProgress<'a> {
    /// Its slot: the index that congestion controllers use.
    pub slot: usize,
    /// Name of the path that it uses.
    pub path: &'a str,
    /// Its state.
    pub info: SubflowInfo,
}

/// The state of a flow.
#[derive(Clone, Debug)]
pub struct FlowProgress<'a> {
    /// Bytes that the application has written.
    pub written: u64,
    /// Bytes that the receiving application has read.
    pub received: u64,
    /// Bytes written but not acknowledged at the data level.
    pub send_queue: u64,
    /// The peer's receive window, bytes; 0 before the connection exists.
    pub peer_window: u64,
    /// Bytes that wait out of order at the data level of the receiver.
    pub out_of_order: u64,
    /// Size of the receive buffer, bytes; 0 before the connection exists.
    pub receive_buffer: u64,
    /// The protocol; `None` before the connection exists.
    pub mode: Option<Mode>,
    /// Why the connection fell back to TCP, if it did.
    pub fell_back: Option<&'static str>,
    /// Whether the receiving application has read everything.
    pub is_finished: bool,
    /// The blocks that were read completely.
    pub blocks: &'a [Block],
    /// Open subflows, in the order of their slots.
    pub subflows: Vec<SubflowProgress<'a>>,
}

impl World {
    /// The state of a flow at `now`, the time until which the run has advanced. `None` if there is no such flow.
    #[must_use]
    pub fn progress(&self, now: Instant, flow: usize) -> Option<FlowProgress<'_>> {
        let app = self.apps.get(flow)?;
        let info = app.sender_info(now, &self.hosts);
        let (send_queue, peer_window) =
            info.as_ref().map_or((0, 0), |info| (info.send_queue, info.peer_window));
        let mode = info.as_ref().map(|info| info.mode);
        let fallback = super::fallback::of(app, &self.hosts, !self.scenario.middleboxes.is_empty());
        let receiver = app.receiver_info(now, &self.hosts);
        let subflows = info.map_or_else(Vec::new, |info| info.subflows);
        let open = subflows.into_iter().enumerate().filter(|(_, subflow)| subflow.closed_by.is_none());
        let subflows = open.map(|(slot, info)| {
            let path = self.sampler.path_of(&self.hosts, app, &info, slot);
            SubflowProgress { slot, path: &self.sampler.path_names()[path], info }
        });
        Some(FlowProgress {
            written: app.written,
            received: app.received,
            send_queue,
            peer_window,
            out_of_order: app.out_of_order(&self.hosts).unwrap_or(0),
            receive_buffer: receiver.map_or(0, |info| info.receive_buffer),
            mode,
            fell_back: fallback.map(|fallback| fallback.reason),
            is_finished: app.finished_at.is_some(),
            blocks: &app.blocks,
            subflows: subflows.collect(),
        })
    }
}
