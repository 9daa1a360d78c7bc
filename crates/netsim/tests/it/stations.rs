//! Settings of a station, and counters of its MAC.

use crate::common::{ms, us};
use mptcp_clock::{Duration, Instant};
use netsim::{
    AddressId, Aggregation, Cause, CellParameters, Change, Channel, Codepoint, Event, Frame, LinkId, Loss,
    Network, Parameters, QueueLimit, SendOutcome, Standard, StationParameters, StationRate, TopologyError,
};

/// A station and its access point, 802.11g.
struct Pair {
    network: Network<u32>,
    link: LinkId,
    /// Addresses of the access point and of the station.
    to: [AddressId; 2],
}

fn fixed(rate: u64) -> StationParameters {
    StationParameters { rate: StationRate::Fixed(rate), ..StationParameters::default() }
}

fn pair(station: StationParameters) -> Pair {
    let mut network = Network::new(1);
    let (access_point, node) = (network.add_host(), network.add_host());
    let cell = network.add_cell("cell", access_point, CellParameters::default()).expect("a cell");
    let link = network.add_station("station", node, cell, station).expect("a station");
    let to = [access_point, node].map(|node| network.add_address(node, None).expect("known"));
    Pair { network, link, to }
}

impl Pair {
    fn up(&mut self, at: Instant, payload: u32) -> SendOutcome {
        let frame = Frame { bytes: 1514, destination: self.to[0], label: 0, ecn: Codepoint::NotEct, payload };
        self.network.send(at, self.link.forward(), frame)
    }

    fn down(&mut self, at: Instant, payload: u32) -> SendOutcome {
        let frame = Frame { bytes: 1514, destination: self.to[1], label: 0, ecn: Codepoint::NotEct, payload };
        self.network.send(at, self.link.backward(), frame)
    }

    fn arrivals(&mut self) -> Vec<(Instant, u32)> {
        let arrived = |(at, event)| match event {
            Event::Arrived { frame, .. } => Some((at, frame.payload)),
            _ => None,
        };
        std::iter::from_fn(|| self.network.next()).filter_map(arrived).collect()
    }
}

/// At 54 Mb/s: 254 us of data, SIFS, 34 us of ACK.
const ALONE: u64 = 298;

#[test]
fn its_delay_comes_after_the_mac_both_ways() {
    for delay in [0, 20] {
        let mut pair = pair(StationParameters { delay: Duration::from_millis(delay), ..fixed(54_000_000) });
        pair.up(us(100), 1);
        assert_eq!(pair.arrivals(), [(us(100 + ALONE + delay * 1000), 1)]);
        pair.down(ms(100), 2);
        assert_eq!(pair.arrivals(), [(us(100_000 + ALONE + delay * 1000), 2)]);
    }
}

/// Transmission on the medium takes time, so hosts have processing times at any delay.
#[test]
fn hosts_of_a_cell_take_their_time() {
    let late = |delay| {
        let mut pair = pair(StationParameters { delay: Duration::from_millis(delay), ..fixed(54_000_000) });
        pair.network.set_processing(pair.link.forward(), Duration::from_millis(50));
        pair.up(us(100), 1);
        pair.arrivals()[0].0.since(us(100 + ALONE + delay * 1000))
    };
    for delay in [0, 20] {
        assert!(!late(delay).is_zero() && late(delay) <= Duration::from_millis(50), "{}", late(delay));
    }
}

#[test]
fn its_loss_takes_frames_that_the_mac_brought_over() {
    let mut pair = pair(StationParameters { loss: Loss::Bernoulli(1.0), ..fixed(54_000_000) });
    pair.network.keep_lost(true);
    pair.up(us(100), 1);
    pair.down(us(100), 2);
    assert_eq!(pair.arrivals(), []);
    assert!(pair.network.lost().all(|lost| lost.cause == Cause::Chance));
    for direction in [pair.link.forward(), pair.link.backward()] {
        let counters = pair.network.counters(direction);
        assert_eq!((counters.sent_frames, counters.lost_frames, counters.delivered_frames), (1, 1, 0));
        assert_eq!(pair.network.mac(direction).map(|mac| mac.retry_drops), Some(0));
    }
}

#[test]
fn who_begins_switched_off_gets_nothing_until_he_is_switched_on() {
    let mut pair = pair(StationParameters { up: false, ..fixed(54_000_000) });
    assert_eq!(pair.up(us(100), 1), SendOutcome::Lost(Cause::Down));
    assert_eq!(pair.down(us(100), 2), SendOutcome::Lost(Cause::Down));
    let link = pair.link;
    pair.network.schedule_link_change(ms(1), link, Change::Up(true));
    assert_eq!(pair.arrivals(), []);
    assert_eq!(pair.up(ms(1), 3), SendOutcome::Queued);
    assert_eq!(pair.arrivals().len(), 1);
    assert_eq!(pair.network.counters(link.forward()).flushed_frames, 1);
}

