//! Candidates for the scheduler: which subflows may carry data now.
//!
//! Owns the usability classes (backup, probation after a join, timeout): a class carries data only if no
//! subflow is in a better one. Also owns the local limits of a subflow: congestion window, pacing and small
//! queues. Never chooses among the candidates.

use mptcp_clock::{Duration, Instant};

use crate::congestion::{Departure, Path};
use crate::connection::Connection;
use crate::connection::observe::limits::Limit;
use crate::ids::SubflowId;
use crate::path::PathEstimate;
use crate::scheduler::Candidate;
use crate::subflow::{DSS_SPACE, Probation, Subflow};

/// Ends the probation of a new subflow if its time has passed and later data is acknowledged. `next` and `una` are data
/// offsets.
#[cold]
fn end_probation(subflow: &mut Subflow, now: Instant, next: u64, una: u64) {
    match subflow.scheduling().probation {
        Some(Probation::Until(time)) if time <= now => {
            subflow.scheduling_mut().probation = Some(Probation::Acknowledged(next));
        }
        Some(Probation::Acknowledged(offset)) if una > offset => subflow.scheduling_mut().probation = None,
        _ => {}
    }
}

#[cold]
fn add_candidate(found: &mut Vec<Candidate>) {
    found.push(Candidate::new(0, Duration::ZERO, 0, 0));
}

/// Properties of a subflow that were determined before its candidate is written.
struct CandidateState {
    now: Instant,
    in_flight: u64,
    is_available: bool,
    locally_limited: bool,
    backup: bool,
}

/// Writes the scheduler's view of a subflow into a candidate.
#[inline(always)]
fn update_candidate(
    place: &mut Candidate,
    slot: usize,
    subflow: &Subflow,
    path: &Path,
    known: &CandidateState,
) {
    let board = &subflow.sender().board;
    place.subflow = slot;
    place.id = subflow.record().id;
    place.path = path.estimate(known.now, known.in_flight, board.queue.front().map(|oldest| oldest.sent_at));
    place.srtt = path.srtt.unwrap_or_default();
    place.cwnd = path.cwnd;
    place.ssthresh = path.ssthresh;
    place.in_flight = known.in_flight;
    place.held = board.next - board.una;
    place.local_queue = path.local.bytes;
    place.mss = path.mss;
    place.pacing = path.pacing;
    place.is_available = known.is_available;
    place.locally_limited = known.locally_limited;
    place.backup = known.backup;
}

#[inline]
fn is_backup(subflow: &Subflow) -> bool {
    subflow.addresses().peer_backup | subflow.addresses().backup
}

/// The usability class of a subflow: backup (RFC 8684 section 3.3.8), probation and timeout add 1, 2 and 4. Only the
/// subflows in the lowest class present carry data.
#[inline(always)]
pub(crate) fn usability(subflow: &Subflow) -> u8 {
    let (in_loss, probation) = (subflow.sender().in_loss(), subflow.scheduling().probation.is_some());
    4 * u8::from(in_loss) + 2 * u8::from(probation) + u8::from(is_backup(subflow))
}

impl Connection {
    /// The scheduler's view of a subflow, as if it were available.
    pub(crate) fn candidate(&self, now: Instant, id: usize) -> Candidate {
        let subflow = &self.subflows[id];
        let mut candidate = Candidate::new(id, Duration::ZERO, 0, 0);
        let known = CandidateState {
            now,
            in_flight: subflow.sender().in_flight(),
            is_available: true,
            locally_limited: false,
            backup: is_backup(subflow),
        };
        update_candidate(&mut candidate, id, subflow, &self.congestion.paths[id], &known);
        candidate
    }

    /// The path estimates of a subflow.
    pub(crate) fn estimate(&self, now: Instant, id: usize) -> PathEstimate {
        let board = &self.subflows[id].sender().board;
        let oldest = board.queue.front().map(|oldest| oldest.sent_at);
        self.congestion.paths[id].estimate(now, board.in_flight(), oldest)
    }

    /// Whether a subflow may send a segment now. If pacing blocks it, sets a timer.
    pub(crate) fn may_send_now(&mut self, now: Instant, id: usize) -> bool {
        let permit = SendPermit::of(self);
        let (subflow, path) = (&self.subflows[id], &self.congestion.paths[id]);
        if let Some(until) = permit.paced_until(now, subflow, path) {
            self.timers.wake_at(until);
            return false;
        }
        permit.have_room(subflow, path, subflow.sender().in_flight())
    }

