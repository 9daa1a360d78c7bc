//! The verdict on a run: whether the emulation was on time, so that its results are accurate.
//!
//! Owns the limits. Lateness is the time by which a packet is written too late. It adds to delays, and a long
//! stall looks like loss to a stack.

use mptcp_clock::Duration;

use crate::driver::Snapshot;

/// Acceptable lateness for any network: the documented accuracy.
const LEAST: Duration = Duration::from_micros(500);
/// Acceptable lateness as a fraction of the minimum RTT: one in this many parts.
const PART: u64 = 20;
/// Factor by which one packet in a thousand may exceed the acceptable lateness.
const SELDOM: u64 = 10;
/// Maximum stall: a quarter of the minimum retransmission timeout of Linux (TCP_RTO_MIN, 200 ms).
const STALL: Duration = Duration::from_millis(50);

impl Snapshot {
    /// The reason why results may be inaccurate, if any. `shortest` is the minimum RTT without queues.
    #[must_use]
    pub fn doubts(&self, shortest: Duration) -> Option<String> {
        let bound = Duration::from_nanos((shortest.as_nanos() / PART).max(LEAST.as_nanos()));
        let seldom = Duration::from_nanos(bound.as_nanos().saturating_mul(SELDOM)).min(STALL);
        let longest = self.lateness.max.max(self.turns.max);
        let (packets, turns) = (self.lateness, self.turns);
        for (what, number, late, bound) in [
            ("packet", 100, packets.p99, bound),
            ("packet", 1000, packets.p999, seldom),
            ("device read", 100, turns.p99, bound),
            ("device read", 1000, turns.p999, seldom),
        ] {
            if late > bound && longest <= STALL {
                let (late, bound) = (ms(late), ms(bound));
                return Some(format!(
                    "1 {what} of {number} was {late} late or more; at most {bound} leaves results unchanged"
                ));
            }
        }
        if longest > STALL {
            return Some(format!(
                "the emulator stalled for {}, and a stack can mistake that for loss",
                ms(longest)
            ));
        }
        (self.refused > 0).then(|| format!("the emulator dropped {} packets for lack of space", self.refused))
    }
}

fn ms(length: Duration) -> String {
    format!("{:.2} ms", length.as_secs_f64() * 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lateness::Spread;

    fn spread(p99: u64, p999: u64, max: u64) -> Spread {
        let [p99, p999, max] = [p99, p999, max].map(Duration::from_micros);
        Spread { count: 1000, p50: p99, p99, p999, max }
    }

    fn late(p99: u64, max: u64) -> Snapshot {
        Snapshot { lateness: spread(p99, p99, max), ..Snapshot::default() }
    }

    #[test]
    fn what_is_late_counts_against_the_round_trip() {
        let millis = Duration::from_millis;
        assert_eq!(late(400, 2000).doubts(millis(0)), None);
        assert_eq!(late(1400, 2000).doubts(millis(40)), None);
        let said = late(1400, 2000).doubts(millis(10)).unwrap_or_default();
        assert!(said.contains("1.40 ms late or more; at most 0.50 ms"), "{said}");
        let said = late(100, 60_000).doubts(millis(10)).unwrap_or_default();
        assert!(said.contains("stalled for 60.00 ms"), "{said}");
        let said = Snapshot { refused: 3, ..late(1, 1) }.doubts(millis(1)).unwrap_or_default();
        assert!(said.contains("3 packets"), "{said}");
        let down = Snapshot { down: 3, ..late(1, 1) };
        assert_eq!(down.doubts(millis(1)), None, "a device that is down receives no packets");
    }

    #[test]
    fn what_was_read_late_counts_as_what_was_written_late() {
        let looked = |p99, p999, max| Snapshot { turns: spread(p99, p999, max), ..late(10, 10) };
        let millis = Duration::from_millis;
        assert_eq!(looked(400, 4000, 40_000).doubts(millis(2)), None);
        let said = looked(600, 600, 600).doubts(millis(2)).unwrap_or_default();
        assert!(said.contains("1 device read of 100 was 0.60 ms late"), "{said}");
        let said = looked(100, 6000, 6000).doubts(millis(2)).unwrap_or_default();
        assert!(said.contains("of 1000 was 6.00 ms late or more; at most 5.00 ms"), "{said}");
        let said = looked(100, 100, 395_000).doubts(millis(2)).unwrap_or_default();
        assert!(said.contains("stalled for 395.00 ms"), "{said}");
    }
}
