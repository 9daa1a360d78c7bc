//! Links: serialisation, queues, departures and counters, with times computed by hand.

use crate::common::{self, Pair, line, ms, us};
use mptcp_clock::{Duration, Instant};
use netsim::{Cause, Change, Event, Frame, Network, Parameters, QueueLimit, Rate, SendOutcome};

const FULL: SendOutcome = SendOutcome::Lost(Cause::QueueFull);

#[test]
fn a_frame_takes_its_serialisation_and_the_delay() {
    let mut pair = Pair::new(line(10));
    pair.send(Instant::ZERO, 1514, 7);
    assert_eq!(pair.arrivals(), [(11_514_000, 7)]);
}

#[test]
fn frames_queue_behind_each_other_and_the_line_rests_between_bursts() {
    let mut pair = Pair::new(line(1));
    pair.send(us(0), 1000, 0);
    pair.send(us(300), 500, 1);
    assert_eq!(pair.arrivals_until(us(3000)), [(2_000_000, 0), (2_500_000, 1)]);
    pair.send(us(3000), 100, 2);
    assert_eq!(pair.arrivals(), [(4_100_000, 2)]);
}

#[test]
fn an_infinite_rate_is_pure_delay() {
    let mut pair = Pair::new(Parameters { delay: Duration::from_millis(3), ..Parameters::default() });
    for number in 0..3 {
        pair.send(us(10), 1_000_000, number);
    }
    assert_eq!(pair.arrivals(), [(3_010_000, 0), (3_010_000, 1), (3_010_000, 2)]);
}

#[test]
fn serialisation_is_the_nearest_nanosecond_at_any_rate() {
    for (rate, bytes, nanos) in [
        (100_000_000, 1514, 121_120),
        (3_000_000, 1514, 4_037_333),
        (1_000_000_000, 66, 528),
        (54_000_000, 1500, 222_222),
        (8, 1, 1_000_000_000),
        (7_000, 1514, 1_730_285_714),
        (100_000_000_000, 64, 5),
    ] {
        let rate = Rate::new(rate).expect("a valid rate");
        assert_eq!(rate.serialisation(bytes).as_nanos(), nanos, "{rate:?}");
    }
    assert_eq!(Rate::new(7), None);
}

#[test]
fn a_queue_of_three_packets_counts_the_one_in_service() {
    let mut pair = Pair::new(Parameters { queue: QueueLimit::Packets(3), ..line(0) });
    let outcomes: Vec<SendOutcome> = (0..5).map(|number| pair.send(us(0), 1000, number)).collect();
    assert_eq!(outcomes, [SendOutcome::Queued, SendOutcome::Queued, SendOutcome::Queued, FULL, FULL]);
    // At 999 µs the first is in service, at 1000 µs it has departed.
    assert_eq!(pair.send(us(999), 1000, 5), FULL);
    assert_eq!(pair.send(us(1000), 1000, 6), SendOutcome::Queued);
    assert_eq!(pair.arrivals().last(), Some(&(4_000_000, 6)));
    let counters = pair.network.counters(pair.link.forward());
    assert_eq!((counters.offered_frames, counters.dropped_frames, counters.delivered_frames), (7, 3, 4));
    assert_eq!((counters.max_backlog_frames, counters.max_backlog_bytes), (3, 3000));
}

#[test]
fn a_queue_in_bytes_admits_what_fits_and_an_idle_line_takes_anything() {
    let mut pair = Pair::new(Parameters { queue: QueueLimit::Bytes(2500), ..line(0) });
    assert_eq!(pair.send(us(0), 3000, 0), SendOutcome::Queued);
    assert_eq!(pair.send(us(0), 100, 1), FULL);
    assert_eq!(pair.arrivals_until(us(3000)).len(), 1);
    assert_eq!(pair.send(us(3000), 1500, 2), SendOutcome::Queued);
    assert_eq!(pair.send(us(3000), 1001, 3), FULL);
    assert_eq!(pair.send(us(3000), 1000, 4), SendOutcome::Queued);
}

