//! BBR version 1. Cardwell et al., "BBR: Congestion-Based Congestion Control", ACM Queue 14(5), 2016, also CACM 60(2), 2017; Hock,
//! Bless, Zitterbart, "Experimental Evaluation of BBR Congestion Control", ICNP 2017; Ware et al., "Modeling BBR's Interactions with
//! Loss-Based Congestion Control", IMC 2019.

use super::*;

const BBR: &str = "\"bbr\"";
const CUBIC: &str = "\"cubic\"";
/// Payload capacity of the link, Mb/s of 100.
const PAYLOAD: f64 = 95.6;

/// Cardwell et al., figure 8: 100 Mb/s, 100 ms. With up to 5% random loss, BBR reaches nearly the remaining
/// capacity. CUBIC loses 90% of its goodput at 0.1% loss, and nearly all at 1%.
#[test]
fn random_losses_up_to_five_percent_cost_what_is_lost() {
    let rates = |congestion: &str, loss| {
        each(1..=5, |seed| {
            let network = Bottleneck::new(100.0, 100.0, 1.0).losing(loss).lasting(40.0, 15.0).seeded(seed);
            goodput(&network.with('f', congestion, 1).run(), 'f')
        })
    };
    for (loss, least) in [(0.1, 0.93), (1.0, 0.92), (5.0, 0.85)] {
        let rates = rates(BBR, loss);
        let parts: Vec<f64> = rates.iter().map(|rate| rate / (PAYLOAD * (1.0 - loss / 100.0))).collect();
        println!("bbr {loss} {rates:.1?} {parts:.3?}");
        assert!(lowest(&parts) > least && highest(&parts) <= 1.0, "{loss}: {parts:?}");
    }
    for (loss, most) in [(0.1, PAYLOAD / 4.0), (1.0, PAYLOAD / 30.0)] {
        let rates = rates(CUBIC, loss);
        println!("cubic {loss} {rates:.1?}");
        assert!(highest(&rates) < most, "{loss}: {rates:?}");
    }
}

/// Cardwell et al., figures 4 and 5: Startup fills the path and up to two BDPs of queue, Drain empties it, and
/// later queues are a small fraction of a BDP. CUBIC keeps the buffer full.
#[test]
fn a_deep_buffer_stays_empty() {
    let network = Bottleneck::new(100.0, 40.0, 10.0).lasting(40.0, 10.0);
    let ours = network.clone().with('f', BBR, 1).run();
    let cubic = network.clone().with('f', CUBIC, 1).run();
    let startup = series(&ours, Metric::Queue, 0.0).iter().map(|sample| sample.1).fold(0.0, f64::max);
    let (queue, long) = (mean_queue(&network, &ours, 5.0), mean_queue(&network, &cubic, 5.0));
    println!("startup {:.2} steady {queue:.3} cubic {long:.2}", startup / network.product());
    // The window of Startup is 2.885 BDPs, plus three quanta of a millisecond.
    assert!((1.6..2.3).contains(&(startup / network.product())), "{startup}");
    assert!(queue < 0.15, "{queue}");
    assert!(long > 5.0, "{long}");
    assert!(goodput(&ours, 'f') > 0.95 * goodput(&cubic, 'f'));
}

/// Ware et al.: with loss-based flows in a deep buffer, one BBR flow gets about two fifths of the link,
/// independent of their number.
#[test]
fn it_has_two_fifths_however_many_cubics_there_are() {
    for cubics in [4, 16] {
        let shares = each(1..=3, |seed| {
            let network = Bottleneck::new(50.0, 40.0, 8.0).lasting(90.0, 30.0).seeded(seed);
            share(&network.with('c', CUBIC, cubics).with('b', BBR, 1).run(), 'b')
        });
        println!("{cubics}: {shares:.3?}");
        assert!((0.3..0.5).contains(&mean(shares.iter().copied())), "{cubics}: {shares:?}");
        // A fair share would be a fifth, or a seventeenth.
        assert!(lowest(&shares) > 1.2 / (cubics as f64 + 1.0), "{cubics}: {shares:?}");
    }
}

/// Hock et al., on BBR with CUBIC: below one BDP of buffer, BBR leaves almost nothing to CUBIC; with several
/// BDPs it is the other way round.
#[test]
fn in_a_shallow_buffer_it_starves_cubic_and_in_a_deep_one_it_does_not() {
    let shares = |buffer| {
        each(1..=3, |seed| {
            let network = Bottleneck::new(50.0, 40.0, buffer).lasting(60.0, 20.0).seeded(seed);
            share(&network.with('c', CUBIC, 1).with('b', BBR, 1).run(), 'b')
        })
    };
    let (shallow, deep) = (shares(0.5), shares(8.0));
    println!("{shallow:.3?} {deep:.3?}");
    assert!(lowest(&shallow) > 0.8, "{shallow:?}");
    assert!(highest(&deep) < 0.5, "{deep:?}");
}

/// Hock et al., on several BBR flows: they overestimate the rate and fill their windows of two BDPs. One to
/// one and a half BDPs are queued in a deep buffer, and a buffer of 0.8 BDPs drops at least ten times as much
/// as with CUBIC.
#[test]
fn several_flows_fill_a_product_of_buffer_and_lose_where_there_is_less() {
    let deep = Bottleneck::new(100.0, 40.0, 8.0).lasting(60.0, 20.0).with('b', BBR, 6);
    let queue = mean_queue(&deep, &deep.run(), 20.0);
    let shallow = Bottleneck::new(100.0, 40.0, 0.8).lasting(60.0, 20.0);
    let (ours, cubic) = (shallow.clone().with('b', BBR, 6).run(), shallow.with('c', CUBIC, 6).run());
    println!("queue {queue:.2} lost {:.4} cubic {:.4}", dropped(&ours), dropped(&cubic));
    assert!((0.8..1.6).contains(&queue), "{queue}");
    assert!(dropped(&ours) > 10.0 * dropped(&cubic), "{} {}", dropped(&ours), dropped(&cubic));
}

/// Cardwell et al., "Behavior of multiple BBR flows"; draft-cardwell-iccrg-bbr-congestion-control-00 section
/// 4.2.4: every ten seconds, at most four segments are in flight, for 200 ms and an RTT.
#[test]
fn every_ten_seconds_it_looks_for_the_shortest_round_trip() {
    let network = Bottleneck::new(100.0, 40.0, 8.0).lasting(60.0, 5.0).with('b', BBR, 1);
    let measured = network.run();
    let dips = dips(&network, &measured, 0.1, 2.0);
    println!("{dips:.2?}");
    assert!((4..=6).contains(&dips.len()), "{dips:?}");
    for pair in dips.windows(2) {
        assert!((10.0..10.8).contains(&(pair[1].0 - pair[0].0)), "{dips:?}");
    }
    assert!(dips.iter().all(|dip| (0.18..0.35).contains(&dip.1)), "{dips:?}");
}
