//! HyStart and HyStart++: the exit from slow start before a loss, so that the queue does not overflow.
//!
//! Owns the rounds of each path and their delay samples. Sets the growth or ssthresh of a path, but never the
//! window. Works with every congestion control algorithm.

use mptcp_clock::{Duration, Instant};

use crate::path::Path;

/// Exit condition of slow start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SlowStart {
    /// At ssthresh, or after a loss (RFC 5681 section 3.1).
    #[default]
    Standard,
    /// HyStart++ (RFC 9406): a delay increase reduces the growth to a quarter for five rounds. If the
    /// increase disappears in these rounds, normal growth resumes.
    HyStartPlusPlus,
    /// HyStart of Linux's CUBIC (Ha and Rhee, 2011): ends slow start if the delay increases, or if an
    /// acknowledgement train lasts half of the minimum RTT.
    HyStart,
}

/// RFC 9406 section 4.3: the threshold is an eighth of the RTT, within these limits.
const MIN_GROWTH: Duration = Duration::from_millis(4);
const MAX_GROWTH: Duration = Duration::from_millis(16);
/// N_RTT_SAMPLE: number of RTT samples per round.
const SAMPLES: u32 = 8;
/// CSS_ROUNDS.
const CONSERVATIVE_ROUNDS: u32 = 5;
/// L without pacing: maximum growth per acknowledgement, segments.
const MAX_SEGMENTS: u64 = 8;
/// Linux's `hystart_low_window`, segments.
const LOW_WINDOW: u64 = 16;
/// Linux's `hystart_ack_delta_us`: maximum gap within an acknowledgement train.
const TRAIN_GAP: Duration = Duration::from_millis(2);

/// Input of an acknowledgement for the round of a path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Round {
    pub now: Instant,
    /// Sequence number of the first unacknowledged byte.
    pub una: u64,
    /// Sequence number of the next new byte.
    pub next: u64,
    /// RTT sample of the acknowledged data.
    pub rtt: Option<Duration>,
}

/// The round of one path.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SlowStartRound {
    /// The round ends when this sequence number is acknowledged.
    end: u64,
    started: Instant,
    /// Last acknowledgement of the train that started with the round.
    train: Instant,
    samples: u32,
    /// Minimum RTT of this round, and of the previous one.
    min_rtt: Option<Duration>,
    before: Option<Duration>,
    /// Minimum RTT of the round in which HyStart++ detected a delay increase.
    baseline: Duration,
    /// Number of rounds in conservative slow start.
    rounds: u32,
}

impl SlowStart {
    /// Acknowledged bytes by which slow start may increase the window.
    pub(crate) fn countable_bytes(self, state: &Path, bytes: u64) -> u64 {
        match self {
            // RFC 9406 section 4.2: min(N, L * SMSS). Acknowledgement-clocked data is not paced here.
            Self::HyStartPlusPlus if state.ssthresh == u64::MAX => bytes.min(MAX_SEGMENTS * state.mss),
            _ => bytes,
        }
    }

    /// Handles acknowledged data on a path in slow start.
    pub(crate) fn on_ack(self, on_ack: &mut SlowStartRound, state: &mut Path, round: Round) {
        match self {
            Self::Standard => {}
            // RFC 9406 section 4.3: only before the first loss.
            Self::HyStartPlusPlus if state.ssthresh == u64::MAX => on_ack.plus_plus(state, round),
            Self::HyStartPlusPlus => state.conservative = false,
            Self::HyStart => on_ack.linux(state, round),
        }
    }
}

impl SlowStartRound {
    /// Starts a round.
    fn begin(&mut self, round: Round) {
        *self = Self {
            end: round.next,
            started: round.now,
            train: round.now,
            samples: 0,
            before: self.min_rtt,
            min_rtt: None,
            ..*self
        };
    }

    /// Adds an RTT sample. Returns the minimum of the round once there are enough samples.
    fn sample(&mut self, rtt: Option<Duration>) -> Option<Duration> {
        let rtt = rtt?;
        self.min_rtt = Some(self.min_rtt.map_or(rtt, |min_rtt| min_rtt.min(rtt)));
        self.samples += 1;
        self.min_rtt.filter(|_| self.samples >= SAMPLES)
    }

