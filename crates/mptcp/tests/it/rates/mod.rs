//! Rate-based controllers on a simulated link: the test cases of draft-ietf-ccwg-bbr, appendix "BBR Example
//! Test Cases".

mod line;

use line::{Line, MSS};
use mptcp::congestion::{Bbr, Bbr3, CongestionControl};
use mptcp_clock::Duration;

/// 20 Mb/s and 40 ms: a bandwidth-delay product of 100 kB.
const RATE: f64 = 2.5e6;
const PRODUCT: u64 = 100_000;

fn line(controller: impl CongestionControl + 'static, queue: u64) -> Line {
    Line::new(Box::new(controller), RATE, Duration::from_millis(40), queue)
}

/// Pacing rate after each acknowledgement, relative to the link rate.
fn gains(line: &Line) -> Vec<f64> {
    line.log.iter().map(|entry| entry.pace / RATE).collect()
}

#[test]
fn startup_doubles_until_the_bandwidth_is_found_and_then_drains() {
    for (mut line, gain, drain) in
        [(line(Bbr::default(), 10 * PRODUCT), 2.885, 0.35), (line(Bbr3::default(), 10 * PRODUCT), 2.77, 0.5)]
    {
        line.run(Duration::from_secs(2));
        let gains = gains(&line);
        let highest = gains.iter().copied().fold(0.0, f64::max);
        // Within 2% of the link rate, and a margin of 1%.
        assert!((highest / (gain * 0.99) - 1.0).abs() < 0.02, "{highest}");
        let top = gains.iter().position(|gain| *gain > 0.98 * highest).expect("it is there");
        let fell = gains.iter().skip(top).position(|gain| *gain < 1.0).expect("it drains") + top;
        assert!((gains[fell] / (drain * 0.99) - 1.0).abs() < 0.04, "{}", gains[fell]);
        // Three rounds without growth, each longer than 40 ms because the pipe is full.
        let plateau = line.log[fell].now.since(line.log[top].now);
        assert!((Duration::from_millis(100)..Duration::from_millis(500)).contains(&plateau), "{plateau:?}");
        // In the end, slightly more than the bandwidth-delay product is in flight.
        let last = line.log.last().expect("there are some");
        assert!(last.in_flight < 3 * PRODUCT / 2, "{}", last.in_flight);
    }
}

/// Twice the bandwidth-delay product, three quanta, and two segments while probing (Linux's `bbr_quantization_budget`).
#[test]
fn window_allows_for_aggregated_acknowledgements() {
    let mut line = line(Bbr::default(), 10 * PRODUCT);
    line.run(Duration::from_secs(5));
    let quantum = line.state().quantum;
    assert!(quantum >= 2 * MSS, "{quantum}");
    let cycle = &line.log[line.log.len() - 500..];
    for (probes, room) in [(true, 3 * quantum + 2 * MSS), (false, 3 * quantum)] {
        let windows =
            cycle.iter().filter(|entry| (entry.pace > 1.1 * RATE) == probes).map(|entry| entry.cwnd);
        let most = windows.max().expect("there are some");
        // The bandwidth estimate is accurate to 1%.
        assert!(most.abs_diff(2 * PRODUCT + room) < 2 * PRODUCT / 100, "{probes} {most}");
    }
}

#[test]
fn application_limited_flow_stays_in_startup() {
    for mut line in [line(Bbr::default(), 10 * PRODUCT), line(Bbr3::default(), 10 * PRODUCT)] {
        // A quarter of the link rate.
        line.offered = Some(RATE / 4.0);
        line.run(Duration::from_secs(4));
        let pace = line.log.last().expect("there are some").pace;
        assert!(pace > 2.0 * RATE / 4.0, "{pace}");
        line.offered = None;
        line.run(Duration::from_secs(6));
        let settled = &line.log[line.log.len() - 200..];
        assert!(settled.iter().all(|entry| (0.6..1.4).contains(&(entry.pace / RATE))));
    }
}

#[test]
fn bbr3_startup_ends_after_losses() {
    let (mut shallow, mut deep) = (line(Bbr3::default(), PRODUCT / 4), line(Bbr::default(), PRODUCT / 4));
    for line in [&mut shallow, &mut deep] {
        line.run(Duration::from_secs(2));
    }
    // BBR version 1 continues for three rounds with more than half of the data lost.
    assert!(shallow.lost < deep.lost, "{} {}", shallow.lost, deep.lost);
    assert!(shallow.lost > 0);
}

#[test]
fn bbr3_startup_without_sack_ends_after_any_loss() {
    // At least 1% is lost while the rate still grows.
    let pace = |selective| {
        let mut line = line(Bbr3::default(), 10 * PRODUCT);
        line.selective = selective;
        line.run(Duration::from_millis(140));
        line.lose_next(1);
        line.run(Duration::from_millis(120));
        assert_eq!(line.lost, MSS);
        line.state().pacing.expect("it paces") / RATE
    };
    assert!(pace(true) > 2.0, "{}", pace(true));
    assert!(pace(false) < 1.1, "{}", pace(false));
}

