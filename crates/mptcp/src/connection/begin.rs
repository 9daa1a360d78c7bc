//! A subflow begins: it gets a place, shakes hands, carries data.
//!
//! Owns what has to be set at each of these steps; the steps themselves are `handshake`'s and `joins`'.

use mptcp_clock::{Duration, Instant};

use super::Connection;
use crate::congestion::PathState;
use crate::event::EventKind;
use crate::subflow::{Control, Subflow};

/// RFC 6298 section 2.1: wait for the first answer.
pub(super) const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(1);
/// The third ACK of a join does not go again sooner, however short the path is.
pub(super) const JOIN_ACK_PAUSE: Duration = Duration::from_millis(10);

impl Connection {
    pub(super) fn start_handshake(&mut self, now: Instant, id: usize, control: Control) {
        let subflow = &mut self.subflows[id];
        subflow.set_control(Some(control));
        subflow.opening_mut().sent_at = now;
        subflow.record_mut().opened_at = now;
        subflow.opening_mut().attempts = 1;
        subflow.watch_mut().rare.set_opening(now + HANDSHAKE_TIMEOUT);
    }

    /// A synchronised subflow begins to carry data.
    #[cold]
    pub(super) fn activate(&mut self, now: Instant, id: usize) {
        let multipath = !self.negotiation.is_plain();
        self.begin_path_mtu(id);
        let subflow = &self.subflows[id];
        let mss = subflow.payload_size(&self.config, multipath);
        let keepalive = self.config.keepalive;
        let subflow = &mut self.subflows[id];
        subflow.opening_mut().was_open = true;
        subflow.keep_alive(now, keepalive);
        subflow.begin_marks(self.congestion.needs_marks());
        subflow.sender_mut().begin_samples(self.congestion.needs_samples(), id, &mut self.congestion);
        // RFC 5681 section 3.1: one segment after a lost SYN; as Linux, not after one, which RFC 6298 may have sent too early.
        let segments = if subflow.opening().attempts > 2 { 1 } else { self.config.initial_window };
        let path = &mut self.congestion.paths[id];
        path.cwnd = mss * u64::from(segments);
        path.mss = mss;
        path.ssthresh = self.config.initial_ssthresh.map_or(u64::MAX, |ssthresh| ssthresh.max(2 * mss));
        self.congestion.set_active(id, true);
        if self.config.mechanisms.receive_buffer_by_path {
            let paths = self.subflows.iter().filter(|subflow| subflow.is_synchronised());
            self.recv.begin_paths(paths.count() as u64);
        }
        self.fate.pending.note(EventKind::Subflows);
        self.tell_opened(now, id);
        self.timers.adopted();
        self.relieve_stalled();
    }

    /// Gives a subflow a place and its congestion state; returns the place.
    pub(super) fn add_subflow(&mut self, subflow: Subflow) -> usize {
        let mss = subflow.payload_size(&self.config, self.config.multipath);
        let Some(id) = self.subflows.vacant() else {
            self.subflows.push(subflow, &mut self.fate);
            return self.congestion.add_path(mss, self.config.initial_window);
        };
        let past = self.subflow_info(id);
        self.subflows.replace(id, subflow, past, &mut self.fate);
        self.congestion.paths[id] = PathState::new(mss, self.config.initial_window);
        id
    }
}
