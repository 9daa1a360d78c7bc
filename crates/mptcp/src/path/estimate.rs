//! The estimates of a path at one moment, and the arrival time of data that is sent then.
//!
//! Times are seconds here, as floating-point numbers: they are added, compared and multiplied with rates.

use mptcp_clock::Duration;

/// Segments of a block of 8 KiB and of a few around it: a loss among so many keeps one block waiting.
const BLOCK: f64 = 10.0;

/// A path at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct PathEstimate {
    /// Base RTT: the smallest sample; zero before the first.
    pub base_rtt: Duration,
    /// Variation of the RTT (RFC 6298's RTTVAR).
    pub rttvar: Duration,
    /// Bottleneck rate, bytes of payload a second. [`PRIOR_RATE`](crate::path::PRIOR_RATE) where nothing was measured.
    pub rate: f64,
    /// Upper bound of the bottleneck rate, bytes of payload a second; infinite while slow start has not found it.
    pub most: f64,
    /// How long a packet waits at the bottleneck behind packets of this path.
    pub own_queue: Duration,
    /// How long it waits behind packets of other flows.
    pub cross_queue: Duration,
    /// How long the oldest data in flight is overdue: zero as long as acknowledgements come when they should.
    pub overdue: Duration,
    /// How much sooner than on this path its data is acknowledged by a DATA_ACK on another path.
    pub lead: Duration,
    /// Probability that a segment is lost, 0 to 1.
    pub loss: f64,
    /// More is in flight than the last loss with a queue left of the window: the next one is near.
    pub is_probing: bool,
}

impl PathEstimate {
    /// Seconds until `length` bytes have arrived that leave behind `ahead` bytes, with the probability `quantile` (0 to 1). Below 0.5 means the mean
    /// without losses.
    #[must_use]
    pub fn arrival(&self, ahead: u64, length: u64, quantile: f64) -> f64 {
        let way = self.base_rtt.as_secs_f64() / 2.0;
        let queue = (self.own_queue + self.cross_queue + self.overdue).as_secs_f64();
        way + queue + (ahead + length) as f64 / self.rate + self.repair(quantile)
    }

    /// Seconds until a DATA_ACK for that is back.
    #[must_use]
    pub fn acknowledgement(&self, ahead: u64, length: u64) -> f64 {
        let way_back = (self.base_rtt / 2).as_secs_f64();
        (self.arrival(ahead, length, 0.0) + way_back - self.lead.as_secs_f64()).max(0.0)
    }

    /// Seconds that a block waits for a lost segment at that quantile. A repair takes two round trips in the mean, one to find the loss and one
    /// for the retransmission, and is taken as exponentially distributed: where a share `h` of the blocks meets a loss, the quantile `q` is
    /// `mean * ln(h / (1 - q))`. It is one mean at least where the next loss is near.
    #[must_use]
    pub fn repair(&self, quantile: f64) -> f64 {
        if quantile <= 0.5 {
            return 0.0;
        }
        let times = (self.loss * BLOCK / (1.0 - quantile)).ln().max(0.0);
        (times * self.mean_repair()).max(self.near_repair())
    }

    /// Seconds that a repair takes where the next loss is near; zero elsewhere.
    #[must_use]
    pub fn near_repair(&self) -> f64 {
        if self.is_probing { self.mean_repair() } else { 0.0 }
    }

    fn mean_repair(&self) -> f64 {
        2.0 * (self.base_rtt + self.own_queue + self.cross_queue).as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A path of 40 ms and 1 MB/s.
    fn path() -> PathEstimate {
        PathEstimate { base_rtt: Duration::from_millis(40), rate: 1e6, most: 1e6, ..PathEstimate::default() }
    }

    fn is(found: f64, expected_ms: f64) -> bool {
        (1e3 * found - expected_ms).abs() < 1e-6
    }

    #[test]
    fn data_arrives_behind_all_that_is_before_it() {
        let mut path = path();
        assert!(is(path.arrival(0, 1_000, 0.0), 21.0));
        assert!(is(path.arrival(9_000, 1_000, 0.0), 30.0));
        path.own_queue = Duration::from_millis(5);
        path.cross_queue = Duration::from_millis(3);
        path.overdue = Duration::from_millis(2);
        assert!(is(path.arrival(0, 1_000, 0.0), 31.0));
    }

    #[test]
    fn a_data_ack_comes_half_of_the_base_rtt_later_and_sooner_by_the_lead() {
        let mut path = path();
        assert!(is(path.acknowledgement(0, 1_000), 41.0));
        path.lead = Duration::from_millis(11);
        assert!(is(path.acknowledgement(0, 1_000), 30.0));
        path.lead = Duration::from_secs(1);
        assert!(is(path.acknowledgement(0, 1_000), 0.0));
    }

    #[test]
    fn a_loss_counts_for_the_tail_if_more_blocks_meet_one_than_the_tail_has() {
        let mut path = path();
        path.loss = 0.001;
        assert!(is(path.repair(0.99), 0.0), "one block in a hundred");
        path.loss = 0.001 * std::f64::consts::E;
        assert!(is(path.repair(0.99), 80.0), "two round trips");
        assert!(is(path.repair(0.5), 0.0), "the mean is without losses");
    }

    #[test]
    fn the_next_loss_is_near_on_a_path_that_probes() {
        let mut path = path();
        (path.is_probing, path.own_queue) = (true, Duration::from_millis(10));
        assert!(is(path.near_repair(), 100.0) && is(path.repair(0.99), 100.0));
        assert!(is(path.repair(0.0), 0.0));
    }
}
