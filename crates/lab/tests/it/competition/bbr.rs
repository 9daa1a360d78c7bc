//! BBR version 1. Cardwell et al., "BBR: Congestion-Based Congestion Control", ACM Queue 14(5), 2016, also CACM 60(2), 2017; Hock,
//! Bless, Zitterbart, "Experimental Evaluation of BBR Congestion Control", ICNP 2017; Ware et al., "Modeling BBR's Interactions with
//! Loss-Based Congestion Control", IMC 2019.

use super::*;

const BBR: &str = "\"bbr\"";
const CUBIC: &str = "\"cubic\"";
/// Payload of what the line carries, Mb/s of 100.
const PAYLOAD: f64 = 95.6;

/// Cardwell et al., figure 8: 100 Mb/s, 100 ms. Up to 5 % of random loss BBR has nearly what is left of the line; CUBIC has lost
/// nine tenths at 0.1 % and next to all at 1 %.
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

/// Cardwell et al., figures 4 and 5: Startup fills the path and up to two products of queue, Drain empties it, and what waits from
/// then on is a small part of one. CUBIC keeps what there is full.
#[test]
fn a_deep_buffer_stays_empty() {
    let network = Bottleneck::new(100.0, 40.0, 10.0).lasting(40.0, 10.0);
    let ours = network.clone().with('f', BBR, 1).run();
    let cubic = network.clone().with('f', CUBIC, 1).run();
    let startup = series(&ours, Metric::Queue, 0.0).iter().map(|sample| sample.1).fold(0.0, f64::max);
    let (queue, long) = (mean_queue(&network, &ours, 5.0), mean_queue(&network, &cubic, 5.0));
    println!("startup {:.2} steady {queue:.3} cubic {long:.2}", startup / network.product());
    // The window of Startup is 2.885 times the product, and three quanta of a millisecond each.
    assert!((1.6..2.3).contains(&(startup / network.product())), "{startup}");
    assert!(queue < 0.15, "{queue}");
    assert!(long > 5.0, "{long}");
    assert!(goodput(&ours, 'f') > 0.95 * goodput(&cubic, 'f'));
}

/// Ware et al.: beside loss-based flows in a deep buffer one flow of BBR has about two fifths of the line, however
/// many these are.
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

/// Hock et al., on BBR beside CUBIC: below one product of buffer BBR leaves CUBIC next to nothing; with several it is the other
/// way round.
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

/// Hock et al., on several flows of BBR: they overestimate the rate, so that their windows of two products fill: one
/// to one and a half products wait in a deep buffer, and a buffer of 0.8 products loses at least ten times what CUBIC's flows do.
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

/// Cardwell et al., "Behavior of multiple BBR flows"; draft-cardwell-iccrg-bbr-congestion-control-00 section 4.2.4: every ten
/// seconds no more than four segments are under way, for 200 ms and a round trip.
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
