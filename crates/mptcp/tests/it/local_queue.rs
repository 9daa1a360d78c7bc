//! The use of the local interface queue by congestion control.

use crate::pair::Pair;
use bytes::Bytes;
use mptcp::congestion::{Acked, Bbr, CongestionControl, Departure, Lia, LocalQueue, Path, Reno, WVegas};
use mptcp::{Config, InterfaceId, SendQueueRule};
use mptcp_clock::{Duration, Instant};

const MSS: u64 = 1000;
const RTT: Duration = Duration::from_millis(20);

fn path(segments: u64) -> Path {
    Path {
        cwnd: segments * MSS,
        ssthresh: MSS,
        mss: MSS,
        srtt: Some(RTT),
        rttvar: Duration::from_millis(2),
        latest_rtt: Some(RTT),
        min_rtt: Some(RTT),
        active: true,
        ..Path::default()
    }
}

/// A queue with this service time per packet, and this service time on an idle medium.
fn queue(bytes: u64, service_us: u64, alone_us: u64) -> LocalQueue {
    let (service, alone) = (Duration::from_micros(service_us), Duration::from_micros(alone_us));
    LocalQueue { bytes, service: Some(service), alone: Some(alone), packet: MSS }
}

/// One RTT of acknowledgements, one per segment.
fn round_trip(
    algorithm: &mut dyn CongestionControl,
    paths: &mut [Path],
    at: usize,
    from: Instant,
) -> Instant {
    let count = paths[at].cwnd / MSS;
    for number in 1..=count {
        let acked = Acked { now: from + RTT * number / count, bytes: MSS };
        algorithm.on_progress(paths, at, acked);
        algorithm.on_ack(paths, at, acked);
    }
    from + RTT
}

#[test]
fn published_rule_reduces_the_window_by_equation_4() {
    for (rule, local, unacked) in [(SendQueueRule::Published, 50_000, 0), (SendQueueRule::Unacked, 0, 50_000)]
    {
        let mut algorithm = rule.around(Box::new(Reno));
        let mut paths = [path(40)];
        // QL = 2 ms of 20 ms of the window: 4 segments. First below it, which stores the window.
        (paths[0].local.bytes, paths[0].unacked) = (1000, 1000);
        algorithm.on_progress(&mut paths, 0, Acked { now: Instant::ZERO, bytes: MSS });
        (paths[0].local.bytes, paths[0].unacked) = (local, unacked);
        for number in 1..=32_u32 {
            let acked = Acked { now: Instant::ZERO + Duration::from_micros(number.into()), bytes: MSS };
            algorithm.on_progress(&mut paths, 0, acked);
            algorithm.on_ack(&mut paths, 0, acked);
            // The sum of steps of half a segment * 40 / window.
            let law = (40.0_f64 * 40.0 - 40.0 * f64::from(number)).sqrt();
            let found = paths[0].cwnd as f64 / MSS as f64;
            assert!((found - law).abs() < 0.7, "{rule:?} after {number}: {found:.2}, not {law:.2}");
        }
    }
}

#[test]
fn published_rule_ignores_a_short_queue() {
    let mut algorithm = SendQueueRule::Published.around(Box::new(Reno));
    let mut paths = [path(40)];
    paths[0].local.bytes = 3000;
    round_trip(&mut *algorithm, &mut paths, 0, Instant::ZERO);
    assert!((40_900..=41_100).contains(&paths[0].cwnd), "{}", paths[0].cwnd);
}

#[test]
fn linked_pacing_removes_a_queue_that_stands_for_an_rtt() {
    let mut algorithm = SendQueueRule::Linked.around(Box::new(Reno));
    let mut paths = [path(60)];
    // 1 ms per packet: 5 ms correspond to 5000 bytes.
    paths[0].local = queue(45_000, 1000, 1000);
    let mut now = Instant::ZERO;
    for _ in 0..2 {
        now = round_trip(&mut *algorithm, &mut paths, 0, now);
    }
    let first = paths[0].cwnd;
    assert!((20_000..=21_500).contains(&first), "{first}");
    paths[0].local.bytes = 5000;
    for _ in 0..3 {
        now = round_trip(&mut *algorithm, &mut paths, 0, now);
    }
    assert!(paths[0].cwnd > first, "it grows again: {}", paths[0].cwnd);
}

