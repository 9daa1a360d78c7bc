//! Congestion control compared with theory: equilibria, window functions and sawtooth patterns.

use crate::pair::{Fate, Pair};
use bytes::Bytes;
use mptcp::congestion::{Acked, Balia, CongestionControl, Cubic, Lia, Olia, Path, Reno};
use mptcp::policy::Factory;
use mptcp::{Config, SubflowInfo};
use mptcp_clock::{Duration, Instant};

const MSS: u64 = 1000;

/// Loss probability and RTT in milliseconds.
type Link = (f64, u64);

/// Cases of the fluid model: `references.md` 1.10 gives 447, 704 and 2235 packets per second.
const CASES: [&[Link]; 4] =
    [&[(1e-3, 100), (1e-3, 100)], &[(1e-2, 20), (1e-3, 150)], &[(1e-3, 20), (4e-3, 20)], &[(1e-3, 100)]];

fn path(segments: u64, rtt_ms: u64) -> Path {
    Path {
        cwnd: segments * MSS,
        ssthresh: MSS,
        mss: MSS,
        srtt: Some(Duration::from_millis(rtt_ms)),
        min_rtt: Some(Duration::from_millis(rtt_ms)),
        active: true,
        ..Path::default()
    }
}

/// Packets per second on each path where the mean increase equals the mean decrease: each packet is
/// acknowledged, and reduces the window by half with probability `p`.
fn equilibrium(algorithm: &mut dyn CongestionControl, links: &[Link]) -> Vec<f64> {
    let mut paths: Vec<Path> = links.iter().map(|&(_, rtt)| path(10, rtt)).collect();
    let mut owed = vec![0.0; links.len()];
    let mut due: Vec<f64> = links.iter().map(|&(_, rtt)| rtt as f64 / 1e3).collect();
    let mut packets = vec![0_u64; links.len()];
    let (settled, end) = (300.0, 600.0);
    loop {
        let at = (0..links.len()).min_by(|&a, &b| due[a].total_cmp(&due[b])).unwrap_or(0);
        let now = due[at];
        if now > end {
            break;
        }
        packets[at] += u64::from(now > settled);
        let acked = Acked { now: Instant::ZERO + Duration::from_secs_f64(now), bytes: MSS };
        algorithm.on_ack(&mut paths, at, acked);
        owed[at] += links[at].0 * paths[at].cwnd as f64 / 2.0;
        let whole = owed[at].floor();
        paths[at].cwnd -= whole as u64;
        owed[at] -= whole;
        due[at] += links[at].1 as f64 / 1e3 * MSS as f64 / paths[at].cwnd as f64;
    }
    packets.iter().map(|&count| count as f64 / (end - settled)).collect()
}

fn near(found: f64, expected: f64, tolerance: f64) -> bool {
    (found / expected - 1.0).abs() <= tolerance
}

#[test]
fn renos_equilibrium_is_the_square_root_law() {
    for (p, rtt) in [(1e-3, 100), (1e-2, 20), (4e-3, 20), (1e-3, 150)] {
        let expected = (2.0_f64 / p).sqrt() / (rtt as f64 / 1e3);
        let found = equilibrium(&mut Reno, &[(p, rtt)])[0];
        assert!(near(found, expected, 0.03), "p {p}, {rtt} ms: {found:.0}, not {expected:.0}");
    }
}

#[test]
fn lias_equilibrium_is_one_reno_on_the_best_path() {
    let shares: [&[f64]; 4] = [&[223.0, 224.0], &[406.0, 298.0], &[1789.0, 446.0], &[447.0]];
    for (links, expected) in CASES.iter().zip(shares) {
        let found = equilibrium(&mut Lia, links);
        for (found, expected) in found.iter().zip(expected) {
            assert!(near(*found, *expected, 0.05), "{links:?}: {found:.0}, not {expected:.0}");
        }
        let alone = links.iter().map(|&link| equilibrium(&mut Reno, &[link])[0]).fold(0.0, f64::max);
        let total: f64 = found.iter().sum();
        assert!(near(total, alone, 0.05), "{links:?}: {total:.0}, and Reno alone {alone:.0}");
    }
}