#[test]
fn a_queue_in_milliseconds_holds_80_kb_at_8_mbit() {
    let mut pair = Pair::new(Parameters { queue: QueueLimit::Time(Duration::from_millis(80)), ..line(0) });
    let queued = (0..100).filter(|&number| pair.send(us(0), 1514, number) == SendOutcome::Queued).count();
    assert_eq!(queued, 52);
}

#[test]
fn counters_follow_the_backlog_without_any_event() {
    let mut pair = Pair::new(line(100));
    for number in 0..4 {
        pair.send(us(0), 1000, number);
    }
    pair.send(us(2500), 500, 4);
    let counters = pair.network.counters(pair.link.forward());
    assert_eq!((counters.backlog_frames, counters.backlog_bytes), (3, 2500));
    assert_eq!((counters.sent_frames, counters.sent_bytes, counters.delivered_frames), (2, 2000, 0));
}

#[test]
fn what_has_left_is_no_backlog_though_nobody_looked() {
    let mut pair = Pair::new(line(1000));
    for number in 0..20 {
        pair.send(ms(number * 10), 1000, number);
    }
    let counters = pair.network.counters(pair.link.forward());
    assert_eq!((counters.max_backlog_frames, counters.max_backlog_bytes), (1, 1000));
    // Three frames at once; one fewer for each departure since.
    for at in [200, 200, 200, 201, 202] {
        pair.send(ms(at), 1000, at);
    }
    let counters = pair.network.counters(pair.link.forward());
    assert_eq!((counters.max_backlog_frames, counters.max_backlog_bytes), (3, 3000));
}

#[test]
fn watched_departures_come_at_their_times() {
    let mut pair = Pair::new(line(10));
    pair.network.watch_departures(pair.link.forward(), true);
    pair.send(us(0), 1000, 0);
    pair.send(us(0), 200, 1);
    let mut seen = Vec::new();
    while let Some((at, event)) = pair.network.next() {
        seen.push(match event {
            Event::Departed { bytes, .. } => (at.as_nanos() / 1000, "departed", bytes),
            Event::Arrived { frame, .. } => (at.as_nanos() / 1000, "arrived", frame.bytes),
            Event::Timer(_) | Event::Tapped { .. } | Event::Impaired { .. } => {
                unreachable!("no timer and no tap was made")
            }
        });
    }
    let expected = [
        (1000, "departed", 1000),
        (1200, "departed", 200),
        (11_000, "arrived", 1000),
        (11_200, "arrived", 200),
    ];
    assert_eq!(seen, expected);
}

#[test]
fn both_directions_are_independent() {
    let mut network = Network::new(1);
    let (a, b) = (network.add_host(), network.add_host());
    let slow = Parameters { rate: Rate::new(800_000), ..line(5) };
    let link = network.add_link("adsl", a, b, line(5), slow).expect("a link");
    let (to_a, to_b) =
        (network.add_address(a, None).expect("known"), network.add_address(b, None).expect("known"));
    network.send(
        us(0),
        link.forward(),
        Frame { bytes: 1000, destination: to_b, label: 0, ecn: netsim::Codepoint::NotEct, payload: 1 },
    );
    network.send(
        us(0),
        link.backward(),
        Frame { bytes: 1000, destination: to_a, label: 0, ecn: netsim::Codepoint::NotEct, payload: 2 },
    );
    let arrivals: Vec<_> = std::iter::from_fn(|| network.next()).filter_map(common::arrival).collect();
    assert_eq!(arrivals, [(6_000_000, 1), (15_000_000, 2)]);
}

#[test]
fn timers_fire_once_and_can_be_put_off_brought_forward_and_stopped() {
    let mut network = Network::<()>::new(1);
    let (one, two) = (network.add_timer(), network.add_timer());
    network.set_timer(one, Some(ms(10)));
    network.set_timer(one, Some(ms(30)));
    network.set_timer(two, Some(ms(20)));
    assert_eq!(network.timer(one), Some(ms(30)));
    assert_eq!(network.next(), Some((ms(20), Event::Timer(two))));
    network.set_timer(one, Some(ms(25)));
    network.set_timer(two, Some(ms(25)));
    assert_eq!(network.next(), Some((ms(25), Event::Timer(one))), "ties go by order of creation");
    network.set_timer(two, None);
    assert_eq!(network.next(), None);
    network.set_timer(one, Some(ms(1)));
    assert_eq!(network.next(), Some((ms(25), Event::Timer(one))), "a past time counts as now");
}

