//! How slow start ends before a loss does.
//!
//! Owns the rounds of each path and what their delays say. It moves no window: it tells the path to grow slower, or sets its
//! threshold. Whatever algorithm is over the paths, this comes before it.

use mptcp_clock::{Duration, Instant};

use crate::path::Path;

/// When slow start ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SlowStart {
    /// At the threshold, or when something is lost (RFC 5681 section 3.1).
    #[default]
    Standard,
    /// HyStart++ (RFC 9406): when delays grow the window grows at a quarter of the speed for five rounds, in which they may
    /// turn out not to have grown.
    HyStartPlusPlus,
    /// HyStart as Linux's CUBIC has it (Ha and Rhee, 2011): where delays grow, or where acknowledgements come without a gap
    /// for half of the shortest round trip, the threshold is the window.
    HyStart,
}

/// RFC 9406 section 4.3: delays that have grown by an eighth, but by no less and no more than these.
const MIN_GROWTH: Duration = Duration::from_millis(4);
const MAX_GROWTH: Duration = Duration::from_millis(16);
/// N_RTT_SAMPLE: round trips of a round that are looked at.
const SAMPLES: u32 = 8;
/// CSS_ROUNDS.
const CONSERVATIVE_ROUNDS: u32 = 5;
/// L without pacing: what one acknowledgement may add, segments.
const MAX_SEGMENTS: u64 = 8;
/// Linux's `hystart_low_window`, segments.
const LOW_WINDOW: u64 = 16;
/// Linux's `hystart_ack_delta_us`: acknowledgements closer than this are one train.
const TRAIN_GAP: Duration = Duration::from_millis(2);

/// What an acknowledgement tells of a path's round.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Round {
    pub now: Instant,
    /// All before it is acknowledged.
    pub una: u64,
    /// All before it was sent.
    pub next: u64,
    /// The round trip of what was acknowledged.
    pub rtt: Option<Duration>,
}

/// The rounds of one path.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SlowStartRound {
    /// The round is over when this is acknowledged.
    end: u64,
    started: Instant,
    /// The last acknowledgement of the train that began with the round.
    train: Instant,
    samples: u32,
    /// The least round trip of this round, and of the one before.
    least: Option<Duration>,
    before: Option<Duration>,
    /// The least of the round in which growth was first seen.
    baseline: Duration,
    /// Rounds of conservative slow start.
    rounds: u32,
}

impl SlowStart {
    /// What of an acknowledgement slow start takes.
    pub(crate) fn counted(self, state: &Path, bytes: u64) -> u64 {
        match self {
            // RFC 9406 section 4.2: min(N, L * SMSS). What acknowledgements clock is not paced here.
            Self::HyStartPlusPlus if state.ssthresh == u64::MAX => bytes.min(MAX_SEGMENTS * state.mss),
            _ => bytes,
        }
    }

    /// Data was acknowledged on a path that is in slow start.
    pub(crate) fn watch(self, watch: &mut SlowStartRound, state: &mut Path, round: Round) {
        match self {
            Self::Standard => {}
            // RFC 9406 section 4.3: only before anything was lost.
            Self::HyStartPlusPlus if state.ssthresh == u64::MAX => watch.plus_plus(state, round),
            Self::HyStartPlusPlus => state.conservative = false,
            Self::HyStart => watch.linux(state, round),
        }
    }
}

impl SlowStartRound {
    /// Begins a round.
    fn begin(&mut self, round: Round) {
        *self = Self {
            end: round.next,
            started: round.now,
            train: round.now,
            samples: 0,
            before: self.least,
            least: None,
            ..*self
        };
    }

    /// Takes the round trip of an acknowledgement; returns the least of the round once enough have come.
    fn sample(&mut self, rtt: Option<Duration>) -> Option<Duration> {
        let rtt = rtt?;
        self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
        self.samples += 1;
        self.least.filter(|_| self.samples >= SAMPLES)
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
        let Some(least) = self.sample(round.rtt) else { return };
        if state.conservative {
            // It was no queue: standard slow start goes on.
            state.conservative = least >= self.baseline;
        } else if self.before.is_some_and(|before| least >= before + growth(before)) {
            state.conservative = true;
            (self.baseline, self.rounds) = (least, 0);
        }
    }

