//! Boxes that drop SYNs with MP_CAPABLE: which connections open as TCP, so that not each of them has to find that out.
//!
//! Owns when that was found last and how often in a row: Linux's `net.mptcp.blackhole_timeout` (net/mptcp/ctrl.c).

use mptcp_clock::{Duration, Instant};

/// The time doubles so often at most.
const MAX_DOUBLED: u32 = 6;

#[derive(Debug, Default)]
pub(crate) struct Blackhole {
    /// Connections in a row whose SYN was answered once it had no MP_CAPABLE.
    times: u32,
    last: Instant,
}

impl Blackhole {
    /// A SYN without MP_CAPABLE was answered, after others with it were not.
    pub(crate) fn note(&mut self, now: Instant) {
        self.times = self.times.saturating_add(1);
        self.last = now;
    }

    /// MP_CAPABLE was answered.
    pub(crate) fn forget(&mut self) {
        self.times = 0;
    }

    /// Whether a connection opens as TCP (`mptcp_active_should_disable`).
    pub(crate) fn permit(&self, now: Instant, timeout: Duration) -> bool {
        let doubled = self.times.saturating_sub(1).min(MAX_DOUBLED);
        self.times > 0 && now.since(self.last) < timeout * (1 << doubled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_time_in_a_row_it_holds_for_twice_as_long() {
        let hour = Duration::from_secs(3600);
        let at = |hours: u64| Instant::ZERO + hour * hours;
        let mut hole = Blackhole::default();
        assert!(!hole.permit(at(0), hour));
        hole.note(at(1));
        assert!(hole.permit(at(1), hour) && !hole.permit(at(2), hour));
        hole.note(at(2));
        assert!(hole.permit(at(3), hour) && !hole.permit(at(4), hour));
        (0..20).for_each(|_| hole.note(at(10)));
        assert!(hole.permit(at(73), hour) && !hole.permit(at(74), hour));
        hole.forget();
        assert!(!hole.permit(at(10), hour));
    }
}
