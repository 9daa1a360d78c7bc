//! Fixed points of the coupled controllers of the literature, compared with the fluid equations of their papers.
//!
//! Owns a fluid model: each packet is acknowledged, and carries its share of the mean decrease.

use mptcp::congestion::{Acked, CongestionControl, Coupled, Ewtcp, KellyVoice, Mark, Path, Reno, Xmp};
use mptcp_clock::{Duration, Instant};

const MSS: u64 = 1000;

/// The congestion signal of a path.
#[derive(Clone, Copy)]
enum Signal {
    /// Probability that a packet is lost.
    Loss(f64),
    /// Probability that an RTT has marks.
    Marks(f64),
}

/// A path: its signal, and its RTT in milliseconds.
type Link = (Signal, u64);

/// Mean windows in segments between 150 and 300 s.
fn windows(algorithm: &mut dyn CongestionControl, links: &[Link]) -> Vec<f64> {
    let path = |rtt_ms: u64| {
        let rtt = Some(Duration::from_millis(rtt_ms));
        Path {
            cwnd: 10 * MSS,
            ssthresh: MSS,
            mss: MSS,
            srtt: rtt,
            min_rtt: rtt,
            active: true,
            ..Path::default()
        }
    };
    let mut paths: Vec<Path> = links.iter().map(|&(_, rtt)| path(rtt)).collect();
    let mut owed = vec![0.0; links.len()];
    let mut due: Vec<f64> = links.iter().map(|&(_, rtt)| rtt as f64 / 1e3).collect();
    let mut area = vec![0.0; links.len()];
    let (settled, end) = (150.0, 300.0);
    loop {
        let at = (0..links.len()).min_by(|&a, &b| due[a].total_cmp(&due[b])).unwrap_or(0);
        let seconds = due[at];
        if seconds > end {
            return area.iter().map(|area| area / (end - settled) / MSS as f64).collect();
        }
        let now = Instant::ZERO + Duration::from_secs_f64(seconds);
        let share = MSS as f64 / paths[at].cwnd as f64;
        let (probability, grows) = match links[at].0 {
            Signal::Loss(p) => (p, 1.0 - p),
            // Per packet. The window does not grow in an RTT with marks.
            Signal::Marks(p) => (p * share, 1.0 - p),
        };
        let before = paths[at].cwnd;
        let reduced = match links[at].0 {
            Signal::Loss(_) => algorithm.on_loss(&mut paths, at, now),
            Signal::Marks(_) => algorithm.on_mark(&mut paths, at, Mark { now, abe: false }),
        };
        owed[at] += probability * before.saturating_sub(reduced) as f64;
        algorithm.on_ack(&mut paths, at, Acked { now, bytes: (MSS as f64 * grows) as u64 });
        let whole = owed[at].floor();
        paths[at].cwnd = (paths[at].cwnd - whole as u64).max(2 * MSS);
        owed[at] -= whole;
        let interval = links[at].1 as f64 / 1e3 * share;
        if seconds > settled {
            area[at] += paths[at].cwnd as f64 * interval;
        }
        due[at] += interval;
    }
}

fn losses(links: &[(f64, u64)]) -> Vec<Link> {
    links.iter().map(|&(p, rtt)| (Signal::Loss(p), rtt)).collect()
}

fn check(name: &str, found: f64, expected: f64, tolerance: f64) {
    println!(
        "{name}: {found:.1} segments, {expected:.1} expected ({:+.1}%)",
        100.0 * (found / expected - 1.0)
    );
    assert!((found / expected - 1.0).abs() <= tolerance, "{name}: {found:.2}, not {expected:.2}");
}

/// Checks the paths with a higher loss probability than `best`. A loss leaves them two segments, and their mean growth
/// between two losses is `growth` segments.
fn check_others(found: &[f64], links: &[(f64, u64)], best: f64, growth: impl Fn(f64) -> f64) {
    for (window, &(p, _)) in found.iter().zip(links).filter(|(_, link)| link.0 > best) {
        check(&format!("window at loss {p}"), *window, 2.0 + growth(p), 0.05);
    }
}

