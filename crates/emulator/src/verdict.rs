//! Whether a run was driven well enough for its numbers to count.
//!
//! Owns the bounds. What is late comes late to the kernels at both ends: it adds to delays, and to a stack a long stall looks like loss.

use mptcp_clock::Duration;

use crate::driver::Snapshot;

/// What a packet may be late whatever the network: the accuracy that is promised.
const LEAST: Duration = Duration::from_micros(500);
/// Parts of the shortest round trip that change nothing.
const PART: u64 = 20;
/// A stall of this length is a quarter of the least retransmission timeout of Linux (TCP_RTO_MIN, 200 ms).
const STALL: Duration = Duration::from_millis(50);

impl Snapshot {
    /// Why its numbers may be other than the network's, if they may; `shortest` is the shortest round trip without queues.
    #[must_use]
    pub fn doubts(&self, shortest: Duration) -> Option<String> {
        let bound = Duration::from_nanos((shortest.as_nanos() / PART).max(LEAST.as_nanos()));
        let longest = self.lateness.max.max(self.turns.max);
        if self.lateness.p99 > bound {
            let (late, bound) = (ms(self.lateness.p99), ms(bound));
            return Some(format!(
                "1 packet of 100 was {late} late or more, and {bound} is what changes nothing"
            ));
        }
        if longest > STALL {
            return Some(format!(
                "the emulator stood still for {}, which looks like loss to a stack",
                ms(longest)
            ));
        }
        (self.refused > 0).then(|| format!("{} packets found no room in the emulator", self.refused))
    }
}

fn ms(length: Duration) -> String {
    format!("{:.2} ms", length.as_secs_f64() * 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lateness::Spread;

    fn late(p99: u64, max: u64) -> Snapshot {
        let [p99, max] = [p99, max].map(Duration::from_micros);
        Snapshot { lateness: Spread { count: 1000, p50: p99, p99, max }, ..Snapshot::default() }
    }

    #[test]
    fn what_is_late_counts_against_the_round_trip() {
        let millis = Duration::from_millis;
        assert_eq!(late(400, 2000).doubts(millis(0)), None);
        assert_eq!(late(1400, 2000).doubts(millis(40)), None);
        let said = late(1400, 2000).doubts(millis(10)).unwrap_or_default();
        assert!(said.contains("1.40 ms late or more, and 0.50 ms"), "{said}");
        let said = late(100, 60_000).doubts(millis(10)).unwrap_or_default();
        assert!(said.contains("stood still for 60.00 ms"), "{said}");
        let said = Snapshot { refused: 3, ..late(1, 1) }.doubts(millis(1)).unwrap_or_default();
        assert!(said.contains("3 packets"), "{said}");
    }
}
