//! Links treat real packets as in the simulator, to the nanosecond.

use mptcp_clock::{Duration, Instant};

use crate::scenes::{emulate, ms, offer, packet, path, there, until};

#[test]
fn a_packet_takes_its_serialisation_and_the_delay() {
    let mut emulation = path("rate = \"8Mbit\"\ndelay = \"10ms\"");
    offer(&mut emulation, ms(3), 0, &there(1500));
    assert_eq!(emulation.under_way(), 1);
    assert!(until(&mut emulation, ms(14)).is_empty());
    let arrived = until(&mut emulation, ms(20));
    // 1514 bytes at one byte per microsecond, including the Ethernet header.
    assert_eq!(arrived, [(ms(13) + Duration::from_micros(1514), 1, there(1500))]);
    assert_eq!(emulation.under_way(), 0);
}

#[test]
fn a_driver_that_comes_late_changes_no_departure() {
    let deliveries = |step: u64| {
        let mut emulation = path("rate = \"10Mbit\"\ndelay = \"5ms\"\nqueue = \"1000p\"");
        let mut times = Vec::new();
        for _ in 0..50 {
            offer(&mut emulation, ms(0), 0, &there(1000));
        }
        for now in (0..=200).step_by(step as usize) {
            times.extend(until(&mut emulation, ms(now)).into_iter().map(|(due, ..)| due));
        }
        times
    };
    assert_eq!(deliveries(1), deliveries(25));
    assert_eq!(deliveries(1).len(), 50);
}

#[test]
fn the_rate_is_kept_over_a_long_time() {
    let mut emulation = path("rate = \"2Mbit\"\nqueue = \"20p\"");
    let (mut bytes, end) = (0, 20_000);
    for now in 0..end {
        offer(&mut emulation, ms(now), 0, &there(1400));
        bytes += until(&mut emulation, ms(now)).iter().map(|(.., packet)| packet.len() + 14).sum::<usize>();
    }
    let rate = bytes as f64 * 8.0 / (end as f64 / 1e3);
    assert!((rate / 2e6 - 1.0).abs() < 0.001, "{rate}");
    assert!(emulation.counters(0).unwrap_or_default()[0].dropped_frames > 0);
}

#[test]
fn loss_lies_within_its_binomial_interval() {
    let mut emulation = path("loss = \"2%\"");
    let sent = 50_000;
    let arrived: usize = (0..sent)
        .map(|number| {
            let now = 2 * number;
            offer(&mut emulation, ms(now), 0, &there(100));
            until(&mut emulation, ms(now + 1)).len()
        })
        .sum();
    let lost = (sent as usize - arrived) as f64 / sent as f64;
    // Four standard deviations.
    assert!((lost - 0.02).abs() < 4.0 * (0.02 * 0.98 / sent as f64).sqrt(), "{lost}");
    assert_eq!(emulation.under_way(), 0);
}

#[test]
fn events_apply_at_their_times() {
    let mut emulation = emulate(
        "[paths.wifi]\nrate = \"unlimited\"\ndelay = \"1ms\"\n[flows.bulk]\n\
         [[events]]\nat = \"1s\"\npath = \"wifi\"\nset = { up = false }\n\
         [[events]]\nat = \"2s\"\npath = \"wifi\"\nset = { up = true, delay = \"30ms\" }",
    )
    .unwrap_or_else(|error| panic!("{error}"));
    let mut arrived = Vec::new();
    for now in (0..3000).step_by(100) {
        offer(&mut emulation, ms(now), 0, &there(100));
        arrived.extend(until(&mut emulation, ms(now + 99)).into_iter().map(|(due, ..)| due.as_millis()));
    }
    let expected: Vec<u64> = (0..1000).step_by(100).map(|at| at + 1).collect();
    let after: Vec<u64> = (2000..3000).step_by(100).map(|at| at + 30).collect();
    assert_eq!(arrived, [expected, after].concat());
    assert_eq!(emulation.under_way(), 0, "what was lost has given its place back");
}

#[test]
fn a_queue_that_marks_says_so_in_the_header() {
    let mut emulation = path("rate = \"1Mbit\"\nqueue = \"100p\"\nmark = \"5p\"");
    for _ in 0..20 {
        offer(&mut emulation, ms(0), 0, &packet([10, 87, 1, 1], [10, 87, 1, 2], 500, 0b10, 7));
    }
    let arrived = until(&mut emulation, ms(1000));
    let marked = arrived.iter().filter(|(.., packet)| packet[1] == 0b11).count();
    assert_eq!((arrived.len(), marked), (20, 15));
    assert!(arrived.iter().all(|(.., packet)| crate::scenes::checksum(&packet[..20]) == 0xffff));
}

