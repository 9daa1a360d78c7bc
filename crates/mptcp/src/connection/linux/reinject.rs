//! Data that goes again as Linux does it: all that is under way when a subflow is given up, and else a fragment at a time when the
//! data level has waited for long (net/mptcp/protocol.c, `__mptcp_retrans` and `__mptcp_retransmit_pending_data`).
//!
//! Owns how far the first has got, and which subflows are stale. What goes again goes by way of the subflows' queues.

use mptcp_clock::{Duration, Instant};

use crate::connection::Connection;
use crate::connection::stream::send_buffer::SubflowMapping;
use crate::linux_stack::{FRAGMENT, MIN_DATA_RTO, STALE_LOSSES};
use crate::subflow::StaleState;
use crate::subflow::backlog::Waiting;

/// Data-level timeouts in a row after which they are waited for longer: for subflows that are silent, and for a peer that answers
/// on its subflows and acknowledges no data.
const LONG_SILENT: u32 = 16;

impl Connection {
    /// Whether all that is under way goes to the subflows once more.
    pub(crate) fn has_linux_reinjection(&self) -> bool {
        self.reinjection.linux_from().is_some()
    }

    /// All that is under way goes again, from the first byte on, whoever carries it.
    pub(crate) fn reinject_all(&mut self) {
        let buffer = &self.send;
        self.reinjection.set_linux_from((!buffer.nothing_in_flight()).then(|| buffer.una()));
    }

    /// The next piece of what goes again, for the queue of a subflow. Not where options are eaten: a peer that has fallen back
    /// would take it for what follows (RFC 8684 section 3.7).
    pub(crate) fn next_linux_reinjection(&mut self, id: usize) -> Option<Waiting> {
        if self.subflows[id].scheduling().options_stripped {
            return None;
        }
        let from = self.reinjection.linux_from()?.max(self.send.una());
        let repeated = self.repeat(id, from);
        let next = repeated.as_ref().map(|waiting| waiting.data + waiting.payload.len() as u64);
        self.reinjection.set_linux_from(next);
        repeated
    }

    /// The chunk that holds `from`, for the queue of a subflow.
    pub(crate) fn repeat(&mut self, id: usize, from: u64) -> Option<Waiting> {
        let length = self.send.chunk_at(from)?.payload().len() as u64;
        let put = self.place_in_queue(id, length);
        let chunk = self.send.chunk_at(from)?;
        chunk.map_to(put);
        let waiting = Waiting { data: chunk.start(), payload: chunk.payload().clone(), repeated: true };
        self.data_ack_leads.forget();
        self.reinjection.on_reinjected(length);
        self.subflows[id].record_mut().stats.bytes_reinjected += length;
        Some(waiting)
    }

    /// Where so many bytes will stand in a subflow's stream that are the last of its queue.
    pub(crate) fn place_in_queue(&self, id: usize, length: u64) -> SubflowMapping {
        let subflow = &self.subflows[id];
        let end = subflow.sender().board.next + subflow.backlog().bytes() + length;
        SubflowMapping { subflow: self.subflow_id(id), end }
    }

    /// Whether a subflow is passed over: it was found silent too often, and has not been heard since (`mptcp_subflow_active`).
    pub(crate) fn is_stale(&self, id: usize) -> bool {
        let StaleState { heard, stale, .. } = self.subflows[id].scheduling().stale_state;
        stale && heard == self.subflows[id].record().stats.segments_received
    }

    /// How long the data level waits from now: for the latest of the subflows' timers (`mptcp_set_timeout`).
    pub(crate) fn data_level_wait(&self, now: Instant) -> Duration {
        let waiting = self.subflows.iter().filter(|s| s.can_send() && s.scheduling().stale_state.count == 0);
        let latest = waiting.map(|s| s.sender().deadline()).filter(|&at| at != Instant::FAR_FUTURE).max();
        // Linux goes on every 200 ms; where that has brought nothing for long, nothing comes of it.
        let silent =
            self.subflows.iter().filter(|s| s.can_send()).map(|s| s.scheduling().stale_state.count).min();
        let rounds = silent.unwrap_or(u32::MAX).max(self.reinjection.timeouts().into());
        let rest = MIN_DATA_RTO * (1 << rounds.saturating_sub(LONG_SILENT).min(9));
        latest.map(|at| at.since(now)).filter(|wait| !wait.is_zero()).unwrap_or(rest)
    }

    /// How often the data level has waited for longer than it does at first, since data were acknowledged.
    pub(crate) fn late_rounds(&self) -> u32 {
        u32::from(self.reinjection.timeouts()).saturating_sub(LONG_SILENT)
    }

    /// Nothing was acknowledged at the data level for that long: a fragment goes on a subflow that has nothing else to send
    /// (`mptcp_subflow_get_retrans`). The silence of the others is noted.
    pub(crate) fn on_data_level_timer(&mut self) {
        let una = self.send.una();
        self.reinjection.on_timeout(una);
        let (mut pick, mut backup, mut least) = (None, None, u32::MAX);
        for id in 0..self.subflows.len() {
            if !self.subflows[id].can_send() {
                continue;
            }
            let subflow = &self.subflows[id];
            if !subflow.sender().is_idle() || !subflow.backlog().is_empty() {
                self.update_stale_state(id);
                least = least.min(self.subflows[id].scheduling().stale_state.count);
            } else if subflow.addresses().backup || subflow.addresses().peer_backup {
                backup = backup.or(Some(id));
            } else {
                pick = pick.or(Some(id));
            }
        }
        let Some(id) = pick.or(backup.filter(|_| least > 1)) else { return };
        let mut from = una;
        let end = (from / FRAGMENT + 1) * FRAGMENT;
        while from < end {
            let Some(waiting) = self.repeat(id, from) else { break };
            from = waiting.data + waiting.payload.len() as u64;
            self.subflows[id].backlog_mut().push(waiting);
        }
    }

    /// Data waits on a subflow for one more data-level timeout (`mptcp_pm_subflow_chk_stale`, net/mptcp/pm.c).
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
