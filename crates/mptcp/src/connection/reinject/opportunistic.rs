//! Opportunistic retransmission (M1) by its later rules: data in flight goes on a second subflow too where it arrives sooner that way.
//!
//! Owns when data in flight is expected to arrive, and how far it was looked through. Every chunk is compared by the same estimates
//! as new data is (`path`): its arrival by the subflows that carry it, with the arrival on the subflow that has room. A copy before
//! anything is late costs a segment of a path that has nothing else to do, and is sent where the repair of a loss would
//! arrive later.

use mptcp_clock::{Duration, Instant};

use crate::connection::Connection;
use crate::connection::stream::send_buffer::{Chunk, carrier};
use crate::mechanisms::OpportunisticRule;
use crate::scheduler::{Candidate, TAIL};
use crate::subflow::ScanPosition;
use crate::subflow::sender::Recovery;

/// Chunks that are looked at in one call for each subflow that has room; the next call goes on from there.
const CHUNKS_PER_SCAN: usize = 64;
/// A search does not restart more often.
const MIN_SCAN_INTERVAL: Duration = Duration::from_millis(1);
/// A copy has to arrive sooner by this part of a round trip, as a path for a scheduler: an arrival is not known better.
const MIN_GAIN_DIVISOR: u64 = 8;
/// Segments of a path of which nothing is known yet: an initial window (RFC 6928).
const FIRST: u64 = 10;

/// When a chunk arrives by the subflows that carry it.
#[derive(Clone, Copy, Debug)]
struct DeliveryEstimate {
    /// By the first of them.
    due: Instant,
    /// When it counts as lost there although nothing has reported it.
    lost: Instant,
    /// When it arrives if it is lost: found then, and sent once more. Now, where it has arrived or was retransmitted.
    repaired: Instant,
}

impl Connection {
    /// A subflow that has room, and the chunk that it should carry too.
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

    /// The first chunk that arrives sooner on `fast` and that later ones wait for: while more is written, a chunk that
    /// arrives no later than one before it frees nothing by arriving sooner. If there is none, it is asked again when the oldest is overdue.
    fn find_opportunistic_on(&mut self, now: Instant, fast: usize) -> Option<u64> {
        if self.subflows[fast].scheduling().options_stripped {
            return None;
        }
        let (path, mss) = (self.estimate(now, fast), self.congestion.paths[fast].mss);
        let comes = now + Duration::from_secs_f64(path.arrival(0, mss, 0.0));
        let round = self.congestion.paths[fast].srtt.unwrap_or_default();
        let worth = round / MIN_GAIN_DIVISOR;
        let copies = self.speculative_sources(now, fast);
        // The search restarts after a part of a round trip, or when the first chunk is overdue.
        let ScanPosition { to, at, mut overdue, mut latest } =
            self.subflows[fast].scheduling().reinjection_scan;
        let again = now.since(at) >= (round / 4).max(MIN_SCAN_INTERVAL) || overdue <= now;
        let (from, at) = if again { (0, now) } else { (to, at) };
        let mut looked = from.max(self.send.una());
        if again {
            (overdue, latest) = (Instant::FAR_FUTURE, now);
        }
        let in_order = self.writer.is_blocked();
        let mut found: Option<(Instant, bool, u64)> = None;
        for chunk in self.send.in_flight_from(looked).take(CHUNKS_PER_SCAN) {
            if chunk.carried_by(fast) {
                looked = chunk.end();
                continue;
            }
            let DeliveryEstimate { due, lost, repaired } = self.expected(now, chunk);
            let due = if lost <= now { Instant::FAR_FUTURE } else { due };
            let copy = chunk.carriers() & !copies == 0 && repaired > comes;
            let before = if in_order { latest.max(comes) } else { comes };
            let late = due > before + worth;
            let time = if late { due } else { repaired };
            if (late || copy) && found.is_none_or(|(last, ..)| time > last) {
                found = Some((time, late, chunk.start()));
                if in_order {
                    break;
                }
            }
            (looked, latest) = (chunk.end(), latest.max(due.min(lost)));
            overdue = if lost <= now { overdue } else { overdue.min(lost) };
        }
        if found.is_some() && !in_order {
            looked = from.max(self.send.una());
        }
        self.subflows[fast].scheduling_mut().reinjection_scan =
            ScanPosition { to: looked, at, overdue, latest };
        let Some((_, late, start)) = found else {
            self.timers.wake_at(overdue);
            return None;
        };
        let length = self.send.chunk_at(start).map_or(0, |chunk| chunk.payload().len() as u64);
        if late || self.writer.is_closed() {
            self.reinjection.on_opportunistic(length);
        } else {
            self.reinjection.on_speculative(length);
        }
        Some(start)
    }

