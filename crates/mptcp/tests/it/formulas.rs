//! The reaction of each congestion control algorithm to one acknowledgement, loss or mark, compared with
//! values computed by hand from its paper.

use mptcp::congestion::{
    Acked, Balia, CongestionControl, Cubic, Dctcp, Echoed, Lia, Mark, Olia, Path, Reno, Tuned, WVegas,
};
use mptcp_clock::{Duration, Instant};

const MSS: u64 = 1000;

fn ms(n: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(n)
}

/// A path in congestion avoidance.
fn path(segments: u64, rtt_ms: u64) -> Path {
    Path {
        cwnd: segments * MSS,
        ssthresh: MSS,
        mss: MSS,
        srtt: Some(Duration::from_millis(rtt_ms)),
        active: true,
        ..Path::default()
    }
}

/// Rates of 100 kB/s and 400 kB/s.
fn two() -> Vec<Path> {
    vec![path(10, 100), path(20, 50)]
}

fn acked(bytes: u64) -> Acked {
    Acked { now: ms(1000), bytes }
}

/// Growth of the window of `path` in bytes for one acknowledged segment, which must be `expected`.
fn grows(algorithm: &mut dyn CongestionControl, paths: &[Path], path: usize, expected: f64) {
    let mut paths = paths.to_vec();
    let before = paths.clone();
    algorithm.on_ack(&mut paths, path, acked(MSS));
    for (at, (state, before)) in paths.iter().zip(&before).enumerate() {
        let grown = state.cwnd as f64 + state.credit - before.cwnd as f64;
        let expected = if at == path { expected } else { 0.0 };
        assert!((grown - expected).abs() < 1e-6, "path {at}: {grown} bytes, {expected} expected");
    }
}

#[test]
fn all_algorithms_double_the_window_in_slow_start() {
    let all: [&mut dyn CongestionControl; 6] =
        [&mut Reno, &mut Lia, &mut Olia::default(), &mut Balia, &mut Cubic::default(), &mut Dctcp::default()];
    for algorithm in all {
        let mut paths = two();
        paths[0].ssthresh = u64::MAX;
        grows(algorithm, &paths, 0, 1000.0);
        paths[0].ssthresh = 11_000;
        grows(algorithm, &paths, 0, 1000.0);
        assert_eq!(
            algorithm.on_loss(&mut [path(2, 100)], 0, ms(0)),
            2 * MSS,
            "no window is below two segments"
        );
    }
}

/// RFC 5681 equations 3 and 4; RFC 8511 section 4.1.
#[test]
fn reno_adds_one_segment_per_window_and_halves_on_loss() {
    grows(&mut Reno, &two(), 0, 100.0);
    grows(&mut Reno, &two(), 1, 50.0);
    let mut paths = two();
    paths[0].ssthresh = 10_600;
    // 600 bytes of slow start, then 400/10600 of congestion avoidance.
    grows(&mut Reno, &paths, 0, 600.0 + 400.0 * 1000.0 / 10_600.0);
    assert_eq!(Reno.on_loss(&mut paths, 1, ms(0)), 10_000);
    let mark = |abe| Mark { now: ms(0), abe };
    assert_eq!(Reno.on_mark(&mut paths, 1, mark(false)), 10_000);
    assert_eq!(Reno.on_mark(&mut paths, 1, mark(true)), 16_000);
    assert_eq!(Reno.on_mark(&mut [path(2, 10)], 0, mark(true)), 2 * MSS);
}

