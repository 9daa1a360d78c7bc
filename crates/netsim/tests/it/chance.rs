//! Random loss and jitter: rates and bursts within statistical bounds, ordering, and independence of streams.

use crate::common::{self, Pair, line, us};
use mptcp_clock::{Duration, Instant};
use netsim::{Cause, Frame, GilbertElliott, Jitter, Labels, Loss, Network, Parameters, Spread};

const FRAMES: u64 = 200_000;

/// Numbers of the frames that arrive, out of `frames` sent every 1 ms.
fn survivors(seed: u64, parameters: Parameters, frames: u64) -> Vec<(u64, u64)> {
    let mut pair = Pair::seeded(seed, parameters);
    let mut arrived = Vec::new();
    for number in 0..frames {
        let at = us(number * 1000);
        arrived.extend(pair.arrivals_until(at));
        pair.send(at, 100, number);
    }
    arrived.extend(pair.arrivals());
    arrived
}

/// Lengths of loss bursts.
fn bursts(arrived: &[(u64, u64)]) -> Vec<u64> {
    arrived.windows(2).map(|pair| pair[1].1 - pair[0].1 - 1).filter(|&gap| gap > 0).collect()
}

#[test]
fn bernoulli_loss_has_its_rate() {
    for p in [0.001, 0.03, 0.5] {
        let lost =
            FRAMES - survivors(3, Parameters { loss: Loss::Bernoulli(p), ..line(10) }, FRAMES).len() as u64;
        let expected = p * FRAMES as f64;
        let sigma = (expected * (1.0 - p)).sqrt();
        assert!((lost as f64 - expected).abs() < 4.0 * sigma, "{p}: {lost} lost, {expected} expected");
    }
}

#[test]
fn loss_of_0_and_1_are_exact() {
    assert_eq!(survivors(1, Parameters { loss: Loss::Bernoulli(0.0), ..line(10) }, 1000).len(), 1000);
    assert_eq!(survivors(1, Parameters { loss: Loss::Bernoulli(1.0), ..line(10) }, 1000).len(), 0);
}

#[test]
fn gilbert_elliott_has_its_mean_loss_and_burst_length() {
    let model = GilbertElliott { good_to_bad: 0.01, bad_to_good: 0.25, loss_in_bad: 1.0, loss_in_good: 0.0 };
    let arrived = survivors(5, Parameters { loss: Loss::GilbertElliott(model), ..line(10) }, FRAMES);
    let share = 1.0 - arrived.len() as f64 / FRAMES as f64;
    assert!((share - model.mean_loss()).abs() < 0.003, "{share} lost, {} expected", model.mean_loss());
    let bursts = bursts(&arrived);
    let mean = bursts.iter().sum::<u64>() as f64 / bursts.len() as f64;
    assert!((mean - 4.0).abs() < 0.25, "bursts of {mean}, 4 expected");
}

#[test]
fn gilbert_elliott_loses_in_both_states_as_told() {
    let model = GilbertElliott { good_to_bad: 0.05, bad_to_good: 0.2, loss_in_bad: 0.5, loss_in_good: 0.02 };
    let arrived = survivors(6, Parameters { loss: Loss::GilbertElliott(model), ..line(10) }, FRAMES);
    let share = 1.0 - arrived.len() as f64 / FRAMES as f64;
    assert!((model.mean_loss() - 0.116).abs() < 1e-12);
    assert!((share - 0.116).abs() < 0.005, "{share} lost");
}

fn jittery(spread_ms: u64, shape: Spread, reorder: bool) -> Parameters {
    Parameters {
        jitter: Some(Jitter { spread: Duration::from_millis(spread_ms), shape, reorder }),
        ..line(20)
    }
}

#[test]
fn jitter_without_reordering_keeps_the_order() {
    let arrived = survivors(1, jittery(15, Spread::Uniform, false), 5000);
    assert!(arrived.is_sorted());
    assert!(arrived.windows(2).all(|pair| pair[0].1 + 1 == pair[1].1));
}

#[test]
fn jitter_with_reordering_is_uniform_around_the_delay_and_overtakes() {
    let arrived = survivors(1, jittery(15, Spread::Uniform, true), 20_000);
    assert!(arrived.is_sorted_by_key(|&(at, _)| at));
    assert!(!arrived.is_sorted_by_key(|&(_, number)| number));
    let delays: Vec<f64> =
        arrived.iter().map(|&(at, number)| (at - number * 1_000_000 - 100_000) as f64 / 1e6).collect();
    assert!(delays.iter().all(|delay| (5.0..=35.0).contains(delay)));
    let mean = delays.iter().sum::<f64>() / delays.len() as f64;
    assert!((mean - 20.0).abs() < 0.3, "{mean}");
    let variance = delays.iter().map(|delay| (delay - mean).powi(2)).sum::<f64>() / delays.len() as f64;
    assert!((variance - 75.0).abs() < 3.0, "{variance}");
}

