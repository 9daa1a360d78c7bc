//! The receive window as Linux computes it from the memory of a buffer (net/mptcp/protocol.h, `__mptcp_space`; net/ipv4/tcp_output.c,
//! `__tcp_select_window`).
//!
//! Owns the size of that memory, and how it grows with use. What waits is told; nothing is kept here.

use mptcp_clock::{Duration, Instant};

use crate::linux_stack::{memory_for_window, memory_of, window_of};

/// Memory of a buffer that tunes itself, at the start: the second number of `tcp_rmem`.
const INITIAL: u64 = 131_072;
/// Segments of the first measurement: `TCP_INIT_CWND` (`mptcp_rcv_space_init`).
const FIRST_SEGMENTS: u64 = 10;

#[derive(Debug)]
pub(crate) struct LinuxWindow {
    /// `sk_rcvbuf`.
    memory: u64,
    /// The most that it becomes; what it is, unless it tunes itself.
    most: u64,
    /// The longest payload that has come.
    payload: u64,
    /// No more is offered yet: it grows by two segments with each that comes (`tcp_grow_window`).
    ssthresh: u64,
    /// `rcvq_space`: what was read since when, and in the time before that.
    copied: u64,
    since: Instant,
    space: u64,
}

impl LinuxWindow {
    /// For SO_RCVBUF = `asked`, or for a buffer that tunes itself up to as much memory as that gives, as `tcp_rmem` says it.
    pub(crate) fn new(asked: u64, tunes: bool, mss: u64) -> Self {
        let most = memory_of(asked);
        let memory = if tunes { INITIAL.min(most) } else { most };
        let ssthresh = window_of(memory, 0);
        Self {
            memory,
            most,
            payload: 0,
            ssthresh,
            copied: 0,
            since: Instant::ZERO,
            space: ssthresh.min(FIRST_SEGMENTS * mss).max(1),
        }
    }

    /// The window when nothing waits.
    pub(crate) fn whole(&self) -> u64 {
        window_of(self.memory, self.payload)
    }

    /// A segment has come.
    pub(crate) fn on_data(&mut self, payload: u64, mss: u64) {
        self.payload = self.payload.max(payload);
        self.ssthresh = (self.ssthresh + 2 * mss).min(self.whole()).max(self.ssthresh.min(self.whole()));
    }

    /// The window while so many bytes wait, unread or out of order: as much less, and none below a sixteenth. What is offered may be
    /// more than the window scale can say (`tcp_select_window`, net/ipv4/tcp_output.c), and is said as the stream goes on.
    pub(crate) fn open(&self, waiting: u64) -> u64 {
        let whole = self.whole();
        let free = whole.saturating_sub(waiting);
        if free < whole / 16 { 0 } else { free.min(self.ssthresh) }
    }

    /// The application has read so much; `rtt` is the longest of the subflows (`mptcp_rcv_space_adjust`, net/mptcp/protocol.c).
    pub(crate) fn on_read(&mut self, now: Instant, bytes: u64, rtt: Duration, mss: u64) {
        self.copied += bytes;
        if rtt.is_zero() || now.since(self.since) < rtt {
            return;
        }
        if self.copied > self.space {
            let window = 2 * self.copied + 16 * mss;
            let growth = u128::from(window) * u128::from(self.copied - self.space) / u128::from(self.space);
            let window = window.saturating_add(u64::try_from(2 * growth).unwrap_or(u64::MAX));
            self.memory = memory_for_window(window, self.payload).min(self.most).max(self.memory);
            self.space = self.copied;
        }
        (self.copied, self.since) = (0, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_leaves_less_of_the_window() {
        // `ss -tim` of Linux 6.18 with SO_RCVBUF of 6 MiB: at first 6290008, 7764594 in the end, and while 4611584 bytes of memory
        // were out of order a window of 4926976 at the sender.
        let mut window = LinuxWindow::new(6 << 20, false, 1448);
        assert_eq!(window.open(0), 6 << 20);
        for _ in 0..1000 {
            window.on_data(1424, 1448);
        }
        assert!((7_700_000..7_800_000).contains(&window.open(0)), "{}", window.open(0));
        let early = 4_611_584 / 2304 * 1424;
        assert!(window.open(early).abs_diff(4_926_976) < 50_000, "{}", window.open(early));
        assert_eq!(window.open(7_500_000), 0);
    }

    #[test]
    fn what_is_offered_may_be_more_than_the_scale_can_say() {
        // SO_RCVBUF of 116 kB has a scale of 1, and room for 146 kB.
        let mut window = LinuxWindow::new(118_784, false, 1448);
        (0..1000).for_each(|_| window.on_data(1424, 1448));
        assert!((146_000..147_000).contains(&window.open(0)), "{}", window.open(0));
    }
}
