//! Whole stacks on lossy links against theory: Reno against the square-root law, LIA against Reno.
//!
//! The fluid model says that LIA's total equals Reno on the best path. With losses that fall by chance it
//! does so on like paths; on unlike ones windows of a few segments scatter, and the minimum in RFC 6356's
//! increase keeps a part of it back. An AIMD model with the same chance (`model`) has that part too, and
//! is what the stack has to meet there.

use mptcp_clock::Stream;
use mptcp_lab::scenario::Scenario;
use mptcp_lab::world::World;

const SECONDS: u64 = 420;
const WARMUP: u64 = 20;
const SEEDS: u64 = 4;

/// Loss probability and round trip in milliseconds.
type Path = (f64, u64);

/// Packets per second of the real stack.
fn stack(paths: &[Path], congestion: &str) -> f64 {
    let mut text = format!("duration = \"{SECONDS}s\"\nwarmup = \"{WARMUP}s\"\nsample = \"10s\"\n");
    for (i, (loss, rtt)) in paths.iter().enumerate() {
        let percent = loss * 100.0;
        text += &format!(
            "[paths.p{i}]\nrate = \"1Gbit\"\nrtt = \"{rtt}ms\"\nqueue = \"100000p\"\nforward.loss = \"{percent}%\"\n"
        );
    }
    let (transport, mss) = if paths.len() > 1 { ("mptcp", 1424.0) } else { ("tcp", 1448.0) };
    text += &format!(
        "[flows.bulk]\ntransport = \"{transport}\"\ncongestion = \"{congestion}\"\nrcvbuf = \"16MB\"\nsndbuf = \"16MB\"\n\
         opportunistic_retransmission = false\npenalisation = false\ndelayed_ack = false\n"
    );
    let scenario = Scenario::parse(&text, "theory").unwrap_or_else(|e| panic!("{e}"));
    let runs = (1..=SEEDS).map(|seed| World::new(&scenario, seed).expect("a network").run());
    runs.map(|run| run.flows[0].goodput / 8.0 / mss).sum::<f64>() / SEEDS as f64
}

/// Packets per second of windows that grow by the rule and are halved by the same chance, at most once
/// in a round trip.
fn model(paths: &[Path]) -> f64 {
    let mut chance = Stream::new(1, "model");
    let rtt: Vec<f64> = paths.iter().map(|&(_, rtt)| rtt as f64 / 1e3).collect();
    let (mut window, mut calm, mut next) =
        (vec![10.0_f64; paths.len()], vec![0.0; paths.len()], vec![0.0; paths.len()]);
    let end = 1_500.0;
    let mut packets = 0_u64;
    loop {
        let i = (0..paths.len()).min_by(|&a, &b| f64::total_cmp(&next[a], &next[b])).unwrap_or(0);
        let now = next[i];
        if now >= end {
            return packets as f64 / end;
        }
        packets += 1;
        if now >= calm[i] {
            if chance.chance(paths[i].0) {
                window[i] = (window[i] / 2.0).max(2.0);
                calm[i] = now + rtt[i];
            } else {
                let best = (0..paths.len()).map(|k| window[k] / rtt[k].powi(2)).fold(0.0, f64::max);
                let sum: f64 = (0..paths.len()).map(|k| window[k] / rtt[k]).sum();
                window[i] += (best / (sum * sum)).min(1.0 / window[i]);
            }
        }
        next[i] = now + rtt[i] / window[i];
    }
}

#[test]
fn reno_meets_the_square_root_law_within_a_tenth() {
    for (loss, rtt) in [(1e-3, 100), (1e-2, 20), (1e-3, 20)] {
        let measured = stack(&[(loss, rtt)], "reno");
        let law = (2.0 / loss).sqrt() / (rtt as f64 / 1e3);
        assert!((measured / law - 1.0).abs() < 0.1, "p {loss}, {rtt} ms: {measured:.0} against {law:.0}");
    }
}

#[test]
fn lia_on_like_paths_takes_what_reno_takes_on_one() {
    for paths in [&[(1e-3, 100), (1e-3, 100)][..], &[(1e-3, 20)]] {
        let (total, alone) = (stack(paths, "lia"), stack(&paths[..1], "reno"));
        assert!((total / alone - 1.0).abs() < 0.05, "{paths:?}: {total:.0} against {alone:.0} packets/s");
    }
}

#[test]
fn lia_on_unlike_paths_does_what_its_rule_does_by_chance() {
    for paths in [[(1e-2, 20), (1e-3, 150)], [(1e-3, 20), (4e-3, 20)]] {
        let (total, expected) = (stack(&paths, "lia"), model(&paths));
        assert!(
            (total / expected - 1.0).abs() < 0.05,
            "{paths:?}: {total:.0} against {expected:.0} packets/s"
        );
        let best = paths.iter().map(|&path| stack(&[path], "reno")).fold(0.0, f64::max);
        assert!(total < 1.05 * best, "{paths:?}: {total:.0} is more than one TCP's {best:.0} packets/s");
    }
}
