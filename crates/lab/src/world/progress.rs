//! The state of a flow while the scenario runs, for programs that step through a run.
//!
//! Owns only the view. A controller outside of the simulation reads it between two calls of [`World::advance`]; the
//! results of a run come from [`World::finish`].

use mptcp::SubflowInfo;
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
            is_finished: app.finished_at.is_some(),
            blocks: &app.blocks,
            subflows: subflows.collect(),
        })
    }
}
