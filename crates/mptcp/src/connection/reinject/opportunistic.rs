//! Opportunistic retransmission (M1) by arrival estimates: data in flight is copied to a second subflow if it
//! arrives sooner there.
//!
//! The unit is a chunk: one segment's data without a DATA_ACK. Its arrival on the subflows that carry it is
//! compared with the arrival of a copy on the available subflow, by the estimates for new data (`path`). A
//! speculative copy is sent before the data is late: on an idle path, where the repair of a loss would take
//! longer. Owns the expected arrivals and the position of the search. Never applies the original rule of M1
//! (`penalization`).

use mptcp_clock::{Duration, Instant};

use crate::connection::Connection;
use crate::connection::stream::send_buffer::{Chunk, carrier};
use crate::mechanisms::OpportunisticRule;
use crate::scheduler::{Candidate, TAIL};
use crate::subflow::ScanPosition;
use crate::subflow::sender::Recovery;

/// Maximum of chunks per search and available subflow. The next search continues after them.
const CHUNKS_PER_SCAN: usize = 64;
/// The minimum time between restarts of the search.
const MIN_SCAN_INTERVAL: Duration = Duration::from_millis(1);
/// A copy must arrive sooner by at least an RTT divided by this number, because arrival estimates have errors
/// of this size. Schedulers use the same number.
const MIN_GAIN_DIVISOR: u64 = 8;
/// Segments acknowledged before a path counts as known: an initial window (RFC 6928).
const KNOWN_PATH_SEGMENTS: u64 = 10;

/// The expected delivery of a chunk by the subflows that carry it.
#[derive(Clone, Copy, Debug)]
struct DeliveryEstimate {
    /// The earliest expected arrival.
    arrival: Instant,
    /// The time after which the chunk counts as lost if it is still unacknowledged.
    loss_deadline: Instant,
    /// The arrival if the chunk is lost, detected and retransmitted. The present time, if the chunk has
    /// arrived or was retransmitted.
    repaired_at: Instant,
}

impl Connection {
    /// The available subflow and the chunk that it should copy. `None` if no copy arrives sooner.
    pub(crate) fn find_opportunistic(
        &mut self,
        now: Instant,
        candidates: &[Candidate],
    ) -> Option<(usize, u64)> {
        let mechanisms = self.config.mechanisms;
        if !mechanisms.opportunistic_retransmission
            || mechanisms.opportunistic_rule == OpportunisticRule::Original
            || candidates.len() < 2
        {
            return None;
        }
        candidates
            .iter()
            .filter(|c| c.is_available)
            .find_map(|c| Some((c.subflow, self.find_opportunistic_on(now, c.subflow)?)))
    }

    /// The start of a chunk that arrives sooner on `fast`: the chunk with the latest expected arrival. While
    /// the writer is blocked, it is the first chunk that arrives later than all chunks before it: other
    /// copies free no space sooner. If no chunk is found, a timer restarts the search when the next chunk is
    /// overdue.
    fn find_opportunistic_on(&mut self, now: Instant, fast: usize) -> Option<u64> {
        if self.subflows[fast].scheduling().options_stripped {
            return None;
        }
        let (path, mss) = (self.estimate(now, fast), self.congestion.paths[fast].mss);
        let arrival_on_fast = now + Duration::from_secs_f64(path.arrival(0, mss, 0.0));
        let srtt = self.congestion.paths[fast].srtt.unwrap_or_default();
        let min_gain = srtt / MIN_GAIN_DIVISOR;
        let sources = self.speculative_sources(now, fast);
        // The search restarts after a part of the RTT, or when a chunk is overdue.
        let ScanPosition { to, at, mut overdue, mut latest } =
            self.subflows[fast].scheduling().reinjection_scan;
        let restarts = now.since(at) >= (srtt / 4).max(MIN_SCAN_INTERVAL) || overdue <= now;
        let (start, at) = if restarts { (0, now) } else { (to, at) };
        let mut searched_to = start.max(self.send.una());
        if restarts {
            (overdue, latest) = (Instant::FAR_FUTURE, now);
        }
        let in_order = self.writer.is_blocked();
        let mut found: Option<(Instant, bool, u64)> = None;
        for chunk in self.send.in_flight_from(searched_to).take(CHUNKS_PER_SCAN) {
            if chunk.carried_by(fast) {
                searched_to = chunk.end();
                continue;
            }
            let DeliveryEstimate { arrival, loss_deadline, repaired_at } = self.estimate_delivery(now, chunk);
            let arrival = if loss_deadline <= now { Instant::FAR_FUTURE } else { arrival };
            let is_copy_useful = chunk.carriers() & !sources == 0 && repaired_at > arrival_on_fast;
            let before = if in_order { latest.max(arrival_on_fast) } else { arrival_on_fast };
            let is_late = arrival > before + min_gain;
            let time = if is_late { arrival } else { repaired_at };
            if (is_late || is_copy_useful) && found.is_none_or(|(last, ..)| time > last) {
                found = Some((time, is_late, chunk.start()));
                if in_order {
                    break;
                }
            }
            (searched_to, latest) = (chunk.end(), latest.max(arrival.min(loss_deadline)));
            overdue = if loss_deadline <= now { overdue } else { overdue.min(loss_deadline) };
        }
        if found.is_some() && !in_order {
            searched_to = start.max(self.send.una());
        }
        self.subflows[fast].scheduling_mut().reinjection_scan =
            ScanPosition { to: searched_to, at, overdue, latest };
        let Some((_, is_late, start)) = found else {
            self.timers.wake_at(overdue);
            return None;
        };
        let length = self.send.chunk_at(start).map_or(0, |chunk| chunk.payload().len() as u64);
        if is_late || self.writer.is_closed() {
            self.reinjection.on_opportunistic(length);
        } else {
            self.reinjection.on_speculative(length);
        }
        Some(start)
    }