#[test]
fn probe_rtt_starts_in_time() {
    for (controller, least, from, to) in [
        (Box::new(Bbr::default()) as Box<dyn CongestionControl>, 4 * MSS, 9.9, 10.5),
        (Box::new(Bbr3::default()), PRODUCT / 2, 4.9, 5.5),
    ] {
        let mut line = Line::new(controller, RATE, Duration::from_millis(40), 10 * PRODUCT);
        line.run(Duration::from_secs(12));
        let held: Vec<_> = line.log.iter().filter(|entry| entry.held_back).collect();
        let (first, end) = (held[0].now.as_secs_f64(), held[0].now + Duration::from_secs(1));
        assert!((from..to).contains(&first), "{first}");
        let this: Vec<_> = held.iter().filter(|entry| entry.now < end).collect();
        let length = this[this.len() - 1].now.since(this[0].now);
        assert!((Duration::from_millis(200)..Duration::from_millis(320)).contains(&length), "{length:?}");
        let lowest = this.iter().map(|entry| entry.cwnd).min().expect("there are some");
        assert!(lowest.abs_diff(least) <= least / 20, "{lowest}");
        // The window is restored.
        let before = line.log.iter().rev().find(|entry| entry.now < this[0].now).expect("one").cwnd;
        let after = line.log.iter().find(|entry| entry.now > this[this.len() - 1].now).expect("one").cwnd;
        assert!(after * 10 > before * 8, "{before} {after}");
    }
}

#[test]
fn idle_time_replaces_probe_rtt() {
    for mut line in [line(Bbr::default(), 10 * PRODUCT), line(Bbr3::default(), 10 * PRODUCT)] {
        line.run(Duration::from_secs(3));
        let window = line.log.last().expect("there are some").cwnd;
        line.pause(Duration::from_secs(20));
        let from = line.log.len();
        line.run(Duration::from_secs(1));
        let resumed = &line.log[from..];
        assert!(resumed.iter().all(|entry| !entry.held_back));
        // At once, but not faster than the link.
        assert!(resumed[0].cwnd * 10 > window * 8, "{} {window}", resumed[0].cwnd);
        assert!(resumed[0].pace < 1.02 * RATE, "{}", resumed[0].pace);
    }
}

#[test]
fn spurious_losses_are_undone() {
    let mut line = line(Bbr3::default(), 10 * PRODUCT);
    line.run(Duration::from_secs(2));
    let window = line.state().cwnd;
    line.lose_next(200);
    line.run(Duration::from_millis(300));
    let reduced = line.state().cwnd;
    assert!(reduced < window, "{reduced} {window}");
    line.undo();
    assert!(line.state().cwnd >= window, "{} {window}", line.state().cwnd);
}

/// Several losses detected by one acknowledgement end a probe. If they are spurious, the probe restarts with the previous
/// in-flight limit.
#[test]
fn probe_ended_by_spurious_losses_restarts() {
    let mut line = line(Bbr3::default(), 10 * PRODUCT);
    line.run(Duration::from_secs(2));
    let probes = |line: &Line| line.state().pacing.is_some_and(|pace| pace > 1.1 * RATE);
    let wait = |line: &mut Line, most: u64| {
        (0..most).any(|_| {
            line.run(Duration::from_millis(1));
            probes(line)
        })
    };
    assert!(wait(&mut line, 4000), "it probes within three seconds");
    line.run(Duration::from_millis(60));
    assert!(probes(&line));
    line.lose_next(8);
    let from = line.lost;
    while line.lost == from {
        line.run(Duration::from_millis(1));
    }
    assert!(!probes(&line), "too many losses");
    line.undo();
    assert!(wait(&mut line, 250), "refill, a round trip, and up");
    assert!(line.state().cwnd >= 2 * PRODUCT, "{}", line.state().cwnd);
}

#[test]
fn recovery_starts_with_packet_conservation_and_restores_the_window() {
    let mut line = line(Bbr::default(), 10 * PRODUCT);
    line.run(Duration::from_secs(2));
    let window = line.state().cwnd;
    line.lose_next(20);
    let from = line.log.len();
    line.run(Duration::from_millis(400));
    let repairing: Vec<_> = line.log[from..].iter().filter(|entry| entry.repairs).collect();
    let first = repairing.first().expect("it repairs");
    assert!(first.cwnd < window && first.cwnd >= first.in_flight, "{} {window}", first.cwnd);
    let over = line.log[from..].iter().rev().take_while(|entry| !entry.repairs).last().expect("it ends");
    assert!(over.cwnd * 10 > window * 9, "{} {window}", over.cwnd);
    // The model is unchanged.
    assert!((0.7..1.3).contains(&(line.log.last().expect("one").pace / RATE)));
}

#[test]
fn rate_recovers_within_a_second_after_a_timeout() {
    for mut line in [line(Bbr::default(), 10 * PRODUCT), line(Bbr3::default(), 10 * PRODUCT)] {
        line.run(Duration::from_secs(2));
        line.time_out();
        assert_eq!(line.state().cwnd, MSS);
        line.run(Duration::from_secs(1));
        let tail = &line.log[line.log.len() - 50..];
        assert!(tail.iter().all(|entry| entry.in_flight > PRODUCT / 2));
    }
}

#[test]
fn both_versions_follow_their_probing_cycles() {
    let period = |line: &Line, from: f64| {
        let mut starts = Vec::new();
        let mut fast = false;
        for entry in line.log.iter().filter(|entry| entry.now.as_secs_f64() > from) {
            let faster = entry.pace > 1.1 * RATE;
            if faster && !fast {
                starts.push(entry.now.as_secs_f64());
            }
            fast = faster;
        }
        (starts[starts.len() - 1] - starts[0]) / (starts.len() - 1) as f64
    };
    let mut first = line(Bbr::default(), 10 * PRODUCT);
    first.run(Duration::from_secs(9));
    // Eight minimum RTTs, one of them longer.
    let cycle = period(&first, 1.0);
    assert!((0.32..0.42).contains(&cycle), "{cycle}");
    let mut third = line(Bbr3::default(), 10 * PRODUCT);
    third.run(Duration::from_secs(30));
    // Two to three seconds or 63 rounds, plus the time of Refill and Up, and ProbeRTT from time to time.
    let cycle = period(&third, 1.0);
    assert!((2.0..4.2).contains(&cycle), "{cycle}");
}
