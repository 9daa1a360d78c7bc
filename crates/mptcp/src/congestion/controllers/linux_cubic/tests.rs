//! Tests of [`LinuxCubic`] with values computed by hand from the formulas of `tcp_cubic.c`.

use super::*;

const MSS: u64 = 1000;

/// A path of 100 ms under Linux's CUBIC with 1 ms ticks.
struct Bench {
    cubic: LinuxCubic,
    paths: Vec<Path>,
    now: Instant,
    rtt: Duration,
}

impl Bench {
    fn new(hertz: u32, segments: u32) -> Self {
        let mut state = Path::new(MSS, segments);
        state.sample(Duration::from_millis(100));
        state.ssthresh = state.cwnd;
        let now = Instant::ZERO + Duration::from_secs(10);
        Self { cubic: LinuxCubic::new(hertz), paths: vec![state], now, rtt: Duration::from_millis(100) }
    }

    fn lose(&mut self) {
        let ssthresh = self.cubic.on_loss(&mut self.paths, 0, self.now);
        (self.paths[0].ssthresh, self.paths[0].cwnd) = (ssthresh, ssthresh);
    }

    fn ack(&mut self, bytes: u64) {
        let acked = Acked { now: self.now, bytes };
        self.cubic.on_progress(&mut self.paths, 0, acked);
        self.cubic.on_ack(&mut self.paths, 0, acked);
    }

    /// One RTT of acknowledgements of two segments each, evenly spaced.
    fn round(&mut self) {
        let acks = self.segments() / 2;
        for _ in 0..acks {
            self.now += self.rtt / acks;
            self.ack(2 * MSS);
        }
    }

    fn segments(&self) -> u64 {
        self.paths[0].cwnd / MSS
    }
}

#[test]
fn loss_keeps_717_of_1024_segments() {
    let mut bench = Bench::new(1000, 100);
    bench.lose();
    // 100 * 717 / 1024 = 70.02.
    assert_eq!(bench.paths[0].cwnd, 70 * MSS);
    let mut small = Bench::new(1000, 2);
    small.lose();
    assert_eq!(small.paths[0].cwnd, 2 * MSS);
}

#[test]
fn curve_reaches_the_previous_window_after_k() {
    let mut bench = Bench::new(1000, 1000);
    bench.lose();
    // Wmax - cwnd = 1000 - 700 = 300; K = cbrt(300 / C) with C = 410 / 1024: 9.0827 s.
    bench.ack(2 * MSS);
    let k = bench.cubic.paths[0].k;
    assert_eq!(bench.cubic.paths[0].origin, 1000);
    assert_eq!(k, 9300);
    // After K, the window has its previous size, and the curve is flat there.
    let end = bench.now + Duration::from_micros(9_080_000);
    while bench.now < end {
        bench.round();
    }
    assert!((985..=1001).contains(&bench.segments()), "{}", bench.segments());
}

#[test]
fn second_loss_below_the_first_applies_fast_convergence() {
    let mut bench = Bench::new(1000, 100);
    bench.lose();
    bench.lose();
    // 70 < 100: 70 * (1024 + 717) / 2048.
    assert_eq!(bench.cubic.paths[0].last_max, 59);
}

#[test]
fn reno_friendly_window_grows_by_one_per_15_eighths_of_a_window() {
    // The curve needs 4.2 s to reach the plateau. With an RTT of 10 ms, Reno is faster.
    let mut bench = Bench::new(1000, 100);
    bench.rtt = Duration::from_millis(10);
    bench.lose();
    let before = bench.segments();
    for _ in 0..38 {
        bench.round();
    }
    // 38 RTTs with 8/15 of a segment each.
    assert!((18..=21).contains(&(bench.segments() - before)), "{}", bench.segments() - before);
    // Above the previous window the increase stays the same, unlike in RFC 9438.
    for _ in 0..18 {
        bench.round();
    }
    let at = bench.segments();
    for _ in 0..38 {
        bench.round();
    }
    assert!(at >= 98 && (18..=21).contains(&(bench.segments() - at)), "{at} {}", bench.segments());
}