#[test]
fn its_queue_holds_what_was_said_and_says_so() {
    let fits = |queue, change: Option<QueueLimit>| {
        let mut pair = pair(StationParameters { queue, ..fixed(54_000_000) });
        let forward = pair.link.forward();
        if let Some(limit) = change {
            pair.network.schedule_change(us(0), forward, Change::Queue(limit));
            pair.arrivals();
        }
        assert_eq!(pair.network.parameters(forward).queue, change.unwrap_or(queue));
        let queued = (0..100).filter(|&number| pair.up(us(100), number) == SendOutcome::Queued).count();
        let counters = pair.network.counters(forward);
        assert_eq!((counters.backlog_frames, counters.dropped_frames), (queued as u64, 100 - queued as u64));
        assert_eq!(pair.network.mac(forward).map(|mac| mac.backlog), Some(queued as u64));
        assert_eq!(counters.max_backlog_bytes, queued as u64 * 1514);
        assert_eq!(pair.arrivals().len(), queued);
        assert_eq!(pair.network.mac(forward).map(|mac| mac.backlog), Some(0));
        queued
    };
    assert_eq!(fits(QueueLimit::Packets(3), None), 3);
    assert_eq!(fits(QueueLimit::Bytes(6_056), None), 4);
    assert_eq!(fits(QueueLimit::Bytes(1), None), 1, "an empty one takes any frame");
    // 54 Mb/s for 1 ms is 6750 bytes.
    assert_eq!(fits(QueueLimit::Time(Duration::from_millis(1)), None), 4);
    assert_eq!(fits(QueueLimit::Packets(3), Some(QueueLimit::Packets(7))), 7);
}

#[test]
fn the_mac_tells_rate_signal_and_air() {
    let mut pair = pair(fixed(54_000_000));
    let forward = pair.link.forward();
    let mac = |pair: &Pair, direction| pair.network.mac(direction).expect("wireless");
    // Three metres: 16 dBm minus 40.2 and 3 * 10 log 3, plus 94.
    assert_eq!(mac(&pair, forward).phy_rate, 54_000_000);
    assert!((mac(&pair, forward).snr_db - 55.486).abs() < 0.001);
    pair.up(us(100), 1);
    pair.arrivals();
    let one = mac(&pair, forward);
    assert_eq!((one.transmissions, one.retries, one.collisions, one.failures), (1, 0, 0, 0));
    assert_eq!(one.airtime, Duration::from_micros(254));
    assert_eq!(mac(&pair, forward.reverse()).transmissions, 0);
    // Distance applies to both directions, a rate to one.
    pair.network.schedule_change(ms(1), forward, Change::Distance(10.0));
    pair.network.schedule_change(ms(1), forward, Change::StationRate(StationRate::Fixed(6_000_000)));
    pair.arrivals();
    for (direction, rate) in [(forward, 6_000_000), (forward.reverse(), 54_000_000)] {
        let mac = mac(&pair, direction);
        assert_eq!(mac.phy_rate, rate);
        assert!((mac.snr_db - 39.8).abs() < 0.001, "{}", mac.snr_db);
    }
    let mut wires = Network::<()>::new(1);
    let ends = [wires.add_host(), wires.add_host()];
    let wire = wires.add_link("w", ends[0], ends[1], Parameters::default(), Parameters::default());
    assert_eq!(wires.mac(wire.expect("a wire").forward()), None);
}

/// No frame is received from a kilometre away: each is sent eight times.
#[test]
fn a_frame_that_is_too_weak_is_tried_again_and_given_up() {
    let mut pair = pair(StationParameters { distance: 1000.0, ..fixed(54_000_000) });
    let forward = pair.link.forward();
    pair.network.watch_departures(forward, true);
    pair.network.keep_lost(true);
    pair.up(us(100), 1);
    pair.up(us(100), 2);
    let events: Vec<_> = std::iter::from_fn(|| pair.network.next()).collect();
    let alone = events.iter().map(|(_, event)| match event {
        Event::Departed { alone, .. } => *alone,
        other => panic!("{other:?}"),
    });
    assert_eq!(alone.collect::<Vec<_>>(), [Duration::ZERO; 2], "zero for what was given up");
    let mac = pair.network.mac(forward).expect("wireless");
    assert_eq!((mac.transmissions, mac.failures, mac.collisions), (16, 16, 0));
    assert_eq!((mac.retries, mac.retry_drops), (14, 2));
    assert_eq!(pair.network.lost().map(|lost| lost.cause).collect::<Vec<_>>(), [Cause::Retries; 2]);
    let counters = pair.network.counters(forward);
    assert_eq!((counters.retry_drops, counters.backlog_frames, counters.backlog_bytes), (2, 0, 0));
}

