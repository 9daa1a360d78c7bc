//! Queues against theory: utilisation, and the mean wait of M/D/1 with and without a finite queue.

use crate::common::{Pair, line};
use mptcp_clock::{Duration, Instant, Rng};
use netsim::{Parameters, QueueLimit};

const SERVICE: f64 = 1e-3;
const FRAMES: u64 = 400_000;

/// Mean queueing delay in seconds and loss rate, for Poisson arrivals of 1000-byte frames at 8 Mb/s with
/// utilisation `rho`.
fn poisson(rho: f64, queue: QueueLimit) -> (f64, f64) {
    let mut pair = Pair::new(Parameters { queue, ..line(0) });
    let mut stream = Rng::new(11, "poisson");
    let (mut now, mut sent, mut total) = (Instant::ZERO, Vec::new(), 0.0);
    let mut arrived = Vec::new();
    for number in 0..FRAMES {
        now += Duration::from_secs_f64(-(1.0 - stream.unit()).ln() * SERVICE / rho);
        arrived.extend(pair.arrivals_until(now));
        sent.push(now);
        pair.send(now, 1000, number);
    }
    arrived.extend(pair.arrivals());
    for &(at, number) in &arrived {
        total += Instant::from_nanos(at).since(sent[number as usize]).as_secs_f64() - SERVICE;
    }
    (total / arrived.len() as f64, 1.0 - arrived.len() as f64 / FRAMES as f64)
}

#[test]
fn the_mean_wait_is_that_of_pollaczek_and_khinchine() {
    for rho in [0.3, 0.5, 0.8] {
        let expected = rho * SERVICE / (2.0 * (1.0 - rho));
        let (wait, dropped) = poisson(rho, QueueLimit::Unlimited);
        assert!((wait / expected - 1.0).abs() < 0.04, "load {rho}: {wait} s, {expected} s expected");
        assert!(dropped == 0.0);
    }
}

#[test]
fn a_queue_of_one_drops_as_erlang_says() {
    // One frame in service and none queued: M/D/1/1, with blocking probability rho / (1 + rho).
    let (wait, dropped) = poisson(0.8, QueueLimit::Packets(1));
    assert!((dropped - 0.8 / 1.8).abs() < 0.005, "{dropped} dropped");
    assert!(wait.abs() < 1e-9);
}

#[test]
fn a_saturated_line_carries_exactly_its_rate() {
    let mut pair = Pair::new(Parameters { queue: QueueLimit::Packets(10), ..line(5) });
    for tick in 0..20_000u64 {
        let now = Instant::from_nanos(tick * 500_000);
        pair.arrivals_until(now);
        pair.send(now, 1000, tick);
    }
    let counters = pair.network.counters(pair.link.forward());
    // 9.9995 s at 1000 frames per second, with twice that offered.
    assert_eq!(counters.sent_frames, 9999);
    assert_eq!(counters.max_backlog_frames, 10);
}