    /// Whether any congestion window has space for a segment.
    pub(crate) fn has_open_window(&self) -> bool {
        let windows = self.subflows.iter().zip(&self.congestion.paths);
        windows
            .filter(|(subflow, _)| subflow.can_send())
            .any(|(s, path)| s.sender().in_flight() + path.mss <= path.cwnd)
    }

    /// Marks subflows with a full congestion window, for controllers that use rate samples.
    #[cold]
    pub(crate) fn note_full_windows(&mut self) {
        let permit = SendPermit::of(self);
        for (subflow, path) in self.subflows.iter_mut().zip(&self.congestion.paths) {
            if !permit.has_window(subflow, path, subflow.sender().in_flight()) {
                subflow.sender_mut().note_full_window();
            }
        }
    }

    /// Makes the candidate list: the subflows of the lowest usability class that can send. Backups and subflows on
    /// probation or in timeout are included only if there is no other.
    pub(crate) fn find_candidates(&mut self, now: Instant) {
        // Entries are reused and overwritten.
        let mut count = 0;
        let permit = SendPermit::of(self);
        let (next, una) = (self.send.next(), self.send.una());
        let tail = !self.writer.is_blocked();
        let (mut segments, mut bytes) = (0, 0);
        let mut best = u8::MAX;
        let mut paths = self.congestion.paths.iter();
        for (slot, subflow) in self.subflows.iter_mut().enumerate() {
            let Some(path) = paths.next() else { break };
            if subflow.scheduling().probation.is_some() {
                end_probation(subflow, now, next, una);
            }
            let board = &subflow.sender().board;
            if !board.queue.is_empty() {
                segments += board.queue.len();
                bytes += board.next - board.una;
            }
            if !subflow.can_send() {
                continue;
            }
            let usability = usability(subflow);
            if usability > best {
                continue;
            }
            if usability < best {
                best = usability;
                count = 0;
            }
            let in_flight = subflow.sender().in_flight();
            let paced = permit.paced_until(now, subflow, path);
            if let Some(until) = paced {
                self.timers.wake_at(until);
            }
            let locally_limited = paced.is_some() || permit.is_queue_full(path);
            let is_available = !locally_limited && permit.have_window(subflow, path, in_flight);
            if count == self.scheduler.candidates().len() {
                add_candidate(self.scheduler.candidates_mut());
            }
            let Some(place) = self.scheduler.candidates_mut().get_mut(count) else { break };
            count += 1;
            let backup = is_backup(subflow);
            update_candidate(
                place,
                slot,
                subflow,
                path,
                &CandidateState { now, in_flight, is_available, locally_limited, backup },
            );
            if tail {
                place.path.loss = path.loss(now);
            }
        }
        self.scheduler.candidates_mut().truncate(count);
        self.scheduler.set_outstanding(segments, bytes);
        if self.has_too_much_outstanding() {
            self.scheduler.block_all();
        }
    }

    /// Refreshes the candidate list after new data on the last chosen subflow, if nothing else has changed.
    /// Returns whether a candidate is available.
    #[inline(always)]
    pub(crate) fn refresh_candidates(&mut self, now: Instant) -> bool {
        let (permit, sent) = (SendPermit::of(self), self.scheduler.last_sent());
        let mut open = false;
        for candidate in self.scheduler.candidates_mut() {
            let subflow = &self.subflows[candidate.subflow];
            let path = &self.congestion.paths[candidate.subflow];
            if candidate.subflow != sent && !permit.depend_on_unsent(subflow, path) {
                open |= candidate.is_available;
                continue;
            }
            let in_flight = subflow.sender().in_flight();
            let paced = permit.paced_until(now, subflow, path);
            if let Some(until) = paced {
                self.timers.wake_at(until);
            }
            candidate.in_flight = in_flight;
            candidate.path.own_queue = path.own_queue(now, in_flight, candidate.path.rate);
            candidate.path.is_probing = path.is_probing(in_flight);
            candidate.held = subflow.sender().board.next - subflow.sender().board.una;
            candidate.local_queue = path.local.bytes;
            candidate.locally_limited = paced.is_some() || permit.is_queue_full(path);
            candidate.is_available =
                !candidate.locally_limited && permit.have_window(subflow, path, in_flight);
            open |= candidate.is_available;
        }
        if self.has_too_much_outstanding() {
            self.scheduler.block_all();
            return false;
        }
        open
    }

