//! Which subflows could carry data now, and how much of it in one segment.
//!
//! Owns what holds a subflow back: its window, its pace, its interface's queue, probation, too much that is under way.

use mptcp_clock::Instant;

use super::Connection;
use crate::congestion::{Departure, PathState};
use crate::ids::SubflowId;
use crate::memory::most_segments;
use crate::scheduler::Candidate;
use crate::subflow::{Probation, Subflow};

impl Connection {
    /// How much new data goes in one segment: one frame's, or as many whole frames as the device cuts and
    /// the windows have room for.
    pub(super) fn segment_size(&self, id: usize, mss: u64) -> u64 {
        let unsent = self.send.buffer.unsent();
        let largest = self.subflows[id].agreed().gso_max;
        // The first data may carry the keys, which are for one frame.
        let settled = self.negotiation.confirmed() || self.negotiation.is_plain();
        if unsent <= mss || largest <= mss || !settled || self.negotiation.infinite_from().is_some() {
            return unsent.min(mss);
        }
        let cwnd = self.congestion.paths[id].cwnd;
        let room = cwnd.saturating_sub(self.subflows[id].sender().in_flight());
        let open = self.send.buffer.window_room();
        let most = largest.min(room).min(open);
        if unsent <= most && !self.config.nagle { unsent } else { (most.min(unsent) / mss).max(1) * mss }
    }

    /// Room in the window that new data waits for: a frame's, or on a device that cuts segments a quarter
    /// of the window, so that a few large segments are under way and not many small ones.
    fn wanted_room(&self, subflow: &Subflow, path: &PathState) -> u64 {
        let large = subflow.agreed().gso_max.min(path.cwnd / 4).min(self.send.buffer.unsent());
        large.max(path.mss)
    }

    /// Whether any congestion window has room.
    pub(super) fn any_room(&self) -> bool {
        let windows = self.subflows.iter().zip(&self.congestion.paths);
        windows
            .filter(|(subflow, _)| subflow.can_send())
            .any(|(s, path)| s.sender().in_flight() + path.mss <= path.cwnd)
    }

    /// The subflows that may carry data. Backups only when nothing else works, and those on probation; those in
    /// timeout not at all, unless there is no other.
    pub(super) fn find_candidates(&mut self, now: Instant, found: &mut Vec<Candidate>) {
        found.clear();
        self.end_probations(now);
        let crowded = self.is_crowded();
        // Backup or not, then on probation or not, then in timeout or not: the first kind that exists is used.
        let mut best = u8::MAX;
        for (id, (subflow, path)) in self.subflows.iter().zip(&self.congestion.paths).enumerate() {
            if !subflow.can_send() {
                continue;
            }
            let backup = subflow.ends().peer_backup || subflow.ends().backup;
            let probation = subflow.turn().probation.is_some();
            let kind = 4 * u8::from(subflow.sender().in_loss()) + 2 * u8::from(probation) + u8::from(backup);
            if kind > best {
                continue;
            }
            if kind < best {
                best = kind;
                found.clear();
            }
            let in_flight = subflow.sender().in_flight();
            let has_room = self.has_room(subflow, path, in_flight) && !crowded;
            let paced = self.paced_until(now, id);
            if let Some(until) = paced {
                self.timers.pace = self.timers.pace.min(until);
            }
            found.push(Candidate {
                subflow: id,
                id: subflow.record().id,
                srtt: path.srtt.unwrap_or_default(),
                rttvar: path.rttvar,
                min_rtt: path.min_rtt.unwrap_or_default(),
                latest_rtt: path.latest_rtt.unwrap_or_default(),
                cwnd: path.cwnd,
                ssthresh: path.ssthresh,
                in_flight,
                local_queue: path.local.bytes,
                delivery_rate: path.delivery.rate(),
                delivered: subflow.sender().board.una,
                mss: path.mss,
                pacing: path.pacing,
                has_room: has_room && paced.is_none(),
                backup,
            });
        }
    }