#[test]
fn curve_is_recomputed_32_times_per_second_with_an_unchanged_window() {
    let mut bench = Bench::new(1000, 1000);
    bench.lose();
    bench.ack(2 * MSS);
    let first = bench.cubic.paths[0].at;
    for _ in 0..31 {
        bench.now += Duration::from_millis(1);
        bench.ack(MSS);
        assert_eq!(bench.cubic.paths[0].at, first, "the window has not changed");
    }
    bench.now += Duration::from_millis(1);
    bench.ack(MSS);
    assert_eq!(bench.cubic.paths[0].at, first + 32);
    assert_eq!(bench.cubic.paths[0].window, bench.segments());
}

#[test]
fn window_grows_by_five_percent_per_rtt_before_the_first_loss() {
    let mut bench = Bench::new(1000, 100);
    bench.round();
    assert_eq!(bench.segments(), 105);
}

#[test]
fn partial_segments_are_carried_over() {
    let mut bench = Bench::new(1000, 10);
    bench.paths[0].ssthresh = u64::MAX;
    bench.ack(1500);
    assert_eq!(bench.paths[0].cwnd, 11 * MSS);
    bench.ack(500);
    assert_eq!(bench.paths[0].cwnd, 12 * MSS);
}

#[test]
fn idle_time_does_not_count() {
    let (mut busy, mut idle) = (Bench::new(1000, 1000), Bench::new(1000, 1000));
    for bench in [&mut busy, &mut idle] {
        bench.lose();
        bench.ack(2 * MSS);
    }
    let pause = Duration::from_secs(9);
    idle.now += pause;
    idle.cubic.on_restart(&mut idle.paths, 0, idle.now, pause);
    idle.round();
    busy.round();
    assert_eq!(idle.segments(), busy.segments());
    // Without the adjustment, the curve would be back at the previous window.
    let mut gone = Bench::new(1000, 1000);
    gone.lose();
    gone.ack(2 * MSS);
    gone.now += pause;
    gone.round();
    assert!(gone.segments() > idle.segments() + 100, "{} {}", gone.segments(), idle.segments());
}

#[test]
fn timeout_resets_the_state() {
    let mut bench = Bench::new(1000, 100);
    bench.lose();
    bench.cubic.on_timeout(&mut bench.paths, 0);
    assert_eq!((bench.cubic.paths[0].last_max, bench.cubic.paths[0].epoch), (0, None));
}

#[test]
fn ticks_equal_those_of_the_kernel() {
    assert_eq!(ticks(Duration::from_millis(1999), 250), 499);
    assert_eq!(ticks(Duration::from_millis(1999), 1000), 1999);
}

#[test]
fn cube_roots_are_exact() {
    for root in [0, 1, 2, 3, 100, 9311, 2_642_245] {
        assert_eq!(cube_root(root * root * root), root);
    }
    assert_eq!((cube_root(7), cube_root(u64::MAX)), (1, 2_642_245));
}

#[test]
fn extreme_values_do_not_overflow() {
    let mut bench = Bench::new(1_000_000, 10);
    bench.paths[0].cwnd = u64::MAX / 1024;
    bench.lose();
    bench.now += Duration::from_secs(1_000_000);
    bench.ack(2 * MSS);
    bench.now += Duration::from_secs(1_000_000);
    bench.ack(2 * MSS);
    assert!(bench.paths[0].cwnd > 0);
}

#[test]
fn partial_tick_of_the_rtt_counts_as_one() {
    // 12.1 ms: 13 ticks of 1 ms, or two of 10 ms.
    let rtt = Duration::from_micros(12_100);
    assert_eq!((ticks_begun(rtt, 1000), ticks_begun(rtt, 100)), (13, 2));
    assert_eq!(ticks_begun(Duration::from_millis(100), 1000), 100);
}