#[test]
fn linked_pacing_allows_bursts() {
    let mut algorithm = SendQueueRule::Linked.around(Box::new(Reno));
    let mut paths = [path(60)];
    let mut now = Instant::ZERO;
    for _ in 0..10 {
        paths[0].local = queue(40_000, 1000, 1000);
        now = round_trip(&mut *algorithm, &mut paths, 0, now);
        paths[0].local.bytes = 0;
        algorithm.on_departed(&mut paths, 0, now);
    }
    assert!(paths[0].cwnd >= 65_000, "{}", paths[0].cwnd);
}

#[test]
fn contended_paths_are_paced_at_the_total_rate_of_one_station() {
    let mut algorithm = SendQueueRule::Linked.around(Box::new(Lia));
    let mut paths = [path(10), path(10)];
    paths[0].local = queue(0, 1000, 400);
    paths[1].local = queue(0, 2000, 900);
    for at in [0, 1, 0, 1] {
        algorithm.on_departed(&mut paths, at, Instant::ZERO);
    }
    // 1 MB/s and 0.5 MB/s: together the better rate.
    let sum: f64 = paths.iter().filter_map(|path| path.pacing).sum();
    assert!((sum - 1e6).abs() < 1.0, "{sum}");
    assert!((paths[0].pacing.unwrap_or(0.0) - 2e6 / 3.0).abs() < 1.0);
    // No contention on the first medium.
    paths[0].local = queue(0, 500, 400);
    algorithm.on_departed(&mut paths, 0, Instant::ZERO);
    assert_eq!(paths[0].pacing, None);
}

/// The smaller of the share of the medium and of the algorithm's rate applies; the latter returns when the
/// medium is free.
#[test]
fn linked_pacing_keeps_the_pacing_rate_of_the_algorithm() {
    let mut algorithm = SendQueueRule::Linked.around(Box::new(Bbr::default()));
    let mut paths = [path(10), path(10)];
    algorithm.on_path_change(&mut paths, 0);
    let asked = paths[0].pacing.expect("it paces");
    assert!(asked > 1e6, "{asked}");
    paths[0].local = queue(0, 500, 400);
    paths[1].local = queue(0, 2000, 900);
    algorithm.on_departed(&mut paths, 0, Instant::ZERO);
    assert_eq!(paths[0].pacing, Some(asked), "nobody else is there");
    // 1 MB/s and 0.5 MB/s: two thirds of the better rate.
    paths[0].local = queue(0, 1000, 400);
    algorithm.on_departed(&mut paths, 0, Instant::ZERO);
    assert!((paths[0].pacing.unwrap_or(0.0) - 2e6 / 3.0).abs() < 1.0);
    paths[0].local = queue(0, 500, 400);
    algorithm.on_departed(&mut paths, 0, Instant::ZERO);
    assert_eq!(paths[0].pacing, Some(asked));
}

#[test]
fn single_path_is_not_paced_on_a_contended_medium() {
    let mut algorithm = SendQueueRule::Linked.around(Box::new(Reno));
    let mut paths = [path(10)];
    paths[0].local = queue(0, 3000, 400);
    algorithm.on_departed(&mut paths, 0, Instant::ZERO);
    assert_eq!(paths[0].pacing, None);
}