/// RFC 6356 equation 1: alpha = cwnd_total * max(cwnd_i / rtt_i^2) / (sum cwnd_i / rtt_i)^2.
#[test]
fn lia_increase_is_limited_by_the_coupled_and_the_uncoupled_increase() {
    // 8e6 / (5e5)^2 per byte.
    grows(&mut Lia, &two(), 0, 32.0);
    grows(&mut Lia, &two(), 1, 32.0);
    // For a slow path with a large window, the uncoupled increase is smaller.
    grows(&mut Lia, &[path(100, 1000), path(10, 10)], 0, 10.0);
    let mut paths = two();
    paths[1].active = false;
    grows(&mut Lia, &paths, 0, 100.0);
    paths[1].active = true;
    paths[1].srtt = None;
    grows(&mut Lia, &paths, 0, 100.0);
    paths[0].srtt = None;
    grows(&mut Lia, &paths, 0, 100.0);
}

/// Twice alpha doubles the increase, up to the uncoupled increase; `beta` is the fraction that remains after
/// a loss.
#[test]
fn tuned_scales_alpha_and_beta() {
    grows(&mut Tuned::lia(1.0, 0.5), &two(), 0, 32.0);
    grows(&mut Tuned::lia(2.0, 0.5), &two(), 0, 64.0);
    grows(&mut Tuned::lia(0.5, 0.5), &two(), 1, 16.0);
    grows(&mut Tuned::lia(4.0, 0.5), &two(), 0, 100.0);
    grows(&mut Tuned::reno(0.8), &two(), 0, 100.0);
    let mut paths = two();
    assert_eq!(Lia.on_loss(&mut paths, 1, ms(0)), 10_000);
    assert_eq!(Tuned::lia(2.0, 0.5).on_loss(&mut paths, 1, ms(0)), 10_000);
    assert_eq!(Tuned::reno(0.8).on_loss(&mut paths, 1, ms(0)), 16_000);
    assert_eq!(Tuned::reno(0.8).on_loss(&mut [path(2, 10)], 0, ms(0)), 2 * MSS);
}

/// Peng et al., equations 18 and 19 of the draft: x / rtt / (sum x)^2 * (1 + a) / 2 * (4 + a) / 5; the loss
/// reduces by min(a, 1.5) / 2.
#[test]
fn balia_matches_its_formulas() {
    // The slow path has a = 4: 4e-6 * 2.5 * 1.6.
    grows(&mut Balia, &two(), 0, 16.0);
    grows(&mut Balia, &two(), 1, 32.0);
    assert_eq!(Balia.on_loss(&mut two(), 0, ms(0)), 2_500);
    assert_eq!(Balia.on_loss(&mut two(), 1, ms(0)), 10_000);
    // a is 1.25.
    assert_eq!(Balia.on_loss(&mut [path(20, 50), path(25, 50)], 0, ms(0)), 7_500);
    let mut paths = two();
    paths[1].active = false;
    grows(&mut Balia, &paths, 0, 100.0);
    assert_eq!(Balia.on_loss(&mut paths, 0, ms(0)), 5_000);
    paths[0].srtt = None;
    grows(&mut Balia, &paths, 0, 100.0);
    assert_eq!(Balia.on_loss(&mut paths, 0, ms(0)), 5_000);
}

