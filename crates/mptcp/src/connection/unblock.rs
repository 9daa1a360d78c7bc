//! What is done when the window or the send buffer is full and a subflow has room: the mechanisms M1 and M2 of Raiciu et al.
//! (NSDI 2012, section 4.2), each by the rule that was chosen.

use mptcp_clock::{Duration, Instant};

use super::Connection;
use super::send_buffer::{Chunk, carrier};
use crate::congestion::PenaltyRule;
use crate::mechanisms::OpportunisticRule;
use crate::scheduler::{Candidate, OFTEN};
use crate::subflow::Looked;
use crate::subflow::sender::Recovery;

/// Chunks that M1 looks at in one call for each subflow that has room; it goes on from there in the next.
const LOOKED_AT_ONCE: usize = 64;
/// It does not begin anew more often.
const LOOK_AGAIN: Duration = Duration::from_millis(1);
/// Nothing was found by the last look at the end of the data.
const NOTHING: u64 = u64::MAX;
/// What an answer may take beyond a round trip at least before it is late.
const ANSWERS: Duration = Duration::from_millis(5);
/// While the application writes, by which part of a round trip M1 has to win: what is expected is not known better than that.
const WORTH: u64 = 8;

impl Connection {
    /// M1 and M2: `fast` has room in its congestion window, but the shared window or the send buffer
    /// is full. Returns the chunk that it should carry too.
    pub(super) fn unblock(&mut self, now: Instant, fast: usize, may_penalise: bool) -> Option<u64> {
        let mechanisms = self.config.mechanisms;
        if !mechanisms.opportunistic_retransmission && !mechanisms.penalisation {
            return None;
        }
        let head = self.send.buffer.head()?;
        let (start, length, tried) = (head.start, head.payload.len() as u64, head.carried_by(fast));
        let carriers = head.carriers;
        let slow = (0..self.subflows.len())
            .find(|&id| id != fast && carriers & carrier(id) != 0 && !self.subflows[id].is_closed())?;
        let srtt = |id: usize| self.congestion.paths[id].srtt.unwrap_or(Duration::ZERO);
        let (fast_rtt, slow_rtt) = (srtt(fast), srtt(slow));
        if mechanisms.penalisation && may_penalise {
            self.penalise(now, fast, slow, fast_rtt, slow_rtt);
        }
        let slow_window = self.congestion.paths[slow].cwnd / self.congestion.paths[slow].mss;
        // The guard of the mptcp.org kernel: not worth it when the subflows are alike.
        let worth = slow_window <= 4 || fast_rtt * 4 < slow_rtt;
        let first_rule = mechanisms.opportunistic_rule == OpportunisticRule::Original;
        if !mechanisms.opportunistic_retransmission || !first_rule || tried || !worth {
            return None;
        }
        self.send.opportunistic += length;
        Some(start)
    }

    /// M1 by its later rule, on any subflow that has room: which one, and the chunk that it should carry too.
    pub(super) fn rescue(&mut self, now: Instant, candidates: &[Candidate]) -> Option<(usize, u64)> {
        let mechanisms = self.config.mechanisms;
        if !mechanisms.opportunistic_retransmission
            || mechanisms.opportunistic_rule != OpportunisticRule::Sooner
            || candidates.len() < 2
        {
            return None;
        }
        candidates
            .iter()
            .filter(|c| c.has_room)
            .find_map(|c| Some((c.subflow, self.rescue_on(now, c.subflow)?)))
    }

    /// The first chunk that would come sooner on `fast` than by those that carry it, and that all behind it wait for: until all is
    /// written, what comes no later than something before it frees nothing by coming sooner. Where there is none it is asked again when
    /// the oldest is overdue.
    fn rescue_on(&mut self, now: Instant, fast: usize) -> Option<u64> {
        if self.subflows[fast].turn().optionless {
            return None;
        }
        let closed = self.send.writer.is_closed();
        if closed && self.send.buffer.in_flight_backwards().len() <= LOOKED_AT_ONCE {
            return self.rescue_last(now, fast);
        }
        let round = self.delay_on(fast);
        let comes = round.max(self.queued_on(fast)) - self.way_back(fast);
        // What was on its way is looked at again after a part of a round trip, or when the first of it is overdue.
        let Looked { to, at, mut overdue, mut latest } = self.subflows[fast].turn().rescued;
        let again = now.since(at) >= (round / 4).max(LOOK_AGAIN) || overdue <= now;
        let (from, at) = if again { (0, now) } else { (to, at) };
        let mut looked = from.max(self.send.buffer.una());
        if again {
            (overdue, latest) = (Instant::FAR_FUTURE, now);
        }
        let worth = if closed { Duration::ZERO } else { round / WORTH };
        let found = self.send.buffer.in_flight_from(looked).take(LOOKED_AT_ONCE).find(|chunk| {
            let carried = chunk.carried_by(fast);
            let (due, lost) = self.expected(now, chunk);
            let before = if closed { now + comes } else { latest.max(now + comes) };
            let late = !carried && !chunk.is_left() && (due > before + worth || lost <= now);
            if !late {
                (looked, latest) = (chunk.end(), latest.max(due.min(lost)));
                overdue = if carried { overdue } else { overdue.min(lost) };
            }
            late
        });
        let found = found.map(|chunk| (chunk.start, chunk.payload.len() as u64));
        self.rescued(fast, Looked { to: looked, at, overdue, latest }, found)
    }