#[test]
fn a_fair_queue_tells_connections_apart_by_their_ports() {
    let mut emulation = path("rate = \"1Mbit\"\nqueue = { kind = \"fq_codel\" }");
    let from = |port| packet([10, 87, 1, 1], [10, 87, 1, 2], 1000, 0, port);
    for _ in 0..20 {
        offer(&mut emulation, ms(0), 0, &from(1));
    }
    offer(&mut emulation, ms(1), 0, &from(2));
    let arrived = until(&mut emulation, ms(1000));
    let place = arrived.iter().position(|(.., packet)| packet[20..22] == [0, 2]);
    assert!(place.is_some_and(|place| place < 4), "{place:?}");
}

#[test]
fn the_same_seed_loses_the_same_packets() {
    let lost = || {
        let mut emulation = path("loss = \"20%\"\njitter = \"2ms\"\ndelay = \"5ms\"");
        let mut all = Vec::new();
        for now in 0..500 {
            offer(&mut emulation, ms(now), 0, &there(100 + now as usize));
            all.extend(until(&mut emulation, ms(now)));
        }
        all
    };
    assert_eq!(lost(), lost());
}

#[test]
fn stations_of_a_cell_share_the_air() {
    let mut emulation = emulate(
        "[cells.home]\nstandard = \"802.11g\"\n[links.lan]\nends = [\"home\", \"server\"]\nrate = \"100Mbit\"\n\
         [stations.wlan]\nhost = \"client\"\ncell = \"home\"\n[flows.bulk]",
    )
    .unwrap_or_else(|error| panic!("{error}"));
    let plan = emulation.plan().clone();
    let own = plan.hosts.iter().position(|host| host.name == "client").unwrap_or_default();
    let ports: Vec<usize> = plan.hosts.iter().map(|host| host.devices.len()).collect();
    let port = ports[..own].iter().sum();
    let server = &plan.hosts[1 - own].devices[0];
    let sent = packet(plan.hosts[own].devices[0].address.octets(), server.address.octets(), 1000, 0, 1);
    let (mut now, mut count) = (Instant::ZERO, 0);
    for _ in 0..2000 {
        now += Duration::from_micros(200);
        offer(&mut emulation, now, port, &sent);
        count += until(&mut emulation, now).len();
    }
    let rate = (count * 1014 * 8) as f64 / now.as_secs_f64() / 1e6;
    // 802.11g at 54 Mb/s without competition: DIFS, backoff, preamble and ACK leave about a third of it for
    // 1000 bytes.
    assert!((15.0..30.0).contains(&rate), "{rate}");
}

#[test]
fn equally_long_ways_are_chosen_by_connection() {
    let diamond = "[links.near]\nends = [\"client\", \"a\"]\nrate = \"1Gbit\"\n\
                   [links.up]\nends = [\"a\", \"b\"]\nrate = \"1Gbit\"\n[links.down]\nends = [\"a\", \"c\"]\nrate = \"1Gbit\"\n\
                   [links.up2]\nends = [\"b\", \"d\"]\nrate = \"1Gbit\"\n[links.down2]\nends = [\"c\", \"d\"]\nrate = \"1Gbit\"\n\
                   [links.far]\nends = [\"d\", \"server\"]\nrate = \"1Gbit\"\n[flows.bulk]\n";
    let carried = |routing: &str| {
        let mut emulation =
            emulate(&format!("routing = \"{routing}\"\n{diamond}")).unwrap_or_else(|error| panic!("{error}"));
        let hosts = &emulation.plan().hosts;
        let [from, to] = [0, 1].map(|host| hosts[host].devices[0].address.octets());
        for port in 0..200 {
            // Two packets each: a connection keeps its path.
            for _ in 0..2 {
                offer(&mut emulation, ms(u64::from(port)), 0, &packet(from, to, 500, 0, port));
            }
            until(&mut emulation, ms(u64::from(port)));
        }
        let arrived = until(&mut emulation, ms(1000)).len();
        assert!(arrived > 0);
        [1, 2].map(|link| emulation.counters(link).unwrap_or_default()[0].offered_frames)
    };
    assert_eq!(carried("first"), [400, 0]);
    let [up, down] = carried("ecmp");
    assert_eq!(up + down, 400);
    assert!(up % 2 == 0 && (100..300).contains(&up), "{up}");
}