/// Khalili et al., equation 5: w / rtt^2 / (sum w / rtt)^2 + a / w.
#[test]
fn olia_shifts_window_from_the_largest_to_the_best_paths() {
    let progress = |bytes: &[u64]| {
        let mut olia = Olia::default();
        for (path, &bytes) in bytes.iter().enumerate() {
            olia.on_progress(&mut [], path, acked(bytes));
        }
        olia
    };
    // The largest path is the best: no shift.
    grows(&mut progress(&[0, 1_000_000]), &two(), 0, 4.0);
    grows(&mut progress(&[0, 1_000_000]), &two(), 1, 32.0);
    // The small path is better by the squared RTTs: 4 times the bytes are equally good.
    let mut better = progress(&[4_100_000, 1_000_000]);
    grows(&mut better, &two(), 0, 4.0 + 50.0);
    grows(&mut better, &two(), 1, 32.0 - 25.0);
    grows(&mut progress(&[3_900_000, 1_000_000]), &two(), 0, 4.0);
    // An interval counts until the next one ends.
    let loss = better.on_loss(&mut two(), 0, ms(0));
    assert_eq!(loss, 5_000);
    grows(&mut better, &two(), 0, 54.0);
    better.on_progress(&mut [], 0, acked(5_000_000));
    grows(&mut better, &two(), 0, 54.0);
    better.on_loss(&mut two(), 0, ms(0));
    better.on_loss(&mut two(), 0, ms(0));
    grows(&mut better, &two(), 0, 4.0);
    // One of three paths is neither the largest nor the best.
    let three = [path(10, 100), path(20, 100), path(15, 100)];
    let sum = 450_000.0_f64;
    let own = |window: f64| window / 0.01 / (sum * sum) * 1e6;
    let mut best = progress(&[3_000, 1_000, 2_000]);
    grows(&mut best, &three, 0, own(10e3) + 1e6 / 3.0 / 10e3);
    grows(&mut best, &three, 1, own(20e3) - 1e6 / 3.0 / 20e3);
    grows(&mut best, &three, 2, own(15e3));
    // Two paths are equally good or large.
    let mut equal = progress(&[3_000, 1_000, 3_000]);
    grows(&mut equal, &three, 2, own(15e3) + 1e6 / 6.0 / 15e3);
    let large = [path(10, 100), path(20, 100), path(20, 100)];
    let own = |window: f64| window / 0.01 / 500_000.0_f64.powi(2) * 1e6;
    grows(&mut best, &large, 1, own(20e3) - 1e6 / 6.0 / 20e3);
    // A closed path is neither, and its state is dropped.
    let mut paths = two();
    paths[1].active = false;
    let mut olia = progress(&[4_100_000, 1_000_000]);
    grows(&mut olia, &paths, 0, 100.0);
    paths[0].active = false;
    olia.on_path_change(&mut paths, 0);
    grows(&mut olia, &two(), 0, 4.0);
}

/// RFC 9438 sections 4.6 and 4.7, RFC 8511 section 4.1.
#[test]
fn cubic_keeps_70_percent_on_loss_and_more_on_a_mark() {
    let mut cubic = Cubic::default();
    let mark = |abe| Mark { now: ms(0), abe };
    assert_eq!(cubic.on_loss(&mut [path(100, 100)], 0, ms(0)), 70_000);
    assert_eq!(cubic.on_mark(&mut [path(100, 100)], 0, mark(false)), 70_000);
    assert_eq!(cubic.on_mark(&mut [path(100, 100)], 0, mark(true)), 85_000);
    assert_eq!(cubic.on_mark(&mut [path(2, 100)], 0, mark(true)), 2_000);
}

/// CUBIC's window at this time after losses at these windows, in segments.
fn cubic_after(losses: &[u64], seconds: u64) -> f64 {
    let mut cubic = Cubic::default();
    let mut paths = [path(losses[0], 100)];
    for &at in losses {
        paths[0].cwnd = at * MSS;
        paths[0].cwnd = cubic.on_loss(&mut paths, 0, ms(0));
    }
    let mut now = 0.0;
    while now < seconds as f64 {
        now += 0.1 * MSS as f64 / paths[0].cwnd as f64;
        let acked = Acked { now: Instant::ZERO + Duration::from_secs_f64(now), bytes: MSS };
        cubic.on_ack(&mut paths, 0, acked);
    }
    paths[0].cwnd as f64 / MSS as f64
}

/// RFC 9438 section 4.3: below the previous window 9/17 of Reno's growth, and Reno's growth before the first
/// loss.
#[test]
fn cubic_forgets_a_closed_path() {
    for (active, expected) in [(true, 90.0 / 17.0), (false, 10.0)] {
        let mut cubic = Cubic::default();
        let mut paths = [Path { active, ..path(1000, 100) }];
        cubic.on_loss(&mut paths, 0, ms(0));
        cubic.on_path_change(&mut paths, 0);
        grows(&mut cubic, &[path(100, 100)], 0, expected);
    }
}

