//! CUBIC beside CUBIC as Linux computes it.

use super::*;

const LINUX: &str = "{ kind = \"cubic\", as = \"linux\" }";

/// What RFC 9438 and the kernel compute is the same curve: side by side each gets its half. The kernel's is a little slower where
/// Reno would be faster, in small windows.
#[test]
fn both_computations_share_a_bottleneck() {
    let shares = each(1..=5, |seed| {
        let network = Bottleneck::new(20.0, 40.0, 1.0).lasting(60.0, 10.0).seeded(seed);
        share(&network.with('c', "\"cubic\"", 2).with('l', LINUX, 2).run(), 'l')
    });
    println!("{shares:.3?}");
    assert!((0.4..=0.55).contains(&mean(shares.iter().copied())), "{shares:?}");
}

/// RFC 9438 section 5.1, the response to losses: with random losses of p, windows of CUBIC at a long round trip go with p to the power of
/// minus three quarters, where Reno's go with the root.
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