/// `w = sqrt(2 a / p)` on each subflow; with `a = 1 / n^2`, `n` subflows together have TCP's window.
#[test]
fn ewtcp_has_the_window_of_a_weighted_tcp() {
    for subflows in [1, 2, 4] {
        let links = losses(&vec![(1e-3, 100); subflows]);
        let n = subflows as f64;
        for exponent in [2.0, 0.5] {
            let found = windows(&mut Ewtcp::new(exponent), &links);
            let expected = (2.0 * n.powf(-exponent) / 1e-3_f64).sqrt();
            check(&format!("EWTCP, n {n}, a = n^-{exponent}"), found[0], expected, 0.03);
        }
        let total: f64 = windows(&mut Ewtcp::default(), &links).iter().sum();
        let tcp = windows(&mut Reno, &links[..1])[0];
        check(&format!("EWTCP, n {n}, total against TCP"), total, tcp, 0.03);
    }
    // The subflows do not move their windows to the better path.
    let found = windows(&mut Ewtcp::default(), &losses(&[(1e-3, 100), (4e-3, 100)]));
    check("EWTCP, the ratio of two windows", found[0] / found[1], 2.0, 0.03);
}

/// `w_total = sqrt(2 / p)` with the lowest loss probability; paths with a higher one keep about the minimum window.
#[test]
fn coupled_has_the_window_of_tcp_on_the_best_path() {
    for links in [
        vec![(1e-3, 100)],
        vec![(1e-3, 100), (1e-3, 100)],
        vec![(1e-3, 20), (4e-3, 20)],
        vec![(4e-4, 50), (1e-3, 50), (2e-3, 50)],
    ] {
        let found = windows(&mut Coupled, &losses(&links));
        let best = links.iter().map(|link| link.0).fold(1.0, f64::min);
        check(&format!("COUPLED, {links:?}"), found.iter().sum(), (2.0 / best).sqrt(), 0.05);
        check_others(&found, &links, best, |p| 1.0 / (p * (2.0 / best).sqrt()));
    }
}

/// `y T = a (1 - p) / (b p)`, on the path with the lowest loss probability.
#[test]
fn kelly_voice_has_a_total_window_inverse_to_the_loss_probability() {
    for links in [vec![(1e-3, 100)], vec![(1e-3, 100), (1e-3, 100)], vec![(5e-4, 50), (2e-3, 50)]] {
        let found = windows(&mut KellyVoice::default(), &losses(&links));
        let best: f64 = links.iter().map(|link| link.0).fold(1.0, f64::min);
        let expected = KellyVoice::INCREASE * (1.0 - best) / (KellyVoice::DECREASE * best);
        check(&format!("Kelly and Voice, {links:?}"), found.iter().sum(), expected, 0.05);
        check_others(&found, &links, best, |p| KellyVoice::INCREASE * (1.0 - p) / p);
    }
}

/// `p = 1 / (1 + w / (delta beta))` for one subflow; the total of several is that of one on the best path.
#[test]
fn xmp_has_the_window_of_one_bos_flow() {
    for (p, beta) in [(0.1, 4.0), (0.05, 4.0), (0.1, 6.0)] {
        let expected = beta * (1.0 - p) / p;
        let one = windows(&mut Xmp::new(beta), &[(Signal::Marks(p), 1)]);
        check(&format!("BOS, p {p}, beta {beta}"), one[0], expected, 0.03);
        let two = windows(&mut Xmp::new(beta), &[(Signal::Marks(p), 1), (Signal::Marks(p), 1)]);
        check(&format!("XMP, two subflows, p {p}, beta {beta}"), two.iter().sum(), expected, 0.05);
        let moved = windows(&mut Xmp::new(beta), &[(Signal::Marks(p), 1), (Signal::Marks(2.0 * p), 1)]);
        assert!(moved[1] < 3.0, "the subflow with more marks keeps {:.1} segments", moved[1]);
    }
}
