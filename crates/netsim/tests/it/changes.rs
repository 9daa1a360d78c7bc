//! Changes of parameters during a run, with times computed by hand.

use crate::common::{Pair, line, ms, us};
use mptcp_clock::Duration;
use netsim::{Cause, Change, Event, Loss, Parameters, QueueLimit, Rate, SendOutcome};

fn mbit(n: u64) -> Change {
    Change::Rate(Rate::new(n * 1_000_000))
}

#[test]
fn the_frame_in_service_finishes_its_bits_at_the_new_rate() {
    let mut pair = Pair::new(line(10));
    pair.send(us(0), 1000, 0);
    pair.send(us(0), 1000, 1);
    // After 400 µs, 600 bytes remain: 1200 µs at 4 Mb/s, plus 2000 µs for the next frame.
    pair.network.schedule_change(us(400), pair.link.forward(), mbit(4));
    assert_eq!(pair.arrivals(), [(11_600_000, 0), (13_600_000, 1)]);
}

#[test]
fn a_rate_that_becomes_infinite_empties_the_queue_at_once() {
    let mut pair = Pair::new(line(10));
    for number in 0..3 {
        pair.send(us(0), 1000, number);
    }
    pair.network.schedule_change(us(1500), pair.link.forward(), Change::Rate(None));
    assert_eq!(pair.arrivals(), [(11_000_000, 0), (11_500_000, 1), (11_500_000, 2)]);
}

#[test]
fn a_rate_that_becomes_finite_applies_from_then_on() {
    let mut pair = Pair::new(Parameters { rate: None, ..line(1) });
    pair.network.schedule_change(us(10), pair.link.forward(), mbit(8));
    pair.send(us(0), 1000, 0);
    assert_eq!(pair.arrivals_until(us(1000)), [(1_000_000, 0)]);
    pair.send(us(1000), 1000, 1);
    assert_eq!(pair.arrivals(), [(3_000_000, 1)]);
}

#[test]
fn a_shorter_delay_does_not_let_frames_overtake() {
    let mut pair = Pair::new(line(10));
    pair.send(us(0), 1000, 0);
    pair.send(us(0), 1000, 1);
    pair.send(us(0), 5000, 2);
    // The first two depart by 2 ms; the third departs at 7 ms and takes 1 ms.
    pair.network.schedule_change(ms(2), pair.link.forward(), Change::Delay(Duration::from_millis(1)));
    assert_eq!(pair.arrivals(), [(11_000_000, 0), (12_000_000, 1), (12_000_000, 2)]);
}

#[test]
fn a_frame_that_departs_at_the_instant_of_a_change_keeps_the_old_parameters() {
    let mut pair = Pair::new(line(10));
    pair.send(us(0), 1000, 0);
    pair.send(us(0), 1000, 1);
    pair.network.schedule_change(us(1000), pair.link.forward(), Change::Loss(Loss::Bernoulli(1.0)));
    assert_eq!(pair.arrivals(), [(11_000_000, 0)]);
    assert_eq!(pair.network.counters(pair.link.forward()).lost_frames, 1);
}

#[test]
fn down_loses_all_that_the_link_holds_and_up_begins_afresh() {
    let mut pair = Pair::new(line(10));
    pair.network.keep_lost(true);
    for number in 0..4 {
        pair.send(us(0), 1000, number);
    }
    // At 11 ms the first has arrived; at 11.5 ms three are in flight.
    pair.network.schedule_link_change(us(11_500), pair.link, Change::Up(false));
    pair.network.schedule_link_change(us(20_000), pair.link, Change::Up(true));
    assert_eq!(pair.arrivals_until(us(12_000)), [(11_000_000, 0)]);
    assert_eq!(pair.send(us(12_000), 1000, 4), SendOutcome::Lost(Cause::Down));
    assert_eq!(pair.arrivals_until(us(20_000)), []);
    assert_eq!(pair.send(us(20_000), 1000, 5), SendOutcome::Queued);
    assert_eq!(pair.arrivals(), [(31_000_000, 5)]);
    let lost: Vec<_> = pair.network.lost().map(|lost| (lost.frame.payload, lost.cause)).collect();
    assert_eq!(lost, [1, 2, 3, 4].map(|number| (number, Cause::Down)));
    let counters = pair.network.counters(pair.link.forward());
    assert_eq!((counters.flushed_frames, counters.delivered_frames), (4, 2));
}

