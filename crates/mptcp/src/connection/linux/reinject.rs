//! Reinjection as in Linux (net/mptcp/protocol.c, `__mptcp_retrans` and `__mptcp_retransmit_pending_data`),
//! for simulations of Linux: [`crate::LinuxStack::data_level_timer`].
//!
//! A data-level timeout (no DATA_ACK for the longest RTO) reinjects one fragment. All data in flight is
//! reinjected when a subflow closes or becomes stale: several such timeouts passed without a segment from the
//! peer. Owns these rules and the stale subflows. Never sends a segment: reinjected data passes through the
//! subflows' queues.

use mptcp_clock::{Duration, Instant};

use crate::connection::Connection;
use crate::connection::stream::send_buffer::SubflowMapping;
use crate::linux_stack::{FRAGMENT, MIN_DATA_RTO, STALE_LOSSES};
use crate::subflow::StaleState;
use crate::subflow::backlog::QueuedData;

/// Consecutive data-level timeouts after which their interval grows: timeouts of a silent subflow, or
/// timeouts without a DATA_ACK. A peer that acknowledges only at the TCP level causes the latter.
const LONG_SILENT: u32 = 16;

impl Connection {
    /// Whether all data in flight is being reinjected.
    pub(crate) fn has_linux_reinjection(&self) -> bool {
        self.reinjection.linux_from().is_some()
    }

    /// Starts the reinjection of all data in flight.
    pub(crate) fn reinject_all(&mut self) {
        let buffer = &self.send;
        self.reinjection.set_linux_from((!buffer.nothing_in_flight()).then(|| buffer.una()));
    }

    /// Takes the next data to reinject. `None` if no data is left. `None` also on a path that strips options:
    /// a peer that has fallen back would append the data to its stream (RFC 8684 section 3.7).
    pub(crate) fn next_linux_reinjection(&mut self, id: usize) -> Option<QueuedData> {
        if self.subflows[id].scheduling().options_stripped {
            return None;
        }
        let from = self.reinjection.linux_from()?.max(self.send.una());
        let repeated = self.repeat(id, from);
        let next = repeated.as_ref().map(|waiting| waiting.data + waiting.payload.len() as u64);
        self.reinjection.set_linux_from(next);
        repeated
    }

    /// Copies the chunk that contains `from` for the queue of a subflow.
    pub(crate) fn repeat(&mut self, id: usize, from: u64) -> Option<QueuedData> {
        let length = self.send.chunk_at(from)?.payload().len() as u64;
        let mapping = self.mapping_in_backlog(id, length);
        let chunk = self.send.chunk_at(from)?;
        chunk.map_to(mapping);
        let waiting = QueuedData { data: chunk.start(), payload: chunk.payload().clone(), repeated: true };
        self.data_ack_leads.forget();
        self.reinjection.on_reinjected(length);
        self.subflows[id].record_mut().stats.bytes_reinjected += length;
        Some(waiting)
    }

    /// The mapping of `length` bytes at the end of a subflow's queue.
    pub(crate) fn mapping_in_backlog(&self, id: usize, length: u64) -> SubflowMapping {
        let subflow = &self.subflows[id];
        let end = subflow.sender().board.next + subflow.backlog().bytes() + length;
        SubflowMapping { subflow: self.subflow_id(id), end }
    }

    /// Whether a subflow is stale: it was silent for too many timeouts, and no segment has arrived since
    /// (`mptcp_subflow_active`).
    pub(crate) fn is_stale(&self, id: usize) -> bool {
        let StaleState { heard, stale, .. } = self.subflows[id].scheduling().stale_state;
        stale && heard == self.subflows[id].record().stats.segments_received
    }

    /// The time until the data-level timeout: until the latest timer of a subflow (`mptcp_set_timeout`).
    pub(crate) fn data_level_wait(&self, now: Instant) -> Duration {
        let waiting = self.subflows.iter().filter(|s| s.can_send() && s.scheduling().stale_state.count == 0);
        let latest = waiting.map(|s| s.sender().deadline()).filter(|&at| at != Instant::FAR_FUTURE).max();
        // Linux retries every 200 ms. Here the interval grows after many attempts.
        let silent =
            self.subflows.iter().filter(|s| s.can_send()).map(|s| s.scheduling().stale_state.count).min();
        let rounds = silent.unwrap_or(u32::MAX).max(self.reinjection.timeouts().into());
        let interval = MIN_DATA_RTO * (1 << rounds.saturating_sub(LONG_SILENT).min(9));
        latest.map(|at| at.since(now)).filter(|wait| !wait.is_zero()).unwrap_or(interval)
    }

    /// The number of data-level timeouts since the last DATA_ACK that had a longer interval.
    pub(crate) fn data_level_backoff_rounds(&self) -> u32 {
        u32::from(self.reinjection.timeouts()).saturating_sub(LONG_SILENT)
    }

    /// Handles a data-level timeout: reinjects a fragment on an idle subflow (`mptcp_subflow_get_retrans`),
    /// and updates the stale state of the other subflows.
    pub(crate) fn on_data_level_timer(&mut self) {
        let una = self.send.una();
        self.reinjection.on_timeout(una);
        let (mut regular, mut backup, mut min_timeouts) = (None, None, u32::MAX);
        for id in 0..self.subflows.len() {
            if !self.subflows[id].can_send() {
                continue;
            }
            let subflow = &self.subflows[id];
            if !subflow.sender().is_idle() || !subflow.backlog().is_empty() {
                self.update_stale_state(id);
                min_timeouts = min_timeouts.min(self.subflows[id].scheduling().stale_state.count);
            } else if subflow.addresses().backup || subflow.addresses().peer_backup {
                backup = backup.or(Some(id));
            } else {
                regular = regular.or(Some(id));
            }
        }
        let Some(id) = regular.or(backup.filter(|_| min_timeouts > 1)) else { return };
        let mut from = una;
        let end = (from / FRAGMENT + 1) * FRAGMENT;
        while from < end {
            let Some(waiting) = self.repeat(id, from) else { break };
            from = waiting.data + waiting.payload.len() as u64;
            self.subflows[id].backlog_mut().push(waiting);
        }
    }

    /// Counts a data-level timeout of a subflow with waiting data (`mptcp_pm_subflow_chk_stale`, net/mptcp/pm.c).
    fn update_stale_state(&mut self, id: usize) {
        let heard = self.subflows[id].record().stats.segments_received;
        let stale_state = &mut self.subflows[id].scheduling_mut().stale_state;
        if stale_state.count == 0 {
            *stale_state = StaleState { count: 1, heard, stale: false };
            return;
        }
        if stale_state.heard != heard {
            *stale_state = StaleState::default();
            return;
        }
        stale_state.count = stale_state.count.saturating_add(1).min(255);
        if stale_state.stale || stale_state.count <= STALE_LOSSES {
            return;
        }
        let alternative = (0..self.subflows.len()).any(|other| {
            let subflow = &self.subflows[other];
            other != id
                && subflow.can_send()
                && !self.is_stale(other)
                && subflow.scheduling().stale_state.count < STALE_LOSSES - 1
        });
        if alternative {
            self.subflows[id].scheduling_mut().stale_state.stale = true;
            self.reinject_all();
        }
    }
}