#[test]
fn wvegas_keeps_ten_segments_queued() {
    let (mut algorithm, mut paths) = (WVegas::default(), [path(30)]);
    paths[0].min_rtt = Some(RTT);
    let mut now = Instant::ZERO;
    for _ in 0..200 {
        // A link with one segment per ms: 20 segments fill it, further ones are queued.
        let waiting = (paths[0].cwnd / MSS).saturating_sub(20);
        let rtt = RTT + Duration::from_millis(waiting);
        (paths[0].latest_rtt, paths[0].srtt) = (Some(rtt), Some(rtt));
        let count = paths[0].cwnd / MSS;
        for number in 1..=count {
            algorithm.on_progress(&mut paths, 0, Acked { now: now + rtt * number / count, bytes: MSS });
        }
        now += rtt + Duration::from_nanos(1);
    }
    let cwnd = paths[0].cwnd / MSS;
    println!("wVegas: {} segments queued", cwnd - 20);
    assert!((26..=34).contains(&cwnd), "{cwnd} segments");
}

/// Maximum bytes in the local queue if the interface sends one packet per ms, and total bytes sent.
fn through_a_slow_interface(config: Config) -> (u64, u64) {
    let mut pair = Pair::builder().seed(1).links(&[5]).config(config).connect();
    pair.client.expect_departures(InterfaceId(0));
    let data = Bytes::from(vec![0; 1 << 20]);
    let (mut most, mut sent) = (0, 0);
    for _ in 0..2000 {
        while pair.client.write(pair.now, pair.connection, data.clone()) > 0 {}
        pair.run(Duration::from_millis(1));
        let Some(info) = pair.client.info(pair.now, pair.connection) else { break };
        let Some(subflow) = info.subflows.first() else { break };
        most = most.max(subflow.local_queue);
        sent = subflow.stats.bytes_sent;
        let bytes = subflow.local_queue.min(1500);
        if bytes > 0 {
            let span = Duration::from_millis(1);
            let departure = Departure { bytes, service: span, alone: span };
            pair.client.handle_departed(pair.now, pair.connection, subflow.id, departure);
        }
    }
    (most, sent)
}

#[test]
fn small_queues_limit_the_local_queue_until_departures() {
    let (most, sent) = through_a_slow_interface(Config { small_queues: Some(20_000), ..Config::tcp() });
    assert!((20_000..=21_500).contains(&most), "{most}");
    assert!(sent > 1_000_000, "{sent}");
    let (two, _) = through_a_slow_interface(Config { small_queues: Some(0), ..Config::tcp() });
    assert!((2000..=3000).contains(&two), "two packets always may: {two}");
    let (all, _) = through_a_slow_interface(Config::tcp());
    assert!(all > 100_000, "{all}");
}

/// A controller that only sets a pacing rate.
#[derive(Debug)]
struct Paced(f64);

impl CongestionControl for Paced {
    fn name(&self) -> &'static str {
        "paced"
    }

    fn on_ack(&mut self, paths: &mut [Path], path: usize, _acked: Acked) {
        paths[path].cwnd = 1_000_000;
    }

    fn on_progress(&mut self, paths: &mut [Path], path: usize, _acked: Acked) {
        paths[path].pacing = Some(self.0);
    }
}

#[test]
fn paced_path_sends_at_its_rate_without_bursts() {
    let mut pair = Pair::builder().seed(2).links(&[10]).config(Config::tcp()).connect();
    pair.client.set_policies(pair.connection, Some(Box::new(Paced(500_000.0))), None);
    let data = Bytes::from(vec![0; 1 << 20]);
    let sent = |pair: &Pair| {
        pair.client.info(pair.now, pair.connection).map_or(0, |info| info.subflows[0].stats.bytes_sent)
    };
    let mut last = 0;
    for step in 0..300 {
        while pair.client.write(pair.now, pair.connection, data.clone()) > 0 {}
        pair.run(Duration::from_millis(10));
        let now = sent(&pair);
        if step >= 100 {
            let grown = now - last;
            assert!((2500..=7500).contains(&grown), "{grown} bytes in 10 ms at 500 kB/s");
        }
        last = now;
    }
    assert!((last as f64 / 1.5e6 - 1.0).abs() < 0.03, "{last} bytes in 3 s");
}