    /// RFC 9406 section 4.2.
    fn plus_plus(&mut self, state: &mut Path, round: Round) {
        if round.una >= self.end {
            self.begin(round);
            self.rounds += u32::from(state.conservative);
            if state.conservative && self.rounds >= CONSERVATIVE_ROUNDS {
                state.conservative = false;
                state.ssthresh = state.cwnd;
                return;
            }
        }
        let Some(min_rtt) = self.sample(round.rtt) else { return };
        if state.conservative {
            // The delay was no queue: resumes normal slow start.
            state.conservative = min_rtt >= self.baseline;
        } else if self.before.is_some_and(|before| min_rtt >= before + growth(before)) {
            state.conservative = true;
            (self.baseline, self.rounds) = (min_rtt, 0);
        }
    }

    fn linux(&mut self, state: &mut Path, round: Round) {
        // Linux ends a round when data beyond the round's end is acknowledged (`hystart_update`,
        // net/ipv4/tcp_cubic.c).
        if round.una > self.end {
            self.begin(round);
        }
        let Some(shortest) = state.min_rtt.filter(|_| state.cwnd >= LOW_WINDOW * state.mss) else { return };
        if round.now.since(self.train) <= TRAIN_GAP {
            self.train = round.now;
            if round.now.since(self.started) > shortest / 2 {
                state.ssthresh = state.cwnd;
                return;
            }
        }
        let min_rtt = self.sample(round.rtt).filter(|_| self.samples > SAMPLES);
        if min_rtt.is_some_and(|min_rtt| min_rtt > shortest + growth(shortest)) {
            state.ssthresh = state.cwnd;
        }
    }
}