#[test]
fn closed_takes_nothing_and_what_it_holds_arrives() {
    let mut pair = Pair::new(line(10));
    pair.send(us(0), 1000, 0);
    pair.send(us(0), 1000, 1);
    pair.network.schedule_link_change(us(500), pair.link, Change::Open(false));
    pair.network.schedule_link_change(us(20_000), pair.link, Change::Open(true));
    assert_eq!(pair.arrivals_until(us(12_000)), [(11_000_000, 0), (12_000_000, 1)]);
    assert_eq!(pair.send(us(12_000), 1000, 2), SendOutcome::Lost(Cause::Down));
    assert_eq!(pair.arrivals_until(us(20_000)), []);
    assert_eq!(pair.send(us(20_000), 1000, 3), SendOutcome::Queued);
    assert_eq!(pair.arrivals(), [(31_000_000, 3)]);
}

#[test]
fn down_flushes_the_queue_and_reports_the_departures() {
    let mut pair = Pair::new(line(1));
    pair.network.watch_departures(pair.link.forward(), true);
    for number in 0..3 {
        pair.send(us(0), 1000, number);
    }
    pair.network.schedule_change(us(1500), pair.link.forward(), Change::Up(false));
    let departures: Vec<u64> = std::iter::from_fn(|| pair.network.next())
        .filter(|(_, event)| matches!(event, Event::Departed { .. }))
        .map(|(at, _)| at.as_nanos() / 1000)
        .collect();
    assert_eq!(departures, [1000, 1500, 1500]);
    assert_eq!(pair.network.counters(pair.link.forward()).backlog_bytes, 0);
}

#[test]
fn after_an_outage_nobody_waits_behind_a_frame_that_was_lost_in_flight() {
    let mut pair = Pair::new(line(100));
    pair.send(us(0), 1000, 0);
    pair.network.schedule_change(ms(2), pair.link.forward(), Change::Up(false));
    pair.network.schedule_change(ms(2), pair.link.forward(), Change::Delay(Duration::from_millis(1)));
    pair.network.schedule_change(ms(3), pair.link.forward(), Change::Up(true));
    assert_eq!(pair.arrivals_until(ms(3)), []);
    pair.send(ms(3), 1000, 1);
    assert_eq!(pair.arrivals(), [(5_000_000, 1)]);
}

#[test]
fn a_smaller_queue_keeps_what_it_holds_but_admits_no_more() {
    let mut pair = Pair::new(line(0));
    for number in 0..5 {
        pair.send(us(0), 1000, number);
    }
    pair.network.schedule_change(us(500), pair.link.forward(), Change::Queue(QueueLimit::Packets(2)));
    assert_eq!(pair.arrivals_until(us(1500)).len(), 1);
    assert_eq!(pair.send(us(1500), 1000, 5), SendOutcome::Lost(Cause::QueueFull));
    assert_eq!(pair.arrivals().len(), 4);
}

#[test]
fn changes_at_one_instant_apply_in_the_order_they_were_scheduled() {
    let mut pair = Pair::new(line(10));
    pair.network.schedule_change(us(5), pair.link.forward(), mbit(4));
    pair.network.schedule_change(us(5), pair.link.forward(), mbit(16));
    assert_eq!(pair.arrivals(), []);
    assert_eq!(pair.network.parameters(pair.link.forward()).rate, Rate::new(16_000_000));
}