    /// The subflows, one bit each, of whose data `fast` may carry a copy before it is late, for it has nothing better to do. A subflow that repairs
    /// its own losses, or whose window is beyond what its path holds, carries nothing that may not be needed.
    fn speculative_sources(&self, now: Instant, fast: usize) -> u64 {
        let (sender, writer) = (self.subflows[fast].sender(), &self.writer);
        let early = self.config.mechanisms.opportunistic_rule == OpportunisticRule::Speculative;
        if !early || sender.state != Recovery::Open || self.send.unsent() > 0 || writer.is_blocked() {
            return 0;
        }
        let path = self.estimate(now, fast);
        let is_new = sender.board.una < FIRST * self.congestion.paths[fast].mss;
        if sender.in_flight() as f64 >= path.rate * path.base_rtt.as_secs_f64() && !is_new {
            return 0;
        }
        if writer.is_closed() {
            return u64::MAX;
        }
        // Of a stream the slowest blocks count: copies of what may be lost more often than they allow, and where no queue is made longer.
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

    /// When a chunk is expected.
    fn expected(&self, now: Instant, chunk: &Chunk) -> DeliveryEstimate {
        let never = Instant::FAR_FUTURE;
        let mut best = DeliveryEstimate { due: never, lost: never, repaired: never };
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
            let way = wait - path.min_rtt.unwrap_or_default() / 2;
            let usual = path.ack_time_bound(2 * path.mss);
            // A retransmission waits for its turn among all lost segments of the subflow.
            let turns = board.lost as f64 / path.cwnd.max(path.mss) as f64;
            let retransmitted = now + way + wait.mul_f64(turns);
            let sent = board.outstanding(end);
            let (mut due, mut lost) = match sent {
                // It has arrived.
                None => (now, never),
                Some(sent) if sent.sacked => (now, never),
                Some(sent) if sent.lost && !sent.retransmitted => (retransmitted, never),
                Some(sent) => {
                    // As long as the RTT says, as what is before it takes, or, where it is late, as long again.
                    let before = end.saturating_sub(board.una + board.sacked) as f64;
                    let drain = Duration::from_secs_f64(before / path.rate());
                    let late = now.since(sent.sent_at + wait);
                    let ahead = drain - path.min_rtt.unwrap_or_default() / 2;
                    let due = (sent.sent_at + way).max(now + ahead.max(late));
                    (due, sent.sent_at + usual.max(drain * 2))
                }
            };
            // Data that arrived out of order on a subflow is delivered with the last gap before it (RFC 8684 section 3.3.1 maps a subflow's stream).
            match sent.and_then(|_| board.gap_before(end)) {
                Some(gap) if gap.retransmitted => {
                    (due, lost) = (due.max(gap.sent_at + way), lost.min(gap.sent_at + usual));
                }
                Some(_) => due = due.max(retransmitted),
                None => {}
            }
            let safe = sent.map_or(due <= now, |sent| sent.retransmitted || sent.sacked && due <= now);
            let repaired = if safe { now } else { lost + way };
            if (due, lost) < (best.due, best.lost) {
                (best.due, best.lost) = (due, lost);
            }
            best.repaired = best.repaired.min(repaired);
        }
        best
    }
}
