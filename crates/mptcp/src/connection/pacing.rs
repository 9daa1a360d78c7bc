//! When a path may send again, so that what a full window has held back does not leave in one burst.
//!
//! Owns the pace: what the congestion controller asks for, or, where much room has gathered in the window, a little more than
//! the window carries in a round trip, as Linux's internal pacing. What acknowledgements clock is left to them: to spread that
//! too would cost a path its share of a drop-tail queue. Holds back what is sent again on its own subflow only where the
//! controller sets windows and paces by what arrives.

use mptcp_clock::{Duration, Instant};

use super::Connection;

/// Linux's `tcp_pacing_ss_ratio`: in slow start the window doubles in a round trip.
const SLOW_START_RATIO: f64 = 2.0;
/// Linux's `tcp_pacing_ca_ratio`.
const AVOIDANCE_RATIO: f64 = 1.2;
/// Segments for which room may be, and that may leave in a row, before the pace counts: as many as an initial window
/// (RFC 6928).
const BURST: u32 = 10;
/// Segments for which a path that was too fast waits, so that it need not be woken for each.
const WAIT: u32 = 4;

impl Connection {
    /// Whether what is lost has to wait for its subflow's pace, and until when is noted. A tail loss probe does not, nor what
    /// goes first after a timeout: both have waited, and the pace may be one of long ago (as in Linux).
    #[inline]
    pub(super) fn must_not_repeat_yet(&mut self, now: Instant, id: usize) -> bool {
        let until = self.subflows[id].turn().held_until;
        let sender = self.subflows[id].sender();
        let board = &sender.board;
        let urgent = sender.wants_probe() && board.lost == 0 || sender.in_loss() && board.resent == 0;
        let held = sender.is_sampled() && until > now && !urgent;
        if held {
            self.timers.pace = self.timers.pace.min(until);
        }
        held
    }

    /// New data leaves on a path.
    pub(super) fn pace(&mut self, now: Instant, id: usize, bytes: u64) {
        let path = &self.congestion.paths[id];
        let quantum = path.quantum;
        if let Some(rate) = path.pacing {
            let turn = self.subflows[id].turn_mut();
            turn.next_send = turn.next_send.max(now) + Duration::from_secs_f64(bytes as f64 / rate.max(1.0));
            // A quantum may leave in a row, and is waited for as a whole.
            let row = Duration::from_secs_f64(quantum.saturating_sub(bytes / 2) as f64 / rate.max(1.0));
            if turn.next_send >= now + row {
                turn.held_until = turn.next_send;
            }
        } else if let Some(rtt) = path.srtt.filter(|_| self.config.pacing) {
            let room = path.cwnd.saturating_sub(self.subflows[id].sender().in_flight());
            let turn = self.subflows[id].turn_mut();
            if room <= path.mss * u64::from(BURST) {
                turn.next_send = now;
                return;
            }
            let ratio = if path.in_slow_start() { SLOW_START_RATIO } else { AVOIDANCE_RATIO };
            let time = |bytes: u64| rtt.mul_f64(bytes as f64 / (ratio * path.cwnd.max(1) as f64));
            turn.next_send = turn.next_send.max(now) + time(bytes);
            let segment = time(path.mss);
            if turn.next_send > now + segment * u64::from(BURST) {
                turn.held_until = now + segment * u64::from(WAIT);
            }
        }
    }
}
