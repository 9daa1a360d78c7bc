//! The controllers against their equations, driven by expected values: no chance, no network.
//!
//! With loss probability p on every packet a window grows by its rule at the rate of the acknowledgements
//! and falls by its half at the rate of the losses. Where both are equal is the fixed point of the fluid
//! model, known in closed form for Reno, and for LIA by what it promises (RFC 6356 section 2).

use mptcp::congestion::{Acked, CongestionControl, Lia, PathState, Reno};
use mptcp_clock::{Duration, Instant};

const MSS: f64 = 1448.0;

fn path(rtt_ms: u64) -> PathState {
    PathState {
        cwnd: 10 * MSS as u64,
        ssthresh: 0,
        mss: MSS as u64,
        srtt: Some(Duration::from_millis(rtt_ms)),
        min_rtt: Some(Duration::from_millis(rtt_ms)),
        active: true,
        credit: 0.0,
    }
}

/// Packets per second on each of the paths, given as loss probability and round trip in milliseconds.
fn fixed_point(algorithm: &mut dyn CongestionControl, paths: &[(f64, u64)]) -> Vec<f64> {
    let mut states: Vec<PathState> = paths.iter().map(|&(_, rtt)| path(rtt)).collect();
    let mut falls = vec![0.0; paths.len()];
    let step = 1e-3;
    for tick in 0..600_000_u64 {
        let now = Instant::from_nanos(tick * 1_000_000);
        for (i, &(loss, rtt)) in paths.iter().enumerate() {
            let packets = states[i].cwnd as f64 / MSS / (rtt as f64 / 1e3) * step;
            algorithm.on_ack(
                &mut states,
                i,
                Acked { now, bytes: (packets * (1.0 - loss) * MSS).round() as u64 },
            );
            falls[i] += packets * loss * states[i].cwnd as f64 / 2.0;
            let whole = (falls[i] as u64).min(states[i].cwnd - 100);
            states[i].cwnd -= whole;
            falls[i] -= whole as f64;
        }
    }
    states.iter().zip(paths).map(|(state, &(_, rtt))| state.cwnd as f64 / MSS / (rtt as f64 / 1e3)).collect()
}

#[test]
fn reno_meets_the_square_root_law() {
    for (loss, rtt) in [(1e-3, 100), (1e-2, 20), (4e-3, 50)] {
        let rate = fixed_point(&mut Reno, &[(loss, rtt)])[0];
        let law = (2.0 * (1.0 - loss) / loss).sqrt() / (rtt as f64 / 1e3);
        assert!((rate / law - 1.0).abs() < 0.02, "p {loss}, {rtt} ms: {rate:.0} against {law:.0} packets/s");
    }
}

#[test]
fn lia_in_total_takes_what_reno_takes_on_the_best_path() {
    let cases: [&[(f64, u64)]; 4] =
        [&[(1e-3, 100), (1e-3, 100)], &[(1e-2, 20), (1e-3, 150)], &[(1e-3, 20), (4e-3, 20)], &[(1e-3, 20)]];
    for paths in cases {
        let total: f64 = fixed_point(&mut Lia, paths).iter().sum();
        let best = paths.iter().map(|&one| fixed_point(&mut Reno, &[one])[0]).fold(0.0, f64::max);
        assert!((total / best - 1.0).abs() < 0.05, "{paths:?}: {total:.0} against {best:.0} packets/s");
    }
}
