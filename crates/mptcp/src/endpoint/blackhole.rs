//! Detection of middleboxes that drop SYNs with MP_CAPABLE: new connections then use TCP for a while.
//!
//! Owns the time and the number of consecutive detections, as Linux's `net.mptcp.blackhole_timeout`
//! (net/mptcp/ctrl.c). Never changes an open connection.

use mptcp_clock::{Duration, Instant};

/// Maximum number of doublings of the timeout.
const MAX_DOUBLED: u32 = 6;

#[derive(Debug, Default)]
pub(crate) struct Blackhole {
    /// Consecutive connections that were answered only after MP_CAPABLE was dropped from the SYN.
    detections: u32,
    last: Instant,
}

impl Blackhole {
    /// Records a SYN that was answered only without MP_CAPABLE.
    pub(crate) fn on_detected(&mut self, now: Instant) {
        self.detections = self.detections.saturating_add(1);
        self.last = now;
    }

    /// Records an answer to MP_CAPABLE.
    pub(crate) fn on_capable_answered(&mut self) {
        self.detections = 0;
    }

    /// Whether new connections must use TCP: Linux's `mptcp_active_should_disable`. `timeout` doubles with
    /// each consecutive detection.
    pub(crate) fn is_active(&self, now: Instant, timeout: Duration) -> bool {
        let doubled = self.detections.saturating_sub(1).min(MAX_DOUBLED);
        self.detections > 0 && now.since(self.last) < timeout * (1 << doubled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeout_doubles_with_each_consecutive_detection() {
        let hour = Duration::from_secs(3600);
        let at = |hours: u64| Instant::ZERO + hour * hours;
        let mut hole = Blackhole::default();
        assert!(!hole.is_active(at(0), hour));
        hole.on_detected(at(1));
        assert!(hole.is_active(at(1), hour) && !hole.is_active(at(2), hour));
        hole.on_detected(at(2));
        assert!(hole.is_active(at(3), hour) && !hole.is_active(at(4), hour));
        (0..20).for_each(|_| hole.on_detected(at(10)));
        assert!(hole.is_active(at(73), hour) && !hole.is_active(at(74), hour));
        hole.on_capable_answered();
        assert!(!hole.is_active(at(10), hour));
    }
}
