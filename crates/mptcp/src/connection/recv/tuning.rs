//! How the receive buffer grows with what the application reads (mechanism M3).

use mptcp_clock::{Duration, Instant};

use super::RecvStream;
use crate::connection::allowance::INITIAL_BUFFER;

impl RecvStream {
    /// There are so many paths now. Plain TCP on each would begin with a buffer of its own; and what a further one has under way is not to
    /// be taken from the first one's, whose window doubles.
    pub(crate) fn begin_paths(&mut self, paths: u64) {
        let Some(tuning) = self.tuning.as_mut().filter(|_| self.linux.is_none()) else { return };
        let more = paths.saturating_sub(tuning.paths);
        tuning.paths += more;
        let wanted = (self.allowance.wanted() + more * INITIAL_BUFFER).min(self.largest_buffer);
        self.buffer = self.allowance.want(wanted);
    }

    /// Mechanism M3: called when the application has read; `rtt` is the longest of all paths.
    pub(crate) fn tune(&mut self, now: Instant, rtt: Duration) {
        let Some(tuning) = &mut self.tuning else { return };
        if rtt.is_zero() || now.since(tuning.since) < rtt {
            return;
        }
        let taken = self.next - self.ready.bytes() - tuning.from;
        if let Some(linux) = &mut self.linux {
            linux.on_read(now, taken, rtt, self.mss);
            tuning.from += taken;
            self.buffer = linux.whole();
            return;
        }
        (tuning.since, tuning.from) = (now, self.next - self.ready.bytes());
        // Twice the rate seen, and room for the next doubling of slow start.
        let wanted = (2 * taken + 16 * self.full_size).min(self.largest_buffer);
        self.buffer = self.allowance.want(wanted.max(self.allowance.wanted()));
    }
}