#[test]
fn cubic_reaches_its_plateau_after_k_and_applies_fast_convergence() {
    // K is the cube root of 0.3 * 1000 / 0.4, 9.09 s.
    let plateau = cubic_after(&[1000], 9);
    assert!((plateau - 1000.0).abs() < 5.0, "{plateau}");
    // Three seconds later 0.4 * 3^3 more.
    let later = cubic_after(&[1000], 12);
    assert!((later - 1010.0).abs() < 5.0, "{later}");
    // A loss at 800 after one at 1000: the plateau is 0.85 * 800, from 560. K is 6.69 s.
    let room = cubic_after(&[1000, 800], 7);
    assert!((room - 680.0).abs() < 5.0, "{room}");
    // A loss above the previous one does not apply fast convergence.
    let none = cubic_after(&[800, 1000], 9);
    assert!((none - 1000.0).abs() < 5.0, "{none}");
}

/// RFC 8257 section 3.3: alpha is a moving average of the marked fraction with weight 1/16, once per window;
/// the reduction is alpha/2.
#[test]
fn dctcp_reduces_the_window_by_half_of_the_marked_fraction() {
    let mut dctcp = Dctcp::default();
    let mark = Mark { now: ms(0), abe: true };
    let cut = |dctcp: &mut Dctcp| dctcp.on_mark(&mut [path(64, 100)], 0, mark);
    let echo = |dctcp: &mut Dctcp, bytes, marked, una, next| {
        dctcp.on_echo(&mut [], 0, Echoed { now: ms(0), bytes, marked, una, next });
    };
    assert_eq!(cut(&mut dctcp), 32_000, "at first a mark is a loss");
    // A window without marks: alpha is 15/16.
    echo(&mut dctcp, 1_000, false, 1_000, 11_000);
    assert_eq!(cut(&mut dctcp), 34_000);
    // The next window ends after 11000: a quarter was marked.
    echo(&mut dctcp, 3_000, false, 4_000, 14_000);
    echo(&mut dctcp, 1_000, true, 11_000, 21_000);
    assert_eq!(cut(&mut dctcp), 34_000);
    echo(&mut dctcp, 4_000, true, 11_001, 22_000);
    // 5 of 8 thousand: 15/16 * 15/16 + 1/16 * 5/8 is 0.91796875.
    assert_eq!(cut(&mut dctcp), (64_000.0_f64 * (1.0 - 0.917_968_75 / 2.0)) as u64);
    assert!(dctcp.needs_marks());
    assert_eq!(dctcp.on_mark(&mut [path(2, 100)], 0, mark), 2 * MSS);
    let mut ended = [Path { active: false, ..path(64, 100) }];
    dctcp.on_path_change(&mut ended, 0);
    assert_eq!(cut(&mut dctcp), 32_000, "a new path knows nothing");
}

/// wVegas on a path of 100 ms: one epoch of four acknowledgements with this RTT; returns the window in
/// segments.
struct Vegas {
    wvegas: WVegas,
    paths: Vec<Path>,
    now: u64,
}

impl Vegas {
    fn new(segments: u64, ssthresh: u64) -> Self {
        let state = Path {
            ssthresh: ssthresh.saturating_mul(MSS),
            min_rtt: Some(Duration::from_millis(100)),
            ..path(segments, 100)
        };
        let mut vegas = Self { wvegas: WVegas::default(), paths: vec![state], now: 1000 };
        // The first acknowledgement forms an epoch that is too short.
        let before = vegas.paths[0].clone();
        vegas.epoch(1, 100);
        vegas.paths[0] = before;
        vegas
    }

    fn epoch(&mut self, samples: u64, rtt: u64) -> f64 {
        self.paths[0].latest_rtt = Some(Duration::from_millis(rtt));
        for sample in 1..=samples {
            self.now += if sample == samples { 1000 } else { 1 };
            let acked = Acked { now: ms(self.now), bytes: MSS };
            self.wvegas.on_progress(&mut self.paths, 0, acked);
        }
        (self.paths[0].cwnd as f64 + self.paths[0].credit) / MSS as f64
    }
}