    /// The subflows, one bit per slot, whose data `fast` may copy before it is late. None while `fast` has no
    /// spare capacity: new data waits, the subflow is in recovery, or its bandwidth-delay product is in
    /// flight.
    fn speculative_sources(&self, now: Instant, fast: usize) -> u64 {
        let (sender, writer) = (self.subflows[fast].sender(), &self.writer);
        let early = self.config.mechanisms.opportunistic_rule == OpportunisticRule::Speculative;
        if !early || sender.state != Recovery::Open || self.send.unsent() > 0 || writer.is_blocked() {
            return 0;
        }
        let path = self.estimate(now, fast);
        let is_new = sender.board.una < KNOWN_PATH_SEGMENTS * self.congestion.paths[fast].mss;
        if sender.in_flight() as f64 >= path.rate * path.base_rtt.as_secs_f64() && !is_new {
            return 0;
        }
        if writer.is_closed() {
            return u64::MAX;
        }
        // While the stream continues, the delay of its slowest 1% of blocks matters. Copies therefore serve
        // only paths whose losses increase this delay, and must not lengthen a queue.
        if self.congestion.paths[fast].is_cross_queue_standing() {
            return 0;
        }
        let lossy = |&(id, path): &(usize, &crate::congestion::Path)| {
            let interval = path.model.losses.loss_free_bytes(now, path.mss).max(1.0);
            let mut estimate = self.estimate(now, id);
            estimate.loss = (path.mss as f64 / interval).min(1.0);
            path.active && estimate.repair(TAIL) > 0.0 && !path.is_cross_queue_standing()
        };
        let paths = self.congestion.paths.iter().enumerate().filter(lossy);
        paths.fold(0, |bits, (id, _)| bits | carrier(id))
    }

    fn estimate_delivery(&self, now: Instant, chunk: &Chunk) -> DeliveryEstimate {
        let never = Instant::FAR_FUTURE;
        let mut best = DeliveryEstimate { arrival: never, loss_deadline: never, repaired_at: never };
        let mut carriers = chunk.carriers();
        while carriers != 0 {
            let id = carriers.trailing_zeros() as usize;
            carriers &= carriers - 1;
            let Some(subflow) = self.subflows.get(id) else { continue };
            let Some(end) = chunk.end_on(subflow.record().id).filter(|_| !subflow.is_closed()) else {
                continue;
            };
            let (board, path) = (&subflow.sender().board, &self.congestion.paths[id]);
            let wait = path.srtt.unwrap_or_default().max(path.recent_min_rtt());
            let one_way = wait - path.min_rtt.unwrap_or_default() / 2;
            let loss_delay = path.ack_time_bound(2 * path.mss);
            // A retransmission waits for the other lost segments of the subflow.
            let queued_windows = board.lost as f64 / path.cwnd.max(path.mss) as f64;
            let retransmitted = now + one_way + wait.mul_f64(queued_windows);
            let sent = board.outstanding(end);
            let (mut arrival, mut loss_deadline) = match sent {
                // The chunk has arrived.
                None => (now, never),
                Some(sent) if sent.sacked => (now, never),
                Some(sent) if sent.lost && !sent.retransmitted => (retransmitted, never),
                Some(sent) => {
                    // The later of two estimates: from the RTT, and from the data before the chunk. An
                    // overdue chunk is expected after another delay as long as the delay so far.
                    let before = end.saturating_sub(board.una + board.sacked) as f64;
                    let drain = Duration::from_secs_f64(before / path.rate());
                    let overdue = now.since(sent.sent_at + wait);
                    let arrival_delay = drain - path.min_rtt.unwrap_or_default() / 2;
                    let arrival = (sent.sent_at + one_way).max(now + arrival_delay.max(overdue));
                    (arrival, sent.sent_at + loss_delay.max(drain * 2))
                }
            };
            // Data behind a gap is delivered with the gap (RFC 8684 section 3.3.1 maps the subflow's stream).
            match sent.and_then(|_| board.gap_before(end)) {
                Some(gap) if gap.retransmitted => {
                    (arrival, loss_deadline) =
                        (arrival.max(gap.sent_at + one_way), loss_deadline.min(gap.sent_at + loss_delay));
                }
                Some(_) => arrival = arrival.max(retransmitted),
                None => {}
            }
            let is_safe =
                sent.map_or(arrival <= now, |sent| sent.retransmitted || sent.sacked && arrival <= now);
            let repaired_at = if is_safe { now } else { loss_deadline + one_way };
            if (arrival, loss_deadline) < (best.arrival, best.loss_deadline) {
                (best.arrival, best.loss_deadline) = (arrival, loss_deadline);
            }
            best.repaired_at = best.repaired_at.min(repaired_at);
        }
        best
    }
}