    /// The reason why the only subflow cannot send now, or `None` if it can. Needs no candidate list. If
    /// pacing blocks the subflow, sets a timer.
    #[inline(always)]
    pub(crate) fn single_path_limit(&mut self, now: Instant) -> Option<Limit> {
        let permit = SendPermit::of(self);
        let (subflow, path) = self.subflows.first().zip(self.congestion.paths.first())?;
        let board = &subflow.sender().board;
        self.scheduler.set_outstanding(board.queue.len(), board.next - board.una);
        let paced = permit.paced_until(now, subflow, path);
        if let Some(until) = paced {
            self.timers.wake_at(until);
        }
        let is_blocked = paced.is_some() || permit.is_queue_full(path);
        let open = permit.have_window(subflow, path, board.in_flight()) && !self.has_too_much_outstanding();
        match open {
            _ if is_blocked => Some(Limit::LocalQueue),
            true => None,
            false => Some(Limit::CongestionWindow),
        }
    }

    /// Whether the subflows have too many unacknowledged segments or bytes. The send buffer does not count
    /// data that another subflow has delivered, but the first subflow still holds the data for
    /// retransmission.
    #[inline]
    fn has_too_much_outstanding(&self) -> bool {
        let (segments, bytes) = self.scheduler.outstanding();
        let max_bytes = 2 * self.config.send_buffer;
        segments >= self.scheduler.max_segments()
            || bytes > max_bytes && !(self.scheduler.is_redundant() && bytes <= self.max_reinjected())
    }

    /// The maximum of bytes that all subflows hold if each carries all data.
    fn max_reinjected(&self) -> u64 {
        (self.subflows.len() as u64 + 1) * self.config.send_buffer
    }

    /// Whether pacing or a full local queue blocks a subflow.
    #[inline(never)]
    pub(crate) fn is_held(&self, now: Instant, id: usize) -> bool {
        let (subflow, path) = (&self.subflows[id], &self.congestion.paths[id]);
        SendPermit::of(self).paced_until(now, subflow, path).is_some() || self.is_queue_full(id)
    }

    /// Whether pacing or a full local queue blocks any candidate.
    #[inline]
    pub(crate) fn holds_any(&self, now: Instant, candidates: &[Candidate]) -> bool {
        let permit = SendPermit::of(self);
        candidates.iter().any(|candidate| {
            let (subflow, path) =
                (&self.subflows[candidate.subflow], &self.congestion.paths[candidate.subflow]);
            permit.paced_until(now, subflow, path).is_some() || permit.is_queue_full(path)
        })
    }

    /// The reason why no candidate is available.
    pub(crate) fn blocked_limit(&self, now: Instant, candidates: &[Candidate]) -> Limit {
        let is_blocked = candidates.iter().any(|candidate| candidate.locally_limited);
        debug_assert_eq!(is_blocked, self.holds_any(now, candidates), "the candidates are up to date");
        if is_blocked { Limit::LocalQueue } else { Limit::CongestionWindow }
    }

    /// Whether a subflow's bytes in the local queue have reached the limit (small queues).
    pub(crate) fn is_queue_full(&self, id: usize) -> bool {
        SendPermit::of(self).is_queue_full(&self.congestion.paths[id])
    }

    /// Notes that a packet of a subflow entered the local queue.
    pub(crate) fn note_queued(&mut self, id: usize, bytes: u64) {
        self.congestion.paths[id].local.enter(bytes);
    }

    /// Handles the departure of a packet from the local queue. Returns whether that unblocks its subflow.
    pub(crate) fn handle_departed(&mut self, now: Instant, id: SubflowId, departure: Departure) -> bool {
        let Some(id) = self.subflows.slot(id) else { return false };
        let full = self.is_queue_full(id);
        self.congestion.on_departed(id, now, departure);
        full && !self.is_queue_full(id)
    }

    /// The maximum payload of one segment of a subflow, bytes: full frames within its congestion window.
    pub(crate) fn largest_payload(&self, id: usize) -> u64 {
        let path = &self.congestion.paths[id];
        let space = path.cwnd.saturating_sub(self.subflows[id].sender().in_flight());
        let max = self.subflows[id].negotiated().gso_max.min(space);
        (max / path.mss).max(1) * path.mss
    }
}

