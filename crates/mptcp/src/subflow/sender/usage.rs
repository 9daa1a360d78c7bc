//! Whether a window was used in a round, as Linux counts it (`tcp_cwnd_validate`, net/ipv4/tcp_output.c; `tcp_is_cwnd_limited`,
//! include/net/tcp.h).

use crate::congestion::PathState;

/// The most that was under way in a round.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RoundUse {
    full: bool,
    /// Bytes sent and not acknowledged.
    most: u64,
    /// The round is over when more than this offset is acknowledged.
    end: u64,
}

impl RoundUse {
    /// Data left: so much is sent and not acknowledged, up to `next`, and the window is `full` or not.
    #[inline(never)]
    pub(super) fn note(&mut self, una: u64, next: u64, full: bool) {
        let outstanding = next - una;
        if una >= self.end || full || !self.full && outstanding > self.most {
            *self = Self { full, most: outstanding, end: next };
        }
    }

    pub(super) fn is_used(&self, path: &PathState) -> bool {
        self.full || path.in_slow_start() && path.cwnd < 2 * self.most
    }
}