/// Packets per second of a bulk transfer over paths that lose every `1/p`-th data segment.
fn measured(congestion: impl Into<Factory<dyn CongestionControl>>, links: &[Link]) -> f64 {
    let config = Config {
        congestion: congestion.into(),
        receive_buffer: 8 << 20,
        send_buffer: 8 << 20,
        mss: 1460,
        ..Config::historical()
    };
    let latency: Vec<u64> = links.iter().map(|&(_, rtt)| rtt / 2).collect();
    let mut pair = Pair::builder().seed(1).links(&latency).config(config).connect();
    pair.check_encoding = false;
    let every: Vec<u64> = links.iter().map(|&(p, _)| (1.0 / p).round() as u64).collect();
    // The paths do not lose at the same time.
    let mut sent: Vec<u64> = every.iter().enumerate().map(|(at, every)| at as u64 * every / 3).collect();
    pair.rule = Box::new(move |to_server, path, segment| {
        if !to_server || segment.payload.is_empty() {
            return Fate::Deliver;
        }
        sent[path] += 1;
        if sent[path].is_multiple_of(every[path]) { Fate::Drop } else { Fate::Deliver }
    });
    let data = Bytes::from(vec![0; 1 << 20]);
    let (settled, end) = (Instant::ZERO + Duration::from_secs(40), Instant::ZERO + Duration::from_secs(240));
    let mut before = None;
    while pair.now < end {
        while pair.client.write(pair.now, pair.connection, data.clone()) > 0 {}
        pair.step();
        pair.received[0].clear();
        if pair.now >= settled && before.is_none() {
            before = Some(received(&pair));
        }
    }
    (received(&pair) - before.unwrap_or(0)) as f64 / 1424.0 / 200.0
}

fn received(pair: &Pair) -> u64 {
    pair.accepted.and_then(|id| pair.server.info(pair.now, id)).map_or(0, |info| info.bytes_received)
}

#[test]
fn lia_gets_as_much_as_one_reno_flow_on_the_best_path() {
    for links in CASES {
        let alone = links.iter().map(|&link| measured(Reno, &[link])).fold(0.0, f64::max);
        let total = measured(Lia, links);
        println!("{links:?}: LIA {total:.0}, Reno {alone:.0}, ratio {:.3}", total / alone);
        assert!(near(total, alone, 0.05), "{links:?}: LIA {total:.0} packets/s, Reno alone {alone:.0}");
        // Sawtooth patterns are below the fluid value, which squares the mean.
        let fluid = links.iter().map(|&(p, rtt)| (2.0 / p).sqrt() / (rtt as f64 / 1e3)).fold(0.0, f64::max);
        assert!(near(total, fluid, 0.25), "{links:?}: LIA {total:.0} packets/s, the fluid {fluid:.0}");
    }
}

#[test]
fn coupled_algorithms_equal_reno_on_a_single_path() {
    let coupled: [Factory<dyn CongestionControl>; 2] = [Olia::default().into(), Balia.into()];
    for kind in coupled {
        let (found, reno) = (measured(kind.clone(), CASES[3]), measured(Reno, CASES[3]));
        assert!(near(found, reno, 0.02), "{kind:?}: {found:.0} packets/s, Reno {reno:.0}");
    }
}

#[test]
fn olia_and_balia_get_about_as_much_as_one_reno_flow_on_the_best_path() {
    // Fixed points of the papers: OLIA's total is that of the best paths, which it uses alone; BALIA's is at
    // least LIA's.
    for links in &CASES[..3] {
        let alone = links.iter().map(|&link| measured(Reno, &[link])).fold(0.0, f64::max);
        let olia = measured(Olia::default(), links) / alone;
        let balia = measured(Balia, links) / alone;
        println!("{links:?}: OLIA {olia:.3}, BALIA {balia:.3} of Reno");
        assert!((0.75..1.15).contains(&olia), "{links:?}: OLIA {olia:.3} of Reno alone");
        assert!((0.85..1.35).contains(&balia), "{links:?}: BALIA {balia:.3} of Reno alone");
    }
}

#[test]
fn cubic_follows_its_window_function() {
    // RFC 9438 section 4.2, above Reno's estimate: a long path.
    let (mut cubic, mut paths) = (Cubic::default(), vec![path(1000, 200)]);
    let mut now = Instant::ZERO + Duration::from_secs(1);
    let (before, start) = (1000.0, now);
    paths[0].cwnd = cubic.on_loss(&mut paths, 0, now);
    paths[0].ssthresh = paths[0].cwnd;
    assert_eq!(paths[0].cwnd, 700 * MSS);
    let k = (before * 0.3_f64 / 0.4).cbrt();
    while now.since(start) < Duration::from_secs(15) {
        let window = paths[0].cwnd / MSS;
        for _ in 0..window {
            now += Duration::from_nanos(200_000_000 / window);
            cubic.on_ack(&mut paths, 0, Acked { now, bytes: MSS });
        }
        // The window of the next RTT is reached in this one.
        let t = now.since(start).as_secs_f64();
        let expected = 0.4 * (t - k).powi(3) + before;
        let found = paths[0].cwnd as f64 / MSS as f64;
        assert!(near(found, expected, 0.02), "after {t:.1} s: {found:.0} segments, not {expected:.0}");
    }
}

