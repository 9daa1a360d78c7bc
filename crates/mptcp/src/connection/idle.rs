//! Nothing goes now, and then a subflow sends after a silence: its window speaks of a path as it was (RFC 5681 section 4.1). Or it
//! has less to send than its window has room for: its rate says little of the path.
//!
//! Owns what is done when nothing goes, and the rule for the window, which is Linux's: as RFC 2861 section 3.1 has it, the window is halved for
//! each timeout of silence, the threshold remembers most of it.

use mptcp_clock::Instant;

use super::Connection;
use super::limits::Limit;

impl Connection {
    /// Nothing is in flight on a subflow that is about to send new data.
    #[cold]
    pub(super) fn begin_anew(&mut self, now: Instant, id: usize) {
        let sender = self.subflows[id].sender();
        let Some(idle) = sender.last_sent.map(|at| now.since(at)) else { return };
        if self.config.restart_after_idle == Some(true) && !sender.is_sampled() {
            self.restart_after_idle(now, id);
        }
        let sender = self.subflows[id].sender();
        // Draft-ietf-ccwg-bbr section 5.4.1: who works by samples begins anew only where there was less to send than could have been.
        if sender.is_limited() {
            self.congestion.on_restart(id, now, idle);
        }
    }

    /// Nothing more to send now.
    pub(super) fn rest(&mut self, now: Instant, limit: Limit, window_closed: bool) -> Option<usize> {
        self.choice.limits.note(now, limit);
        self.congestion.on_rest();
        if self.congestion.needs_samples() {
            self.note_full_windows();
            self.note_idle_windows(now, limit);
        }
        self.arm(now, window_closed);
        None
    }

    /// All that was written was sent and acknowledged.
    pub(super) fn rest_empty(&mut self, now: Instant) -> Option<usize> {
        let over = self.fate.closed().is_some() || self.congestion.paths.is_empty();
        let limit = if over { Limit::Idle } else { self.writer_limit(self.any_room()) };
        self.rest(now, limit, false);
        if self.send.writer.is_closed() {
            // What a finished stream leaves to TIME-WAIT and to the other direction is no wait for the application.
            self.choice.limits.note(now, Limit::Idle);
        }
        None
    }

    /// Nothing more is to be sent now: tells the subflows whose controller works by the rate at which data arrives, and that
    /// could have sent more.
    #[cold]
    fn note_idle_windows(&mut self, now: Instant, limit: Limit) {
        // The peer may hold early data while all that was written is under way, or while its window is full.
        let holds = limit == Limit::HeadOfLine && self.send.buffer.unsent() == 0;
        if !holds && !matches!(limit, Limit::Application | Limit::SendBuffer | Limit::Scheduler) {
            return;
        }
        for (subflow, path) in self.subflows.iter_mut().zip(&self.congestion.paths) {
            if subflow.turn().held_until <= now {
                subflow.sender_mut().note_idle_window(path);
            }
        }
    }

    fn restart_after_idle(&mut self, now: Instant, id: usize) {
        let sender = self.subflows[id].sender();
        let rto = sender.timeout.after(&self.congestion.paths[id]);
        let Some(silence) = sender.last_sent.map(|at| now.since(at)).filter(|silence| *silence > rto) else {
            return;
        };
        let path = &mut self.congestion.paths[id];
        path.ssthresh = path.ssthresh.max(path.cwnd / 4 * 3);
        let least = (path.mss * u64::from(self.config.initial_window)).min(path.cwnd);
        let mut left = silence - rto;
        while !left.is_zero() && path.cwnd > least {
            path.cwnd /= 2;
            left = left - left.min(rto);
        }
        path.cwnd = path.cwnd.max(least);
    }
}
