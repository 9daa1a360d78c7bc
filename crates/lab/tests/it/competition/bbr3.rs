//! BBR version 3. draft-ietf-ccwg-bbr (August 2026); Cardwell et al., "BBRv3: Algorithm Bug Fixes and Public Internet Deployment",
//! slides of IETF 117, July 2023; Zeynali et al., "Promises and Potential of BBRv3", PAM 2024.

use super::*;

const BBR: &str = "\"bbr\"";
const BBR3: &str = "\"bbr3\"";
const CUBIC: &str = "\"cubic\"";

/// Draft section 5.3.1.1: the window gain in Startup is 2, so at most about one BDP is queued, where version 1
/// with 2.885 queues nearly two.
#[test]
fn startup_leaves_one_product_waiting() {
    let network = Bottleneck::new(100.0, 40.0, 10.0).lasting(5.0, 1.0);
    let most = |congestion| {
        let measured = network.clone().with('f', congestion, 1).run();
        series(&measured, Metric::Queue, 0.0).iter().map(|sample| sample.1).fold(0.0, f64::max)
            / network.product()
    };
    let (ours, before) = (most(BBR3), most(BBR));
    println!("{ours:.2} {before:.2}");
    assert!((0.8..1.2).contains(&ours), "{ours}");
    assert!(before > 1.6 * ours, "{before}");
}

/// Slides of IETF 117 and draft section 5.3.3.8: with one CUBIC flow, BBRv3 gets about half, from half a BDP
/// of buffer to four; version 1 gets nine tenths up to one BDP.
#[test]
fn one_cubic_keeps_about_half() {
    for buffer in [0.5, 1.0, 4.0] {
        let shares = |congestion| {
            each(1..=3, |seed| {
                let network = Bottleneck::new(50.0, 40.0, buffer).lasting(60.0, 20.0).seeded(seed);
                share(&network.with('c', CUBIC, 1).with('b', congestion, 1).run(), 'b')
            })
        };
        let (ours, before) = (shares(BBR3), shares(BBR));
        println!("{buffer}: {ours:.3?} {before:.3?}");
        assert!((0.35..0.7).contains(&mean(ours.iter().copied())), "{buffer}: {ours:?}");
        if buffer <= 1.0 {
            assert!(lowest(&before) > highest(&ours) + 0.1, "{buffer}: {before:?} {ours:?}");
        }
    }
}

/// Draft section 5.5.10.2: loss stays below the threshold of 2%. Six flows in 0.8 BDPs lose a fraction of the
/// loss of version 1, without losing throughput.
#[test]
fn several_flows_lose_less_than_two_percent_in_a_shallow_buffer() {
    let network = Bottleneck::new(100.0, 40.0, 0.8).lasting(60.0, 20.0);
    let (ours, before) = (network.clone().with('b', BBR3, 6).run(), network.with('b', BBR, 6).run());
    println!("{:.4} {:.4}", dropped(&ours), dropped(&before));
    assert!(dropped(&ours) < 0.02, "{}", dropped(&ours));
    assert!(dropped(&before) > 4.0 * dropped(&ours), "{}", dropped(&before));
    assert!(goodput(&ours, 'b') > 0.97 * goodput(&before, 'b'));
}

/// Draft sections 5.3.3.8 and 5.5.10: BBRv3 tolerates 1% of loss per RTT, and at most 2%. At 1% BBRv3 gets most
/// of the link, at 5% almost nothing; version 1 gets both.
#[test]
fn it_bears_losses_of_one_percent_and_not_of_five() {
    let rates = |congestion: &str, loss| {
        each(1..=5, |seed| {
            let network = Bottleneck::new(100.0, 100.0, 1.0).losing(loss).lasting(40.0, 15.0).seeded(seed);
            goodput(&network.with('f', congestion, 1).run(), 'f')
        })
    };
    let (one, five, before) = (rates(BBR3, 1.0), rates(BBR3, 5.0), rates(BBR, 5.0));
    println!("{one:.1?} {five:.1?} {before:.1?}");
    assert!(lowest(&one) > 60.0, "{one:?}");
    assert!(highest(&five) < 20.0, "{five:?}");
    assert!(lowest(&before) > 70.0, "{before:?}");
}

/// Draft section 5.3.4: at most every five seconds, data in flight falls to half a BDP, not to four segments,
/// for 200 ms and an RTT.
#[test]
fn every_five_seconds_it_halves_what_is_under_way() {
    let network = Bottleneck::new(100.0, 40.0, 8.0).lasting(40.0, 5.0).with('b', BBR3, 1);
    let measured = network.run();
    let dips = dips(&network, &measured, 0.55, 2.0);
    println!("{dips:.2?}");
    assert!((5..=8).contains(&dips.len()), "{dips:?}");
    for pair in dips.windows(2) {
        assert!((5.0..6.0).contains(&(pair[1].0 - pair[0].0)), "{dips:?}");
    }
    assert!(dips.iter().all(|dip| (0.18..0.35).contains(&dip.1)), "{dips:?}");
    let low =
        series(&measured, Metric::InFlight, 2.0).iter().map(|sample| sample.1).fold(f64::INFINITY, f64::min);
    assert!((0.4..0.52).contains(&(low / network.product())), "{low}");
}