#[test]
fn cubic_uses_the_end_of_slow_start_as_plateau_after_a_timeout() {
    // RFC 9438 section 4.8: K is 0.
    let (mut cubic, mut paths) = (Cubic::default(), vec![path(1000, 200)]);
    let mut now = Instant::ZERO + Duration::from_secs(1);
    paths[0].ssthresh = cubic.on_loss(&mut paths, 0, now);
    cubic.on_timeout(&mut paths, 0);
    paths[0].cwnd = paths[0].ssthresh;
    let start = now;
    while now.since(start) < Duration::from_secs(8) {
        let window = paths[0].cwnd / MSS;
        for _ in 0..window {
            now += Duration::from_nanos(200_000_000 / window);
            cubic.on_ack(&mut paths, 0, Acked { now, bytes: MSS });
        }
    }
    let (found, expected) = (paths[0].cwnd as f64 / MSS as f64, 700.0 + 0.4 * 8.0_f64.powi(3));
    assert!(near(found, expected, 0.02), "{found:.0} segments, not {expected:.0}");
}

#[test]
fn cubic_grows_at_least_like_reno_on_short_paths() {
    // RFC 9438 section 4.3: alpha makes the mean equal to that of Reno.
    let (mut cubic, mut paths) = (Cubic::default(), vec![path(20, 10)]);
    let mut now = Instant::ZERO + Duration::from_secs(1);
    paths[0].cwnd = cubic.on_loss(&mut paths, 0, now);
    paths[0].ssthresh = paths[0].cwnd;
    let from = paths[0].cwnd as f64 / MSS as f64;
    for _ in 0..10 {
        for _ in 0..paths[0].cwnd / MSS {
            now += Duration::from_nanos(10_000_000 / (paths[0].cwnd / MSS));
            cubic.on_ack(&mut paths, 0, Acked { now, bytes: MSS });
        }
    }
    let grown = paths[0].cwnd as f64 / MSS as f64 - from;
    let expected = 10.0 * 3.0 * 0.3 / 1.7;
    assert!((grown - expected).abs() < 1.0, "{grown:.1} segments in ten round trips, not {expected:.1}");
}

/// Congestion window of the only subflow at each RTT.
fn windows(pair: &mut Pair, rounds: usize, rtt: Duration) -> Vec<SubflowInfo> {
    let data = Bytes::from(vec![0; 1 << 20]);
    (0..rounds)
        .map(|_| {
            let end = pair.now + rtt;
            while pair.now < end {
                while pair.client.write(pair.now, pair.connection, data.clone()) > 0 {}
                pair.run(Duration::from_millis(1));
            }
            pair.client.info(pair.now, pair.connection).map(|info| info.subflows[0].clone()).expect("open")
        })
        .collect()
}

#[test]
fn slow_start_doubles_each_round_trip() {
    let mut pair = Pair::builder().seed(2).links(&[50]).config(Config::tcp()).connect();
    let cwnds: Vec<u64> = windows(&mut pair, 8, Duration::from_millis(100)).iter().map(|s| s.cwnd).collect();
    // The handshake takes the first round; later the window is always full.
    for pair in cwnds[2..].windows(2) {
        assert!(near(pair[1] as f64, 2.0 * pair[0] as f64, 0.02), "{cwnds:?}");
    }
}

#[test]
fn reno_adds_a_segment_each_round_trip_and_halves_at_a_loss() {
    let mut pair = Pair::builder().seed(3).links(&[50]).config(Config::tcp()).connect();
    let mut count = 0;
    pair.rule = Box::new(move |to_server, _, segment| {
        count += u64::from(to_server && !segment.payload.is_empty());
        if to_server && !segment.payload.is_empty() && count == 400 { Fate::Drop } else { Fate::Deliver }
    });
    let rounds = windows(&mut pair, 40, Duration::from_millis(100));
    let cut = rounds.iter().position(|s| s.ssthresh.is_some()).expect("a loss");
    let before = rounds[cut - 1].cwnd.max(rounds[cut].ssthresh.unwrap_or(0));
    assert!(rounds[cut].ssthresh.is_some_and(|to| to * 2 >= before), "{:?}", rounds[cut]);
    let calm = &rounds[cut + 3..];
    for pair in calm.windows(2) {
        let grown = (pair[1].cwnd - pair[0].cwnd) as f64 / pair[0].mss as f64;
        assert!((grown - 1.0).abs() < 0.1, "{grown:.2} segments in a round trip");
    }
}