fn growth(of: Duration) -> Duration {
    (of / 8).clamp(MIN_GROWTH, MAX_GROWTH)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    fn ms(time: u64) -> Duration {
        Duration::from_millis(time)
    }

    /// A path with a minimum RTT of 100 ms and Linux's HyStart, after `count` acknowledgements that are `gap`
    /// apart and show `rtt`.
    fn round(segments: u32, count: u64, gap: Duration, rtt: Duration) -> Path {
        let mut state = Path::new(MSS, segments);
        state.min_rtt = Some(ms(100));
        let mut on_ack = SlowStartRound::default();
        for at in 0..count {
            let now = Instant::ZERO + ms(1000) + gap * at;
            let round = Round { now, una: 1 + at * MSS, next: 1 + count * MSS, rtt: Some(rtt) };
            SlowStart::HyStart.on_ack(&mut on_ack, &mut state, round);
        }
        state
    }

    #[test]
    fn linux_hystart_ends_slow_start_after_a_delay_increase_of_an_eighth() {
        assert_eq!(round(16, 9, ms(3), ms(112)).ssthresh, u64::MAX);
        assert_eq!(round(16, 8, ms(3), ms(113)).ssthresh, u64::MAX, "too few samples");
        assert_eq!(round(16, 9, ms(3), ms(113)).ssthresh, 16 * MSS);
    }

    #[test]
    fn linux_hystart_ends_slow_start_after_an_ack_train_of_half_an_rtt() {
        assert_eq!(round(16, 51, ms(1), ms(100)).ssthresh, u64::MAX);
        assert_eq!(round(16, 53, ms(1), ms(100)).ssthresh, 16 * MSS);
        assert_eq!(round(16, 53, ms(3), ms(100)).ssthresh, u64::MAX, "no train");
    }

    #[test]
    fn linux_hystart_ends_a_round_after_its_last_byte() {
        let mut state = Path::new(MSS, 16);
        state.min_rtt = Some(ms(100));
        let mut on_ack = SlowStartRound::default();
        let mut ends = |una, next| {
            let round = Round { now: Instant::ZERO, una, next, rtt: Some(ms(100)) };
            SlowStart::HyStart.on_ack(&mut on_ack, &mut state, round);
            on_ack.end
        };
        assert_eq!(ends(1001, 11_001), 11_001);
        assert_eq!(ends(11_001, 21_001), 11_001, "the round's data is acknowledged, and none beyond it");
        assert_eq!(ends(12_001, 23_001), 23_001);
    }

    #[test]
    fn linux_hystart_ignores_small_windows() {
        assert_eq!(round(15, 60, ms(1), ms(150)).ssthresh, u64::MAX);
    }

    /// HyStart++ over rounds of (acknowledgements, RTT in ms). For each round: whether slow start is
    /// conservative after it, and whether slow start continues.
    fn plus_plus(rounds: &[(u64, u64)]) -> Vec<(bool, bool)> {
        let mut state = Path::new(MSS, 10);
        let (mut on_ack, mut una, mut now) = (SlowStartRound::default(), 0, Instant::ZERO);
        let mut seen = Vec::new();
        for &(count, rtt) in rounds {
            let next = una + count * MSS;
            for _ in 0..count {
                now += ms(1);
                let round = Round { now, una, next, rtt: Some(ms(rtt)) };
                SlowStart::HyStartPlusPlus.on_ack(&mut on_ack, &mut state, round);
                una += MSS;
            }
            seen.push((state.conservative, state.ssthresh == u64::MAX));
        }
        seen
    }

    /// RFC 9406 section 4.2: an increase of an eighth, between 4 and 16 ms, in eight samples of a round.
    #[test]
    fn delay_increase_makes_slow_start_conservative() {
        const STILL: (bool, bool) = (false, true);
        const CONSERVATIVE: (bool, bool) = (true, true);
        assert_eq!(plus_plus(&[(8, 40), (8, 44)]), [STILL, STILL]);
        assert_eq!(plus_plus(&[(8, 40), (8, 45)]), [STILL, CONSERVATIVE]);
        assert_eq!(plus_plus(&[(8, 40), (7, 45)]), [STILL, STILL], "seven are too few");
        assert_eq!(plus_plus(&[(8, 8), (8, 11)]), [STILL, STILL], "less than 4 ms");
        assert_eq!(plus_plus(&[(8, 8), (8, 12)]), [STILL, CONSERVATIVE]);
        assert_eq!(plus_plus(&[(8, 400), (8, 415)]), [STILL, STILL]);
        assert_eq!(plus_plus(&[(8, 400), (8, 416)]), [STILL, CONSERVATIVE], "16 ms are enough");
    }

    #[test]
    fn five_conservative_rounds_end_slow_start_and_a_shorter_delay_resumes_it() {
        let rounds = |then: &[u64]| {
            let rounds = [40, 50].iter().chain(then).map(|&rtt| (10, rtt)).collect::<Vec<_>>();
            plus_plus(&rounds)
        };
        let (still, conservative, over) = ((false, true), (true, true), (false, false));
        // The round of the detection is not one of the five.
        let five = rounds(&[55, 55, 55, 55, 55]);
        assert_eq!(five, [vec![still], vec![conservative; 5], vec![over]].concat());
        // The delay was no queue.
        assert_eq!(rounds(&[55, 49, 49]), [still, conservative, conservative, still, still]);
        assert_eq!(rounds(&[55, 50]), [still, conservative, conservative, conservative]);
    }

    /// RFC 9406 section 4.2: L is 8 segments without pacing.
    #[test]
    fn acknowledgement_adds_at_most_eight_segments_before_the_first_loss() {
        let mut state = Path::new(MSS, 10);
        let countable_bytes = |rule: SlowStart, state: &Path, bytes| rule.countable_bytes(state, bytes);
        assert_eq!(countable_bytes(SlowStart::HyStartPlusPlus, &state, 8 * MSS), 8 * MSS);
        assert_eq!(countable_bytes(SlowStart::HyStartPlusPlus, &state, 9 * MSS), 8 * MSS);
        assert_eq!(countable_bytes(SlowStart::Standard, &state, 9 * MSS), 9 * MSS);
        (state.ssthresh, state.conservative) = (20 * MSS, true);
        assert_eq!(countable_bytes(SlowStart::HyStartPlusPlus, &state, 9 * MSS), 9 * MSS);
        let round = Round { now: Instant::ZERO, una: 0, next: 1, rtt: None };
        SlowStart::HyStartPlusPlus.on_ack(&mut SlowStartRound::default(), &mut state, round);
        assert!(!state.conservative, "after a loss, slow start is standard");
    }
}