#[test]
fn next_until_stops_at_its_limit() {
    let mut pair = Pair::new(line(10));
    pair.send(us(0), 1000, 0);
    assert_eq!(pair.network.next_until(us(10_999)), None);
    assert!(pair.network.next_until(us(11_000)).is_some());
    assert_eq!(pair.network.next_time(), None);
}

/// Additional delay of 400 frames in ns, with up to 100 us of processing each.
fn processed(wire: Parameters) -> Vec<u64> {
    let arrivals = |most: u64| {
        let mut pair = Pair::new(wire.clone());
        pair.network.set_processing(pair.link.forward(), Duration::from_micros(most));
        let mut arrived = Vec::new();
        for number in 0..400 {
            pair.send(ms(number * 20), 1000, number);
            arrived.extend(pair.arrivals_until(ms(number * 20 + 19)));
        }
        assert!(arrived.iter().map(|(_, number)| *number).eq(0..400), "in order");
        arrived
    };
    arrivals(100).iter().zip(arrivals(0)).map(|((at, _), (without, _))| at - without).collect()
}

#[test]
fn a_host_takes_a_time_for_each_frame_between_nothing_and_the_most() {
    for wire in [line(0), line(5), Parameters { rate: None, ..line(5) }] {
        let times = processed(wire);
        assert!(times.iter().all(|&time| time <= 100_000));
        let mean = times.iter().sum::<u64>() as f64 / 400.0;
        // Uniform: mean 50 us, standard deviation of the mean 1.4 us.
        assert!((mean - 50_000.0).abs() < 6_000.0, "{mean}");
        assert!(times.iter().any(|&time| time < 3_000) && times.iter().any(|&time| time > 97_000));
    }
    // Behind an ideal link, processing takes no time.
    assert_eq!(processed(Parameters { rate: None, ..line(0) }), [0; 400]);
}

#[test]
fn frames_that_come_together_stay_in_order_whatever_the_host_takes() {
    let mut pair = Pair::new(Parameters { rate: None, ..line(5) });
    pair.network.set_processing(pair.link.forward(), Duration::from_millis(3));
    for number in 0..200 {
        pair.send(us(number), 1000, number);
    }
    let arrived = pair.arrivals();
    assert!(arrived.is_sorted() && arrived.iter().map(|(_, number)| *number).eq(0..200));
}

#[test]
fn a_line_counts_how_long_it_was_busy_and_what_it_could_have_carried() {
    let mut pair = Pair::new(line(1));
    let forward = pair.link.forward();
    pair.send(us(0), 1000, 0);
    pair.send(us(300), 500, 1);
    pair.send(us(3000), 1000, 2);
    // 1.5 ms, a pause, and half of the transmission of the third frame.
    assert_eq!(pair.arrivals_until(us(3500)).len(), 2);
    pair.send(us(3500), 0, 3);
    let used = pair.network.link_use(forward);
    assert_eq!(used.busy, us(2000).since(Instant::ZERO));
    assert_eq!(used.capacity_bits, Some(8_000.0 * 3.5));
    pair.network.schedule_change(us(4000), forward, Change::Rate(Rate::new(2_000_000)));
    pair.network.schedule_change(us(5000), forward, Change::Up(false));
    pair.network.schedule_change(us(7000), forward, Change::Up(true));
    pair.network.schedule_change(us(8000), forward, Change::Delay(Duration::ZERO));
    pair.arrivals();
    let used = pair.network.link_use(forward);
    assert_eq!(used.busy, us(2500).since(Instant::ZERO));
    assert_eq!(used.down, Duration::from_millis(2));
    assert_eq!(used.capacity_bits, Some(8_000.0 * 4.0 + 2_000.0 + 2_000.0));
}
