//! Duplicated, corrupted and batched frames.

use crate::common::{Pair, line, ms, us};
use mptcp_clock::{Duration, Instant};
use netsim::{Batch, Cause, Event, Frame, Network, Parameters, SendOutcome};

/// Sends back-to-back frames of 1000 bytes (1 ms). Returns deliveries: (microseconds, number).
fn pass(pair: &mut Pair, frames: u64) -> Vec<(u64, u64)> {
    for number in 0..frames {
        assert_eq!(pair.send(us(0), 1000, number), SendOutcome::Queued);
    }
    out(pair, ms(100_000))
}

/// Deliveries until `until`; a copy has the number of its original plus a million.
fn out(pair: &mut Pair, until: Instant) -> Vec<(u64, u64)> {
    let mut out = Vec::new();
    let mut came = |at: Instant, event: Event<u64>| {
        if let Event::Arrived { frame, .. } = event {
            out.push((at.as_nanos() / 1000, frame.payload));
        }
    };
    while let Some((at, event)) = pair.network.next_until(until) {
        let Event::Impaired { direction, frame, duplicated, .. } = event else {
            came(at, event);
            continue;
        };
        let copy = duplicated.then(|| Frame { payload: frame.payload + 1_000_000, ..frame.clone() });
        for frame in [Some(frame), copy].into_iter().flatten() {
            if let Some(event) = pair.network.go_on(at, direction, frame) {
                came(at, event);
            }
        }
    }
    out
}

fn batch(time_ms: u64, frames: Option<u32>) -> Parameters {
    Parameters { batch: Some(Batch { time: Duration::from_millis(time_ms), frames }), ..line(10) }
}

#[test]
fn frames_of_a_batch_come_out_together_so_long_after_the_first() {
    let mut pair = Pair::new(batch(3, None));
    // They reach the far end at 11, 12, 13, ... ms.
    let expected = [14, 14, 14, 14, 18, 18, 18, 18, 22, 22].map(|at| at * 1000);
    assert_eq!(pass(&mut pair, 10), expected.into_iter().zip(0..).collect::<Vec<_>>());
}

#[test]
fn a_batch_comes_out_when_it_has_so_many_frames() {
    let mut pair = Pair::new(batch(50, Some(4)));
    let expected = [14, 14, 14, 14, 18, 18, 18, 18, 69, 69].map(|at| at * 1000);
    assert_eq!(pass(&mut pair, 10), expected.into_iter().zip(0..).collect::<Vec<_>>(), "19 ms and 50 ms");
}

#[test]
fn batches_of_one_hold_nothing() {
    let mut plain = Pair::new(line(10));
    let mut single = Pair::new(batch(50, Some(1)));
    assert_eq!(pass(&mut single, 50), pass(&mut plain, 50));
}

#[test]
fn a_frame_after_a_pause_opens_a_batch_of_its_own() {
    let mut pair = Pair::new(batch(3, Some(2)));
    pair.send(ms(0), 1000, 0);
    assert_eq!(out(&mut pair, ms(100)), [(14_000, 0)]);
    pair.send(ms(200), 1000, 1);
    pair.send(ms(200), 1000, 2);
    pair.send(ms(200), 1000, 3);
    assert_eq!(out(&mut pair, ms(300)), [(212_000, 1), (212_000, 2), (216_000, 3)]);
}

#[test]
fn copies_follow_their_originals_and_take_no_time_of_the_line() {
    let mut pair = Pair::new(Parameters { duplicate: 0.3, ..line(10) });
    let arrived = pass(&mut pair, 900);
    let copies: Vec<_> = arrived.iter().filter(|(_, number)| *number >= 1_000_000).collect();
    assert!((200..340).contains(&copies.len()), "{}", copies.len());
    let originals: Vec<_> = arrived.iter().filter(|(_, number)| *number < 1_000_000).copied().collect();
    assert_eq!(originals, pass(&mut Pair::new(line(10)), 900));
    for pair in arrived.windows(2).filter(|pair| pair[1].1 >= 1_000_000) {
        assert_eq!(pair[1], (pair[0].0, pair[0].1 + 1_000_000));
    }
    let counters = pair.network.counters(pair.link.forward());
    assert_eq!((counters.delivered_frames, counters.duplicated_frames), (900, copies.len() as u64));
}