/// A transmission in progress continues without effect: its ACK does not count for later frames.
#[test]
fn who_comes_back_at_once_sends_anew() {
    let mut pair = pair(fixed(54_000_000));
    let link = pair.link;
    // Only one direction, so that the change of the other does not hide the owner of the frame.
    pair.network.schedule_change(us(200), link.forward(), Change::Up(false));
    pair.network.schedule_change(us(201), link.forward(), Change::Up(true));
    pair.up(us(100), 1);
    assert_eq!(pair.network.next_until(us(210)), None);
    pair.up(us(210), 2);
    let arrived = pair.arrivals();
    assert_eq!(arrived.len(), 1);
    let (at, number) = arrived[0];
    // The medium is idle after the first transmission, then follow DIFS and up to fifteen slots.
    let first = us(100 + 2 * ALONE + 28);
    assert!(number == 2 && at >= first && at <= first + Duration::from_micros(15 * 9), "{at:?}");
    assert_eq!(pair.network.mac(link.forward()).map(|mac| mac.transmissions), Some(1), "of what is his");
}

/// Frames of a station that goes down leave the queue of the access point, and the next station is first.
#[test]
fn a_station_that_leaves_lets_the_next_one_go_first() {
    let mut network = Network::new(1);
    let (access_point, near, far) = (network.add_host(), network.add_host(), network.add_host());
    let cell = CellParameters { retry_limit: None, ..CellParameters::default() };
    let cell = network.add_cell("cell", access_point, cell).expect("a cell");
    let lost = StationParameters { distance: 1000.0, ..fixed(54_000_000) };
    let far_link = network.add_station("far", far, cell, lost).expect("a station");
    let near_link = network.add_station("near", near, cell, fixed(54_000_000)).expect("a station");
    let [to_far, to_near] = [far, near].map(|node| network.add_address(node, None).expect("known"));
    network.watch_departures(near_link.backward(), true);
    let frame =
        |destination| Frame { bytes: 1514, destination, label: 0, ecn: Codepoint::NotEct, payload: () };
    network.send(us(0), far_link.backward(), frame(to_far));
    network.send(us(0), near_link.backward(), frame(to_near));
    assert_eq!(network.next_until(ms(500)), None, "it is tried for ever");
    network.schedule_link_change(ms(500), far_link, Change::Up(false));
    // Without delay, the frame arrives when the MAC is done with it.
    assert!(matches!(network.next(), Some((_, Event::Arrived { node, .. })) if node == near));
    let Some((at, Event::Departed { service, .. })) = network.next() else { panic!("it has left") };
    assert_eq!(service, at.since(ms(500)));
    assert_eq!(network.next(), None);
    assert_eq!(network.counters(far_link.backward()).flushed_frames, 1);
}

#[test]
fn cells_that_cannot_be_are_refused_with_the_reason() {
    let refused = |cell: CellParameters| {
        let mut network = Network::<()>::new(1);
        let node = network.add_host();
        match network.add_cell("cell", node, cell) {
            Ok(_) => None,
            Err(TopologyError::BadCell { reason, .. }) => Some(reason),
            Err(other) => panic!("{other}"),
        }
    };
    let on = |standard, channel| {
        refused(CellParameters { channel: Channel(channel), ..CellParameters::ideal(standard) })
    };
    for (standard, good, bad) in [
        (Standard::B, &[1, 13, 14][..], &[0, 15, 35, 36, 100][..]),
        (Standard::G, &[1, 14], &[0, 15, 35, 36, 100]),
        (Standard::A, &[36, 165, 255], &[0, 1, 14, 15, 35]),
        (Standard::N, &[1, 14, 36, 255], &[0, 15, 35]),
    ] {
        assert!(good.iter().all(|&channel| on(standard, channel).is_none()), "{standard:?}");
        assert!(bad.iter().all(|&channel| on(standard, channel).is_some()), "{standard:?}");
    }
    let g = CellParameters::default;
    assert_eq!(refused(CellParameters { cw_min: 31, cw_max: 31, ..g() }), None);
    assert!(refused(CellParameters { cw_min: 32, cw_max: 31, ..g() }).is_some());
    for rate in [1_000_000, 2_000_000, 5_500_000, 11_000_000] {
        assert_eq!(refused(CellParameters { protection_rate: rate, ..g() }), None);
    }
    assert!(refused(CellParameters { protection_rate: 6_000_000, ..g() }).is_some());
    let aggregation = Some(Aggregation::default());
    assert!(refused(CellParameters { aggregation, ..g() }).is_some());
    assert_eq!(refused(CellParameters { aggregation, ..CellParameters::ideal(Standard::N) }), None);
}
