//! When data under way is likely to be there.
//!
//! Owns the estimate, by what each subflow that carries it has seen. What follows from it is `sooner`'s affair.

use mptcp_clock::{Duration, Instant};

use super::Connection;
use super::send_buffer::Chunk;
use crate::scheduler::OFTEN;

/// What an answer may take beyond a round trip at least before it is late.
const ANSWERS: Duration = Duration::from_millis(5);

/// What is expected of a chunk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected {
    /// When it is likely to arrive by the first of the subflows that carry it.
    pub due: Instant,
    /// When it counts as lost there though nobody has said so.
    pub lost: Instant,
    /// When it would be there if it is lost: found then, and sent once more. Now, where it has arrived or has gone again already.
    pub mended: Instant,
}

impl Connection {
    /// How long an acknowledgement takes for what leaves on a subflow now.
    pub(super) fn delay_on(&self, id: usize) -> Duration {
        let path = &self.congestion.paths[id];
        path.srtt.or(path.latest_rtt).unwrap_or(Duration::ZERO)
    }

    /// At the end of the data: how long what is in flight on a subflow, and a segment behind it, take to drain there. Where next to
    /// nothing is in flight, a rate that was measured while little was sent says nothing of it.
    pub(super) fn queued_on(&self, id: usize) -> Duration {
        let (board, path) = (&self.subflows[id].sender().board, &self.congestion.paths[id]);
        if !self.send.writer.is_closed() || board.in_flight() < 2 * path.mss {
            return Duration::ZERO;
        }
        let rate = self.candidate(id).comes_at();
        Duration::from_secs_f64((board.in_flight() + path.mss) as f64 / rate)
    }

    /// At the end of the data: how much sooner it is there than its acknowledgement is here, which nothing waits for any more.
    pub(super) fn way_back(&self, id: usize) -> Duration {
        if !self.send.writer.is_closed() {
            return Duration::ZERO;
        }
        self.congestion.paths[id].min_rtt.unwrap_or_default() / 2
    }

    /// What is expected of a chunk.
    pub(super) fn expected(&self, now: Instant, chunk: &Chunk) -> Expected {
        let (closed, streams) = (self.send.writer.is_closed(), self.send.writer.streams(now));
        let (mut best, mut mended) = ((Instant::FAR_FUTURE, Instant::FAR_FUTURE), Instant::FAR_FUTURE);
        let mut carriers = chunk.carriers;
        while carriers != 0 {
            let id = carriers.trailing_zeros() as usize;
            carriers &= carriers - 1;
            let Some(subflow) = self.subflows.get(id) else { continue };
            let Some(end) = chunk.end_on(subflow.record().id).filter(|_| !subflow.is_closed()) else {
                continue;
            };
            let (board, path) = (&subflow.sender().board, &self.congestion.paths[id]);
            let (wait, back) = (self.delay_on(id), self.way_back(id));
            let rate = if closed { Some(self.candidate(id).comes_at()) } else { path.delivery.rate() };
            // What waits for its turn among all that is lost there.
            let again = || {
                let turns = board.lost as f64 / path.cwnd.max(path.mss) as f64;
                now + (wait + wait.mul_f64(turns) - back)
            };
            // As much as segments may be out of order by (RFC 8985 section 6.2), where round trips do not vary.
            let late = || (path.rttvar * 4).max(path.min_rtt.unwrap_or_default() / 4);
            let overdue = || (wait + late()).min(self.overdue_soon(now, id));
            let sent = board.outstanding(end);
            let (due, lost) = match sent {
                // It has arrived, and waits for what is before it.
                None => (now, Instant::FAR_FUTURE),
                Some(sent) if sent.sacked => (now, Instant::FAR_FUTURE),
                Some(sent) if sent.lost && !sent.resent => (again(), Instant::FAR_FUTURE),
                Some(sent) => {
                    // As long as the round trip says, or as what is before it takes.
                    let before = end.saturating_sub(board.una + board.sacked) as f64;
                    let drain = rate.map_or(0.0, |rate| before / rate);
                    let drain = Duration::from_secs_f64(drain);
                    let due = (sent.sent_at + (wait - back)).max(now + (drain - back));
                    // A peer may answer it with what makes two full segments (RFC 9293 section 3.8.6.3), which an application that
                    // writes as it goes has not written yet.
                    let two = board.next.min(sent.start + 2 * path.mss);
                    let other = if streams { board.outstanding(two) } else { None };
                    let answered = other.map_or(sent.sent_at, |other| other.sent_at);
                    // With much before it, it may be queueing still; without progress that does not move.
                    (due, (sent.sent_at + drain * 2).max(answered + overdue()))
                }
            };
            // What has come on a subflow but not in order there is not there yet (RFC 8684 section 3.3.1 maps a subflow's stream): it
            // comes with the last gap before it.
            let times = match sent.and_then(|_| board.gap_before(end)) {
                Some(gap) if gap.resent => {
                    (due.max(gap.sent_at + (wait - back)), lost.min(gap.sent_at + overdue()))
                }
                Some(_) => (due.max(again()), lost),
                None => (due, lost),
            };
            best = best.min(times);
            // What is there already, or on its way for a second time, is not likely to be lost.
            let safe = sent.map_or(times.0 <= now, |sent| sent.resent || sent.sacked && times.0 <= now);
            mended = mended.min(if safe { now } else { times.1 + (wait - back) });
        }
        let (due, lost) = best;
        Expected { due, lost, mended }
    }

    /// Where all that an application writes as it goes is under way, and a path loses often: what is not answered in a round trip is likely
    /// lost, though the answer may be delayed. A copy keeps nobody waiting then, and a block waits for less than a probe would take.
    fn overdue_soon(&self, now: Instant, id: usize) -> Duration {
        let path = &self.congestion.paths[id];
        if self.send.buffer.unsent() > 0 || !self.send.writer.streams(now) {
            return Duration::MAX;
        }
        if path.losses.bytes_between(now).is_none_or(|bytes| bytes >= OFTEN * path.mss) {
            return Duration::MAX;
        }
        let round = path.calm_rtt().max(path.min_rtt.unwrap_or_default());
        round + (round / 4).max(ANSWERS)
    }
}
