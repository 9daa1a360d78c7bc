//! A subflow sends after a silence: its window speaks of a path as it was (RFC 5681 section 4.1).
//!
//! Owns the rule, which is Linux's: as RFC 2861 section 3.1 has it, the window is halved for each timeout of silence, the threshold
//! remembers most of it.

use mptcp_clock::Instant;

use super::Connection;

impl Connection {
    /// Nothing is in flight on a subflow that is about to send new data.
    #[cold]
    pub(super) fn restart_after_idle(&mut self, now: Instant, id: usize) {
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