/// Cao, Xu, Fu (ICNP 2012): alpha of the connection's ten segments stay queued.
#[test]
fn wvegas_keeps_its_target_queued() {
    // 40 segments at 125 ms: 8 are queued, fewer than ten.
    assert_eq!(Vegas::new(40, 1).epoch(4, 125), 41.0);
    // 49 and 51 segments: slightly fewer and more than ten.
    assert_eq!(Vegas::new(49, 1).epoch(4, 125), 50.0);
    assert_eq!(Vegas::new(51, 1).epoch(4, 125), 50.0);
    // 60 segments: twelve are queued.
    assert_eq!(Vegas::new(60, 1).epoch(4, 125), 59.0);
    // Two samples are too few: growth like Reno, 1/40 of a segment.
    assert_eq!(Vegas::new(40, 1).epoch(2, 125), 40.025);
    assert_eq!(Vegas::new(40, 1).epoch(3, 125), 41.0);
}

#[test]
fn wvegas_exits_slow_start_with_one_queued_segment() {
    // 20 segments at 105 ms: fewer than one is queued.
    let mut vegas = Vegas::new(20, u64::MAX);
    assert_eq!((vegas.epoch(4, 105), vegas.paths[0].ssthresh), (20.0, u64::MAX));
    // At 125 ms, four are queued: the pipe holds 16, plus one.
    assert_eq!((vegas.epoch(4, 125), vegas.paths[0].ssthresh), (17.0, 17_000));
    let mut small = Vegas::new(2, u64::MAX);
    assert_eq!(small.epoch(4, 400), 2.0);
    let mut doubling = Vegas::new(20, u64::MAX);
    doubling.wvegas.on_ack(&mut doubling.paths, 0, acked(MSS));
    assert_eq!(doubling.paths[0].cwnd, 21_000);
    let mut beyond = Vegas::new(20, 1);
    beyond.wvegas.on_ack(&mut beyond.paths, 0, acked(MSS));
    assert_eq!(beyond.paths[0].cwnd, 20_000, "later it grows by epochs alone");
}

/// Section on queues of other flows: when the delay doubles, the queue is drained once.
#[test]
fn wvegas_drains_a_doubled_queue() {
    let mut vegas = Vegas::new(100, 1);
    // 20 queued at 125 ms.
    assert_eq!(vegas.epoch(4, 125), 99.0);
    assert_eq!(vegas.epoch(4, 149), 98.0, "49 ms are less than twice 25");
    // 97 * 100 / (2 * 150).
    assert!((vegas.epoch(4, 150) - 32.333).abs() < 0.001);
    // Then the minimum restarts.
    assert_eq!(vegas.epoch(4, 200), 31.333);
    // The window keeps at least two segments.
    let mut slow = Vegas::new(20, 1);
    assert_eq!((slow.epoch(4, 150), slow.epoch(4, 2000)), (21.0, 2.0));
}

/// Weights by rate: two paths with equal rates get five segments each.
#[test]
fn wvegas_weights_paths_by_rate() {
    let window = |other: u64| {
        let mut vegas = Vegas::new(30, 1);
        vegas.paths.push(Path { min_rtt: Some(Duration::from_millis(100)), ..path(other, 100) });
        vegas.paths[1].latest_rtt = Some(Duration::from_millis(125));
        for at in [2100, 2200, 2300, 4000] {
            vegas.wvegas.on_progress(&mut vegas.paths, 1, Acked { now: ms(at), bytes: MSS });
        }
        // 6 queued.
        vegas.epoch(4, 125)
    };
    // At once with it: 10 * 30 / 60 is five, and more is queued.
    assert_eq!(window(30), 29.0);
    // A single path would get ten.
    assert_eq!(window(2), 31.0);
}
