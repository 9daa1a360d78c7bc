//! The receive window as Linux computes it from buffer memory (net/mptcp/protocol.h, `__mptcp_space`;
//! net/ipv4/tcp_output.c, `__tcp_select_window`).
//!
//! Used with [`crate::LinuxStack::buffer_memory`] to simulate Linux, where out-of-order data reduces the
//! window. Owns the size of the memory and its growth. Never stores data: callers pass the number of waiting
//! bytes.

use mptcp_clock::{Duration, Instant};

use crate::linux_stack::{memory_for_window, memory_of, window_of};

/// The initial memory of a tuned buffer: the second value of `tcp_rmem`.
const INITIAL: u64 = 131_072;
/// Segments assumed to be read before the first measurement: `TCP_INIT_CWND` (`mptcp_rcv_space_init`).
const FIRST_SEGMENTS: u64 = 10;

/// Linux's receive window. All sizes are in bytes.
#[derive(Debug)]
pub(crate) struct LinuxWindow {
    /// `sk_rcvbuf`.
    memory: u64,
    /// The maximum of `memory`.
    most: u64,
    /// The longest payload received.
    payload: u64,
    /// The limit of the advertised window. It grows by two segments per segment received (`tcp_grow_window`).
    rcv_ssthresh: u64,
    /// `rcvq_space`: bytes read since `since`, and bytes read in the interval before (`space`).
    copied: u64,
    since: Instant,
    space: u64,
}

impl LinuxWindow {
    /// Creates a window for SO_RCVBUF = `asked` bytes. With `tunes`, `asked` is the maximum of autotuning
    /// (`tcp_rmem`).
    pub(crate) fn new(asked: u64, tunes: bool, mss: u64) -> Self {
        let max_memory = memory_of(asked);
        let memory = if tunes { INITIAL.min(max_memory) } else { max_memory };
        let rcv_ssthresh = window_of(memory, 0);
        Self {
            memory,
            most: max_memory,
            payload: 0,
            rcv_ssthresh,
            copied: 0,
            since: Instant::ZERO,
            space: rcv_ssthresh.min(FIRST_SEGMENTS * mss).max(1),
        }
    }

    /// The window while no data waits.
    pub(crate) fn whole(&self) -> u64 {
        window_of(self.memory, self.payload)
    }

    pub(crate) fn on_data(&mut self, payload: u64, mss: u64) {
        self.payload = self.payload.max(payload);
        self.rcv_ssthresh =
            (self.rcv_ssthresh + 2 * mss).min(self.whole()).max(self.rcv_ssthresh.min(self.whole()));
    }

    /// The window while `waiting` bytes are unread or out of order. Below a sixteenth of the whole window, it
    /// is 0. The window may exceed the range of the window scale (`tcp_select_window`,
    /// net/ipv4/tcp_output.c).
    pub(crate) fn open(&self, waiting: u64) -> u64 {
        let whole = self.whole();
        let free = whole.saturating_sub(waiting);
        if free < whole / 16 { 0 } else { free.min(self.rcv_ssthresh) }
    }

    /// Tunes the buffer after a read of `bytes`. `rtt` is the longest RTT of the subflows
    /// (`mptcp_rcv_space_adjust`, net/mptcp/protocol.c).
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
    fn waiting_data_reduces_the_window() {
        // Values of `ss -tim` on Linux 6.18 with SO_RCVBUF of 6 MiB: initially 6290008, finally 7764594. With 4611584
        // bytes of memory out of order, the sender has a window of 4926976.
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
    fn the_window_may_exceed_the_range_of_the_scale() {
        // SO_RCVBUF of 116 kB has a scale of 1 and space for 146 kB.
        let mut window = LinuxWindow::new(118_784, false, 1448);
        (0..1000).for_each(|_| window.on_data(1424, 1448));
        assert!((146_000..147_000).contains(&window.open(0)), "{}", window.open(0));
    }
}