#[test]
fn normal_jitter_has_its_standard_deviation() {
    let arrived = survivors(2, jittery(3, Spread::Normal, true), 20_000);
    let delays: Vec<f64> =
        arrived.iter().map(|&(at, number)| (at - number * 1_000_000 - 100_000) as f64 / 1e6).collect();
    let mean = delays.iter().sum::<f64>() / delays.len() as f64;
    let deviation =
        (delays.iter().map(|delay| (delay - mean).powi(2)).sum::<f64>() / delays.len() as f64).sqrt();
    assert!((mean - 20.0).abs() < 0.1 && (deviation - 3.0).abs() < 0.1, "{mean} {deviation}");
}

#[test]
fn a_jitter_beyond_the_delay_never_arrives_before_departure() {
    let arrived = survivors(2, jittery(200, Spread::Uniform, true), 2000);
    assert!(arrived.iter().all(|&(at, number)| at >= number * 1_000_000 + 100_000));
    assert_eq!(arrived.len(), 2000);
}

#[test]
fn the_same_seed_gives_the_same_arrivals_and_another_seed_others() {
    let lossy = Parameters { loss: Loss::Bernoulli(0.1), ..jittery(5, Spread::Uniform, true) };
    let run = |seed| survivors(seed, lossy.clone(), 2000);
    assert_eq!(run(9), run(9));
    assert_ne!(run(9), run(10));
}

#[test]
fn jitter_does_not_change_which_frames_are_lost() {
    let lossy = Parameters { loss: Loss::Bernoulli(0.2), ..line(20) };
    let numbers = |parameters| -> Vec<u64> {
        let mut numbers: Vec<u64> =
            survivors(4, parameters, 3000).into_iter().map(|(_, number)| number).collect();
        numbers.sort_unstable();
        numbers
    };
    let with_jitter = Parameters { jitter: jittery(5, Spread::Uniform, true).jitter, ..lossy.clone() };
    assert_eq!(numbers(lossy), numbers(with_jitter));
}

/// Numbers that arrive over the link `watched`, with other links and a filter for label 9.
fn over_link_among(others: &[&str], filter: bool) -> Vec<(u64, u64)> {
    let mut network = Network::new(7);
    let (a, b) = (network.add_host(), network.add_host());
    let lossy = Parameters { loss: Loss::Bernoulli(0.3), ..line(5) };
    for name in others {
        network.add_link(name, a, b, lossy.clone(), lossy.clone()).expect("a fresh name");
    }
    let link = network.add_link("watched", a, b, lossy.clone(), lossy).expect("a fresh name");
    let address = network.add_address(b, None).expect("known");
    if filter {
        let labels = Labels::Only(vec![9]);
        network.add_filter(link.forward(), labels, Duration::ZERO, Loss::Bernoulli(0.5)).expect("known");
    }
    for number in 0..500 {
        network.send(
            Instant::ZERO,
            link.forward(),
            Frame {
                bytes: 100,
                destination: address,
                label: 0,
                ecn: netsim::Codepoint::NotEct,
                payload: number,
            },
        );
    }
    std::iter::from_fn(|| network.next()).filter_map(common::arrival).collect()
}

#[test]
fn adding_links_or_filters_does_not_change_what_a_link_loses() {
    let alone = over_link_among(&[], false);
    assert!((300..400).contains(&alone.len()));
    assert_eq!(alone, over_link_among(&["first", "second"], false));
    assert_eq!(alone, over_link_among(&["other"], true));
}

#[test]
fn a_filter_delays_and_loses_only_its_label() {
    let mut pair = Pair::new(line(10));
    let (forward, labels) = (pair.link.forward(), Labels::Only(vec![5, 6]));
    pair.network.keep_lost(true);
    pair.network.add_filter(forward, labels, Duration::from_millis(50), Loss::Bernoulli(0.4)).expect("known");
    for number in 0..1000 {
        let frame = Frame {
            bytes: 1000,
            destination: pair.address,
            label: Frame::label_of(4 + (number % 2) as u32, number as u8),
            ecn: netsim::Codepoint::NotEct,
            payload: number,
        };
        pair.network.send(Instant::ZERO, forward, frame);
    }
    let arrived = pair.arrivals();
    let plain: Vec<_> = arrived.iter().filter(|(_, number)| number % 2 == 0).collect();
    assert_eq!(plain.len(), 500);
    assert_eq!(plain[1], &(12_000_000, 2), "the others go straight into the queue");
    let matched: Vec<_> = arrived.iter().filter(|(_, number)| number % 2 == 1).collect();
    assert!((250..350).contains(&matched.len()), "{}", matched.len());
    // The queue is busy with the other frames until 500 ms, so the held frames follow them.
    assert!(matched[0].0 > plain[499].0);
    assert!(pair.network.lost().all(|lost| lost.cause == Cause::Filter && lost.frame.class() == 5));
    assert_eq!(pair.network.counters(forward).filtered_frames as usize, 500 - matched.len());
}

#[test]
fn a_filter_adds_its_delay_before_the_queue() {
    let mut pair = Pair::new(line(10));
    let delay = Duration::from_millis(7);
    pair.network.add_filter(pair.link.forward(), Labels::All, delay, Loss::None).expect("known");
    pair.send(us(0), 1000, 0);
    pair.send(us(500), 1000, 1);
    assert_eq!(pair.arrivals(), [(18_000_000, 0), (19_000_000, 1)]);
}