    /// The same when all that has happened since is that new data went on one of them.
    pub(super) fn refresh_candidates(&mut self, now: Instant, found: &mut [Candidate]) {
        let crowded = self.is_crowded();
        for candidate in found {
            let subflow = &self.subflows[candidate.subflow];
            let path = &self.congestion.paths[candidate.subflow];
            let in_flight = subflow.sender().in_flight();
            let has_room = self.has_room(subflow, path, in_flight) && !crowded;
            let paced = self.paced_until(now, candidate.subflow);
            if let Some(until) = paced {
                self.timers.pace = self.timers.pace.min(until);
            }
            candidate.in_flight = in_flight;
            candidate.local_queue = path.local.bytes;
            candidate.has_room = has_room && paced.is_none();
        }
    }

    /// Whether the window of a subflow and its interface's queue have room.
    fn has_room(&self, subflow: &Subflow, path: &PathState, in_flight: u64) -> bool {
        (in_flight + self.wanted_room(subflow, path) <= path.cwnd || subflow.sender().wants_probe())
            && !self.fills_queue(path)
    }

    /// Whether subflows hold so much that was not acknowledged there that they take no more: in segments, and in bytes beyond
    /// what the send buffer accounts for. Data that has arrived otherwise leaves that buffer, and not the subflow.
    pub(super) fn is_crowded(&self) -> bool {
        let boards = self.subflows.iter().map(|subflow| &subflow.sender().board);
        let (segments, bytes) = boards
            .filter(|board| !board.queue.is_empty())
            .fold((0, 0), |sum, board| (sum.0 + board.queue.len(), sum.1 + (board.next - board.una)));
        let most = 2 * self.config.send_buffer;
        segments >= most_segments(self.config.send_buffer)
            || bytes > most && !(self.choice.scheduler.duplicates() && bytes <= self.most_copied())
    }

    /// Bytes that subflows may hold when each has all data.
    fn most_copied(&self) -> u64 {
        (self.subflows.len() as u64 + 1) * self.config.send_buffer
    }

    /// Looks whether new subflows have waited for long enough.
    pub(super) fn end_probations(&mut self, now: Instant) {
        for subflow in &mut self.subflows {
            match subflow.turn().probation {
                Some(Probation::Until(time)) if time <= now => {
                    subflow.turn_mut().probation = Some(Probation::Acknowledged(self.send.buffer.next()));
                }
                Some(Probation::Acknowledged(offset)) if self.send.buffer.una() > offset => {
                    subflow.turn_mut().probation = None;
                }
                _ => {}
            }
        }
    }

    /// Whether this host itself holds a subflow back.
    pub(super) fn is_held(&self, now: Instant, id: usize) -> bool {
        self.paced_until(now, id).is_some() || self.is_queue_full(id)
    }

    /// Small queues: whether enough of a subflow's packets wait in the interface. Two always may.
    pub(super) fn is_queue_full(&self, id: usize) -> bool {
        self.fills_queue(&self.congestion.paths[id])
    }

    fn fills_queue(&self, path: &PathState) -> bool {
        self.config.small_queues.is_some_and(|limit| path.local.bytes >= limit.max(2 * path.mss))
    }

    /// A packet of a subflow waits in its interface.
    pub(crate) fn note_queued(&mut self, id: usize, bytes: u64) {
        self.congestion.paths[id].local.enter(bytes);
    }

    /// It waits no more; returns whether something may be sent now that could not before.
    pub(crate) fn handle_departed(&mut self, now: Instant, id: SubflowId, departure: Departure) -> bool {
        let Some(id) = self.subflows.slot(id) else { return false };
        let full = self.is_queue_full(id);
        self.congestion.on_departed(id, now, departure);
        full && !self.is_queue_full(id)
    }

    /// Payload that one segment of a subflow can carry, bytes: whole frames that its window has room for.
    pub(super) fn largest_payload(&self, id: usize) -> u64 {
        let path = &self.congestion.paths[id];
        let room = path.cwnd.saturating_sub(self.subflows[id].sender().in_flight());
        let most = self.subflows[id].agreed().gso_max.min(room);
        (most / path.mss).max(1) * path.mss
    }
}