#[test]
fn damage_is_told_of_each_frame_and_loses_none() {
    let mut pair =
        Pair::new(Parameters { corrupt: 0.1, duplicate: 0.1, loss: netsim::Loss::Bernoulli(0.1), ..line(1) });
    let mut damaged = 0;
    for number in 0..900 {
        pair.send(us(0), 1000, number);
    }
    let mut arrived = 0;
    while let Some((at, event)) = pair.network.next() {
        match event {
            Event::Impaired { direction, frame, corrupted, .. } => {
                damaged += u64::from(corrupted);
                arrived += u64::from(pair.network.go_on(at, direction, frame).is_some());
            }
            _ => arrived += 1,
        }
    }
    let counters = pair.network.counters(pair.link.forward());
    assert_eq!((counters.corrupted_frames, counters.delivered_frames), (damaged, arrived));
    assert_eq!(counters.lost_frames + arrived, 900);
    assert!((40..130).contains(&damaged), "{damaged}");
}

#[test]
fn chance_of_one_kind_moves_no_other() {
    let lost = |duplicate, corrupt| {
        let parameters = Parameters { duplicate, corrupt, loss: netsim::Loss::Bernoulli(0.2), ..line(1) };
        let mut pair = Pair::new(parameters);
        let originals = pass(&mut pair, 300).into_iter().filter(|(_, number)| *number < 1_000_000);
        originals.collect::<Vec<_>>()
    };
    assert_eq!(lost(0.0, 0.0), lost(0.5, 0.0));
    assert_eq!(lost(0.0, 0.0), lost(0.5, 0.5));
}

#[test]
fn what_waits_for_its_batch_is_lost_with_the_link() {
    let mut pair = Pair::new(batch(50, Some(4)));
    pair.network.keep_lost(true);
    pair.send(ms(0), 1000, 0);
    pair.send(ms(0), 1000, 1);
    let link = pair.link;
    pair.network.schedule_link_change(ms(20), link, netsim::Change::Up(false));
    pair.network.schedule_link_change(ms(30), link, netsim::Change::Up(true));
    assert_eq!(out(&mut pair, ms(40)), []);
    assert_eq!(pair.network.lost().filter(|lost| lost.cause == Cause::Down).count(), 2);
    for number in 2..6 {
        pair.send(ms(40), 1000, number);
    }
    let expected = [2, 3, 4, 5].map(|number| (54_000, number));
    assert_eq!(out(&mut pair, ms(200)), expected, "the two that were lost do not count");
}

#[test]
fn impaired_frames_meet_the_tap_behind_the_link() {
    let mut network: Network<u64> = Network::new(1);
    let (client, server) = (network.add_host(), network.add_host());
    let wire = Parameters { duplicate: 1.0, ..line(1) };
    let link = network.add_link("wire", client, server, wire.clone(), wire).expect("a link");
    let destination = network.add_address(server, None).expect("an address");
    network.tap(link).expect("known");
    let ecn = netsim::Codepoint::NotEct;
    network.send(ms(0), link.forward(), Frame { bytes: 1000, destination, label: 0, ecn, payload: 7 });
    let Some((at, Event::Impaired { direction, frame, duplicated: true, corrupted: false })) = network.next()
    else {
        panic!("it is doubled");
    };
    let tapped = network.go_on(at, direction, frame.clone());
    assert_eq!(tapped, Some(Event::Tapped { direction, frame: frame.clone() }));
    network.pass(at, direction, frame);
    assert!(matches!(network.next(), Some((_, Event::Arrived { node, .. })) if node == server));
}