    /// Once all is written and the most of it has come: the chunk that would come last, if it would come sooner on `fast`. The end waits for
    /// it.
    #[inline(never)]
    fn rescue_last(&mut self, now: Instant, fast: usize) -> Option<u64> {
        // What was in flight when the last round trip was measured is gone: what is now counts below.
        let round = self.candidate(fast).without_own_queue();
        let Looked { to, at, overdue, .. } = self.subflows[fast].turn().rescued;
        // The same again after a part of a round trip, unless it found something.
        if to == NOTHING && now.since(at) < (round / 4).max(LOOK_AGAIN) && overdue > now {
            self.timers.pace = self.timers.pace.min(overdue);
            return None;
        }
        let comes = now + (round.max(self.queued_on(fast)) - self.way_back(fast));
        let mut overdue = Instant::FAR_FUTURE;
        let mut last: Option<(Instant, u64, u64)> = None;
        for chunk in self.send.buffer.in_flight_backwards().take(LOOKED_AT_ONCE) {
            if chunk.carried_by(fast) || chunk.is_left() {
                continue;
            }
            let (due, lost) = self.expected(now, chunk);
            // Who counts as lost comes when that is found, and nobody knows when.
            let due = if lost <= now { Instant::FAR_FUTURE } else { due };
            if due <= comes {
                overdue = overdue.min(lost);
            } else if last.is_none_or(|(latest, ..)| due > latest) {
                last = Some((due, chunk.start, chunk.payload.len() as u64));
            }
        }
        let found = last.map(|(_, start, length)| (start, length));
        let to = if found.is_some() { 0 } else { NOTHING };
        self.rescued(fast, Looked { to, at: now, overdue, latest: now }, found)
    }

    /// Notes what was found for a subflow, its first byte and its length, or when to look again.
    fn rescued(&mut self, fast: usize, looked: Looked, found: Option<(u64, u64)>) -> Option<u64> {
        self.subflows[fast].turn_mut().rescued = looked;
        let Some((start, length)) = found else {
            self.timers.pace = self.timers.pace.min(looked.overdue);
            return None;
        };
        self.send.opportunistic += length;
        Some(start)
    }

    /// How long an acknowledgement takes for what leaves on a subflow now.
    fn delay_on(&self, id: usize) -> Duration {
        let path = &self.congestion.paths[id];
        path.srtt.or(path.latest_rtt).unwrap_or(Duration::ZERO)
    }

    /// At the end of the data: how long what is in flight on a subflow, and a segment behind it, take to drain there. Where next to
    /// nothing is in flight, a rate that was measured while little was sent says nothing of it.
    fn queued_on(&self, id: usize) -> Duration {
        let (board, path) = (&self.subflows[id].sender().board, &self.congestion.paths[id]);
        if !self.send.writer.is_closed() || board.in_flight() < 2 * path.mss {
            return Duration::ZERO;
        }
        let rate = self.candidate(id).comes_at();
        Duration::from_secs_f64((board.in_flight() + path.mss) as f64 / rate)
    }

    /// At the end of the data: how much sooner it is there than its acknowledgement is here, which nothing waits for any more.
    fn way_back(&self, id: usize) -> Duration {
        if !self.send.writer.is_closed() {
            return Duration::ZERO;
        }
        self.congestion.paths[id].min_rtt.unwrap_or_default() / 2
    }

    /// When a chunk is likely to arrive by the first of the subflows that carry it, and when it counts as lost though
    /// nobody has said so.
    fn expected(&self, now: Instant, chunk: &Chunk) -> (Instant, Instant) {
        let closed = self.send.writer.is_closed();
        let mut best = (Instant::FAR_FUTURE, Instant::FAR_FUTURE);
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
                    // With much before it, it may be queueing still; without progress that does not move.
                    (due, sent.sent_at + overdue().max(drain * 2))
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
        }
        best
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

    /// M2, by the rule that was chosen.
    fn penalise(&mut self, now: Instant, fast: usize, slow: usize, fast_rtt: Duration, slow_rtt: Duration) {
        let rule = self.config.mechanisms.penalty_rule;
        let rate =
            |id: usize, rtt: Duration| self.congestion.paths[id].cwnd as f64 / rtt.as_secs_f64().max(1e-9);
        // Which subflow's last penalty counts, and for how long.
        let (holder, rest, deserved) = match rule {
            PenaltyRule::Later => {
                let calm = self.subflows[slow].sender().state == Recovery::Open;
                (fast, fast_rtt, calm && fast_rtt < slow_rtt)
            }
            PenaltyRule::Original => (slow, slow_rtt, rate(slow, slow_rtt) < rate(fast, fast_rtt)),
        };
        let last = &mut self.subflows[holder].turn_mut().last_penalty;
        if deserved && last.is_none_or(|last| now.since(last) >= rest) {
            *last = Some(now);
            let before = self.congestion.paths[slow].cwnd;
            self.congestion.penalise(slow, rule);
            if self.watch.is_some() {
                self.observe_penalty(now, slow, fast, before);
            }
        }
    }
}