    fn linux(&mut self, state: &mut Path, round: Round) {
        // A round is over when something behind it is acknowledged (`hystart_update`, net/ipv4/tcp_cubic.c), by which time more was
        // sent than at its end.
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
        let least = self.sample(round.rtt).filter(|_| self.samples > SAMPLES);
        if least.is_some_and(|least| least > shortest + growth(shortest)) {
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

    /// A path of 100 ms under Linux's rule that has acknowledged `count` segments, `gap` apart, of `rtt` each.
    fn round(segments: u32, count: u64, gap: Duration, rtt: Duration) -> Path {
        let mut state = Path::new(MSS, segments);
        state.min_rtt = Some(ms(100));
        let mut watch = SlowStartRound::default();
        for at in 0..count {
            let now = Instant::ZERO + ms(1000) + gap * at;
            let round = Round { now, una: 1 + at * MSS, next: 1 + count * MSS, rtt: Some(rtt) };
            SlowStart::HyStart.watch(&mut watch, &mut state, round);
        }
        state
    }

    #[test]
    fn linux_ends_slow_start_where_delays_have_grown_by_an_eighth() {
        assert_eq!(round(16, 9, ms(3), ms(112)).ssthresh, u64::MAX);
        assert_eq!(round(16, 8, ms(3), ms(113)).ssthresh, u64::MAX, "too few say so");
        assert_eq!(round(16, 9, ms(3), ms(113)).ssthresh, 16 * MSS);
    }

    #[test]
    fn linux_ends_slow_start_where_acknowledgements_fill_half_of_a_round_trip() {
        assert_eq!(round(16, 51, ms(1), ms(100)).ssthresh, u64::MAX);
        assert_eq!(round(16, 53, ms(1), ms(100)).ssthresh, 16 * MSS);
        assert_eq!(round(16, 53, ms(3), ms(100)).ssthresh, u64::MAX, "no train");
    }

    #[test]
    fn linux_ends_a_round_behind_its_end() {
        let mut state = Path::new(MSS, 16);
        state.min_rtt = Some(ms(100));
        let mut watch = SlowStartRound::default();
        let mut ends = |una, next| {
            let round = Round { now: Instant::ZERO, una, next, rtt: Some(ms(100)) };
            SlowStart::HyStart.watch(&mut watch, &mut state, round);
            watch.end
        };
        assert_eq!(ends(1001, 11_001), 11_001);
        assert_eq!(ends(11_001, 21_001), 11_001, "all of it is acknowledged, and nothing behind it");
        assert_eq!(ends(12_001, 23_001), 23_001);
    }

    #[test]
    fn linux_looks_at_no_small_window() {
        assert_eq!(round(15, 60, ms(1), ms(150)).ssthresh, u64::MAX);
    }

    /// HyStart++ over rounds of so many acknowledgements of a segment with these round trips; the state after each round.
    fn plus_plus(rounds: &[(u64, u64)]) -> Vec<(bool, bool)> {
        let mut state = Path::new(MSS, 10);
        let (mut watch, mut una, mut now) = (SlowStartRound::default(), 0, Instant::ZERO);
        let mut seen = Vec::new();
        for &(count, rtt) in rounds {
            let next = una + count * MSS;
            for _ in 0..count {
                now += ms(1);
                let round = Round { now, una, next, rtt: Some(ms(rtt)) };
                SlowStart::HyStartPlusPlus.watch(&mut watch, &mut state, round);
                una += MSS;
            }
            seen.push((state.conservative, state.ssthresh == u64::MAX));
        }
        seen
    }

    /// RFC 9406 section 4.2: an eighth more, between 4 and 16 ms, by eight samples of a round.
    #[test]
    fn delays_that_grow_make_slow_start_conservative() {
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
    fn five_conservative_rounds_end_slow_start_and_a_shorter_delay_ends_them() {
        let rounds = |then: &[u64]| {
            let rounds = [40, 50].iter().chain(then).map(|&rtt| (10, rtt)).collect::<Vec<_>>();
            plus_plus(&rounds)
        };
        let (still, conservative, over) = ((false, true), (true, true), (false, false));
        // The round in which it began is none of the five.
        let five = rounds(&[55, 55, 55, 55, 55]);
        assert_eq!(five, [vec![still], vec![conservative; 5], vec![over]].concat());
        // It was no queue.
        assert_eq!(rounds(&[55, 49, 49]), [still, conservative, conservative, still, still]);
        assert_eq!(rounds(&[55, 50]), [still, conservative, conservative, conservative]);
    }

    /// RFC 9406 section 4.2: L is 8 segments where nothing paces.
    #[test]
    fn one_acknowledgement_adds_eight_segments_at_most_before_the_first_loss() {
        let mut state = Path::new(MSS, 10);
        let counted = |rule: SlowStart, state: &Path, bytes| rule.counted(state, bytes);
        assert_eq!(counted(SlowStart::HyStartPlusPlus, &state, 8 * MSS), 8 * MSS);
        assert_eq!(counted(SlowStart::HyStartPlusPlus, &state, 9 * MSS), 8 * MSS);
        assert_eq!(counted(SlowStart::Standard, &state, 9 * MSS), 9 * MSS);
        (state.ssthresh, state.conservative) = (20 * MSS, true);
        assert_eq!(counted(SlowStart::HyStartPlusPlus, &state, 9 * MSS), 9 * MSS);
        let round = Round { now: Instant::ZERO, una: 0, next: 1, rtt: None };
        SlowStart::HyStartPlusPlus.watch(&mut SlowStartRound::default(), &mut state, round);
        assert!(!state.conservative, "after a loss it is as ever");
    }
}