/// The settings and the state of a connection that limit all of its subflows.
#[derive(Clone, Copy)]
pub(crate) struct SendPermit {
    unsent: u64,
    small_queues: Option<u64>,
    pacing: bool,
    /// Bytes, for each segment in the window, by which the final segment may exceed the window: see
    /// [`Connection::last_allowance`].
    option: u64,
}

impl SendPermit {
    #[inline]
    pub(crate) fn of(connection: &Connection) -> Self {
        Self {
            unsent: connection.send.unsent(),
            small_queues: connection.config.small_queues,
            pacing: connection.config.pacing,
            option: if connection.writer.is_closed() { connection.last_allowance() } else { 0 },
        }
    }

    /// Whether the amount of unsent data may change the availability of a subflow that sent nothing.
    #[inline]
    pub(crate) fn depend_on_unsent(&self, subflow: &Subflow, path: &Path) -> bool {
        subflow.negotiated().gso_max > 0 || self.option > 0 && self.unsent < path.mss
    }

    /// Whether a path's bytes in the local queue have reached the limit (small queues). The limit is at least two
    /// segments.
    #[inline]
    pub(crate) fn is_queue_full(&self, path: &Path) -> bool {
        self.small_queues.is_some_and(|limit| path.local.bytes >= limit.max(2 * path.mss))
    }

    /// Whether the congestion window has space: for one frame, or with segmentation offload for a quarter of the
    /// window. That keeps a few large segments in flight instead of many small ones. A paced path needs space for one
    /// burst only.
    #[inline]
    pub(crate) fn has_window(&self, subflow: &Subflow, path: &Path, in_flight: u64) -> bool {
        let (largest, mss) = (subflow.negotiated().gso_max, path.mss);
        let needed = if largest <= mss {
            mss
        } else {
            max_burst(path, largest.min(path.cwnd / 4).min(self.unsent)).max(mss)
        };
        in_flight + needed <= path.cwnd || self.is_last(path, in_flight)
    }

    /// Whether the remaining data is less than a segment that TCP would have sent within this window. TCP segments
    /// carry more payload, because they have no DSS option.
    #[inline]
    fn is_last(&self, path: &Path, in_flight: u64) -> bool {
        let (remaining, mss) = (self.unsent, path.mss);
        self.option > 0
            && (1..mss).contains(&remaining)
            && in_flight + remaining <= path.cwnd + path.cwnd / mss * self.option
    }

    /// Whether the congestion window has space, or a tail loss probe may exceed it.
    #[inline]
    pub(crate) fn have_window(&self, subflow: &Subflow, path: &Path, in_flight: u64) -> bool {
        self.has_window(subflow, path, in_flight) || subflow.sender().wants_probe()
    }

    /// Whether the congestion window and the local queue have space.
    #[inline]
    pub(crate) fn have_room(&self, subflow: &Subflow, path: &Path, in_flight: u64) -> bool {
        self.have_window(subflow, path, in_flight) && !self.is_queue_full(path)
    }

    /// The time until which pacing blocks a path. `None` if it does not.
    #[inline]
    pub(crate) fn paced_until(&self, now: Instant, subflow: &Subflow, path: &Path) -> Option<Instant> {
        // Without a pacing rate an old deadline is ignored.
        let paces = self.pacing || path.pacing.is_some();
        paces.then(|| subflow.scheduling().blocked_until).filter(|&until| until > now)
    }
}

/// Limits a large segment to the burst size of a paced path.
#[inline]
pub(crate) fn max_burst(path: &Path, large: u64) -> u64 {
    if path.pacing.is_some() { large.min(path.quantum.max(path.mss)) } else { large }
}

impl Connection {
    /// Bytes, for each segment in the congestion window, by which the final segment of a closed stream may
    /// exceed that window. 0 while data other than new data can be sent.
    #[cold]
    fn last_allowance(&self) -> u64 {
        let buffer = &self.send;
        let queues = self.config.linux_stack.subflow_queues;
        let alone = buffer.first_reinjection().is_none() && !self.scheduler.is_redundant() && !queues;
        let fits = buffer.unsent() <= buffer.window_space();
        if alone && fits && !self.negotiation.is_plain() { DSS_SPACE } else { 0 }
    }
}
