//! CUBIC of RFC 9438 with CUBIC as Linux computes it.

use super::*;

const LINUX: &str = "{ kind = \"cubic\", as = \"linux\" }";

/// RFC 9438 and the kernel compute the same curve: each gets half of the link. The kernel's is slightly slower
/// in small windows, where Reno would be faster.
#[test]
fn both_computations_share_a_bottleneck() {
    let shares = each(1..=5, |seed| {
        let network = Bottleneck::new(20.0, 40.0, 1.0).lasting(60.0, 10.0).seeded(seed);
        share(&network.with('c', "\"cubic\"", 2).with('l', LINUX, 2).run(), 'l')
    });
    println!("{shares:.3?}");
    assert!((0.4..=0.55).contains(&mean(shares.iter().copied())), "{shares:?}");
}

/// RFC 9438 section 5.1, response to losses: at a long RTT with random loss p, the window of CUBIC is
/// proportional to p^-0.75, and that of Reno to p^-0.5.
#[test]
fn losses_ten_times_rarer_are_worth_more_than_to_reno() {
    let rate = |congestion: &str, loss: f64| {
        mean(each(1..=5, |seed| {
            let network = Bottleneck::new(100.0, 100.0, 1.0).losing(loss).lasting(40.0, 10.0).seeded(seed);
            goodput(&network.with('f', congestion, 1).run(), 'f')
        }))
    };
    let gain = |congestion| rate(congestion, 0.01) / rate(congestion, 0.1);
    let (cubic, linux, reno) = (gain("\"cubic\""), gain(LINUX), gain("\"reno\""));
    println!("{cubic:.2} {linux:.2} {reno:.2}");
    for gain in [cubic, linux] {
        // 10^0.75 = 5.6, and 10^0.5 = 3.2.
        assert!((4.4..7.0).contains(&gain), "{gain}");
    }
    assert!((2.4..4.2).contains(&reno), "{reno}");
}
