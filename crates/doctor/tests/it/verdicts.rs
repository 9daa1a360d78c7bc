//! Verdicts about the form of a connection, from captures that show each fault.

use mptcp_doctor::{ConnectionReport, HostFacts, Verdict};
use mptcp_wire::{AddAddress, Flags, MpCapable, MpTcpRst, MptcpOption, ResetReason, Segment};

use crate::common::{
    Bulk, CLIENT_KEY, Flow, MS, S, SERVER_KEY, Scene, capable, dss, initial_data, only, raw, report_of,
    report_with,
};

const START: u64 = 100 * S;
const RTT: u64 = 20 * MS;
const GAP: u64 = 9 * MS;

/// A handshake whose segments have these options, and a transfer.
fn shaken(options: [Option<MptcpOption>; 3], is_mapped: bool, distance: [u64; 2]) -> Scene {
    let mut scene = Scene::at(distance[0], distance[1]);
    let flow = Flow::first();
    let start = START + distance[0] / 2;
    let end = scene.open_plain(&flow, start) - distance[0] / 2;
    for ((_, segment), option) in scene.segments.iter_mut().zip(options) {
        segment.options.mptcp.extend(option);
    }
    let data = is_mapped.then_some(1);
    Bulk { data, ..Bulk::new(&flow, end, 100, GAP) }.play(&mut scene);
    scene
}

fn usual() -> [Option<MptcpOption>; 3] {
    [
        Some(capable(None, None)),
        Some(capable(Some(SERVER_KEY), None)),
        Some(capable(Some(CLIENT_KEY), Some(SERVER_KEY))),
    ]
}

fn names(connection: &ConnectionReport) -> Vec<&str> {
    connection.verdicts.iter().map(|one| one.name.as_str()).collect()
}

/// The verdict of this name, which has evidence.
#[track_caller]
fn find<'a>(connection: &'a ConnectionReport, name: &str) -> &'a Verdict {
    let found = connection.verdicts.iter().find(|one| one.name == name);
    let found = found.unwrap_or_else(|| panic!("{:?}", names(connection)));
    assert!(!found.evidence.is_empty() || found.name == "cannot-tell");
    assert!(!found.advice.is_empty());
    found
}

#[track_caller]
fn falls_back(segments: &[(u64, Segment)], part: &str) {
    let connection = only(segments);
    let found = find(&connection, "fallback");
    assert!(found.summary.contains(part), "{}", found.summary);
    assert!(found.share >= 0.08);
}

#[test]
fn tcp_is_no_fault_unless_mptcp_is_expected() {
    let scene = shaken([None, None, None], false, [0, RTT]);
    let connection = only(&scene.sorted());
    assert_eq!(names(&connection), ["cannot-tell", "plain-tcp"]);
    assert_eq!(find(&connection, "plain-tcp").share, 0.0);
    let host = HostFacts { expects_mptcp: true, ..HostFacts::default() };
    let report = report_with(&[raw(&scene.sorted())], &host).unwrap();
    assert!(find(&report.connections[0], "plain-tcp").share > 0.4);
    let host = HostFacts { blackhole_active: true, ..HostFacts::default() };
    let report = report_with(&[raw(&scene.sorted())], &host).unwrap();
    assert!(find(&report.connections[0], "blackhole").summary.contains("this kernel saw SYNs"));
}

#[test]
fn a_syn_ack_without_the_option_is_a_fallback() {
    let [syn, ..] = usual();
    falls_back(&shaken([syn, None, None], false, [0, RTT]).sorted(), "SYN/ACK has no MP_CAPABLE");
}

#[test]
fn a_third_ack_without_the_option_is_a_fallback() {
    let [syn, syn_ack, _] = usual();
    falls_back(&shaken([syn, syn_ack, None], false, [RTT, 0]).sorted(), "the third ACK has no MP_CAPABLE");
}

#[test]
fn data_without_dss_is_a_fallback() {
    falls_back(&shaken(usual(), false, [RTT, 0]).sorted(), "data arrives without DSS options");
    let connection = only(&shaken(usual(), false, [RTT, 0]).sorted());
    assert_eq!((connection.data[0].bytes, connection.data[0].delivered), (140_000, 140_000));
}

#[test]
fn a_wrong_checksum_is_a_fallback() {
    let mut scene = shaken(usual(), true, [0, RTT]);
    let mut fail = Flow::first().ack(1, 1, &[]);
    fail.options.mptcp.push(MptcpOption::Fail(initial_data(0)));
    scene.add(START + 200 * MS, fail);
    falls_back(&scene.sorted(), "a DSS checksum was wrong");
}

#[test]
fn an_infinite_mapping_is_a_fallback() {
    let mut scene = shaken(usual(), true, [0, RTT]);
    let mut infinite = Flow::first().ack(0, 1, &[]);
    let number = mptcp_wire::DataSequence::Wide(initial_data(0).wrapping_add(140_001));
    infinite.options.dss = Some(dss(None, Some((number, 140_001, 0))));
    scene.add(START + 2 * S, infinite);
    falls_back(&scene.sorted(), "an infinite mapping");
}

#[test]
fn both_ends_show_where_the_option_was_removed() {
    let [syn, syn_ack, third] = usual();
    let client = |options| raw(&shaken(options, false, [0, RTT]).sorted());
    let server = |options| raw(&shaken(options, false, [RTT, 0]).sorted());
    let cases = [
        ([syn.clone(), None, None], [None, None, None], "SYN has MP_CAPABLE, but it arrives without it"),
        ([syn.clone(), None, None], [syn, syn_ack, third], "its SYN/ACK arrives without MP_CAPABLE"),
    ];
    for (here, there, part) in cases {
        let report = report_of(&[client(here), server(there)]).unwrap();
        assert_eq!(report.connections.len(), 1);
        let found = find(&report.connections[0], "fallback");
        assert!(found.summary.contains(part), "{}", found.summary);
    }
}

#[test]
fn a_plain_syn_after_unanswered_ones_is_a_blackhole() {
    let flow = Flow::first();
    let mut scene = Scene::at(0, RTT);
    for attempt in 0..2 {
        let mut syn = flow.syn();
        syn.options.mptcp.push(capable(None, None));
        scene.add(START + attempt * S, syn);
    }
    let end = scene.open_plain(&flow, START + 3 * S);
    Bulk::plain(&flow, end, 100, GAP).play(&mut scene);
    let connection = only(&scene.sorted());
    let found = find(&connection, "blackhole");
    assert!(found.summary.contains("after 3.0 s"), "{}", found.summary);
    assert!((found.cost_seconds.unwrap() - 3.02).abs() < 1e-6);
    assert_eq!(connection.subflows[0].repeated_syns, 2);
    assert_eq!(connection.subflows[0].handshake_rtt, None);
}

/// A transfer on the first subflow, with the first segments of a join 100 ms later.
fn joining(change: impl Fn(&mut [Segment; 3]), count: usize) -> Scene {
    let mut scene = shaken(usual(), true, [0, RTT]);
    let mut segments = Scene::join_segments(&Flow::second(), 0, false);
    change(&mut segments);
    let times = [100 * MS, 100 * MS + RTT, 100 * MS + RTT];
    for (time, segment) in times.into_iter().zip(segments).take(count) {
        scene.add(START + time, segment);
    }
    scene
}

#[test]
fn a_join_without_an_answer_is_named() {
    let mut scene = joining(|_| {}, 1);
    let [syn, ..] = Scene::join_segments(&Flow::second(), 0, false);
    scene.add(START + 300 * MS, syn.clone());
    scene.add(START + 700 * MS, syn);
    let connection = only(&scene.sorted());
    let found = find(&connection, "join-unanswered");
    assert!(found.summary.contains("3 SYNs with MP_JOIN from 10.0.2.1"), "{}", found.summary);
    assert_eq!(found.subflow, Some(1));
    assert_eq!(connection.subflows[1].handshake, "unanswered");
    assert!((found.share - 0.5).abs() < 1e-9);
}

#[test]
fn a_syn_ack_that_nobody_answers_is_named() {
    let mut scene = joining(|_| {}, 2);
    Bulk { first: 140_001, data: Some(140_001), ..Bulk::new(&Flow::first(), START + 2 * S, 20, GAP) }
        .play(&mut scene);
    let connection = only(&scene.sorted());
    assert!(find(&connection, "join-unanswered").summary.contains("SYN/ACK to the join from 10.0.2.1"));
}

#[test]
fn a_join_that_a_reset_answers_is_named() {
    let mut scene = joining(|_| {}, 1);
    let mut reset = Flow::second().segment(1, 0, 1, Flags::RST | Flags::ACK);
    let reason = MpTcpRst { flags: 0, reason: ResetReason::PROHIBITED };
    reset.options.mptcp.push(MptcpOption::TcpRst(reason));
    scene.add(START + 100 * MS + RTT, reset);
    let connection = only(&scene.sorted());
    let found = find(&connection, "join-refused");
    assert!(found.summary.contains("administratively prohibited (reason 3)"), "{}", found.summary);
    assert_eq!(connection.subflows[1].handshake, "refused");
}

#[test]
fn a_join_that_is_answered_as_tcp_is_named() {
    let mut scene = joining(|segments| segments[1].options.mptcp.clear(), 2);
    scene.add(START + 100 * MS + RTT, Flow::second().segment(0, 1, 0, Flags::RST));
    let connection = only(&scene.sorted());
    assert!(find(&connection, "join-stripped").summary.contains("has no MP_JOIN"));
    assert_eq!(connection.subflows[1].handshake, "without MPTCP");
}

#[test]
fn a_third_ack_of_a_join_without_the_option_is_named() {
    let mut scene = joining(|segments| segments[2].options.mptcp.clear(), 3);
    scene.add(START + 100 * MS + RTT, Flow::second().segment(1, 1, 1, Flags::RST));
    let connection = only(&scene.sorted());
    let found = find(&connection, "join-stripped");
    assert!(found.summary.contains("removes MP_JOIN from the third ACK"), "{}", found.summary);
}

#[test]
fn a_join_that_succeeds_later_is_no_fault() {
    let mut scene = joining(|_| {}, 1);
    let flow = Flow { initial: [90, 91], ..Flow::new("10.0.2.1:50001", "10.0.1.1:443") };
    let end = scene.join(&flow, START + S, 0, false);
    Bulk { data: Some(140_001), ..Bulk::new(&flow, end, 100, GAP) }.play(&mut scene);
    let connection = only(&scene.sorted());
    assert!(!names(&connection).contains(&"join-unanswered"), "{:?}", names(&connection));
    assert_eq!(connection.data[0].delivered, 280_000);
}

#[test]
fn an_announced_address_that_nobody_uses_is_named() {
    let announce = |echo: bool| {
        let hmac = (!echo).then_some(9);
        let address = "10.0.9.1".parse().unwrap();
        let mut segment = Flow::first().ack(usize::from(!echo), 1, &[]);
        let option = AddAddress { echo, id: 3, address, port: None, hmac };
        segment.options.mptcp.push(MptcpOption::AddAddress(option));
        segment
    };
    let mut scene = shaken(usual(), true, [0, RTT]);
    scene.add(START + 50 * MS, announce(false));
    let silent = only(&scene.sorted());
    let part = "the server announced 10.0.9.1:443, and the client did not even confirm the option";
    assert!(find(&silent, "add-addr-unanswered").summary.contains(part));
    scene.add(START + 51 * MS, announce(true));
    let host = HostFacts { add_addr_accepted: Some(0), ..HostFacts::default() };
    let report = report_with(&[raw(&scene.sorted())], &host).unwrap();
    let found = find(&report.connections[0], "add-addr-unanswered");
    assert!(found.summary.contains("confirmed the option, but opened no subflow"), "{}", found.summary);
    assert!(found.summary.contains("its limit add_addr_accepted is 0"));
    assert_eq!(found.evidence.len(), 2);
}

#[test]
fn a_single_subflow_is_named_with_its_reason() {
    let scene = shaken(usual(), true, [0, RTT]);
    let found = find(&only(&scene.sorted()), "one-subflow").clone();
    assert!(found.summary.contains("none opened a second subflow"));
    let with = |host: HostFacts| {
        let report = report_with(&[raw(&scene.sorted())], &host).unwrap();
        find(&report.connections[0], "one-subflow").summary.clone()
    };
    let limit = with(HostFacts { subflow_limit: Some(0), ..HostFacts::default() });
    assert!(limit.ends_with("the limit of additional subflows is 0"), "{limit}");
    let endpoints = with(HostFacts { endpoints: Some(0), ..HostFacts::default() });
    assert!(endpoints.ends_with("the host has no endpoints"), "{endpoints}");
    // Flag C of the server.
    let [syn, _, third] = usual();
    let flags = MpCapable::HMAC | MpCapable::NO_JOIN_HERE;
    let forbids =
        MpCapable { version: 1, flags, sender_key: Some(SERVER_KEY), receiver_key: None, data: None };
    let scene = shaken([syn, Some(MptcpOption::Capable(forbids)), third], true, [0, RTT]);
    let found = find(&only(&scene.sorted()), "one-subflow").summary.clone();
    assert!(found.contains("the server forbids joins to this address (flag C)"), "{found}");
}

#[test]
fn an_idle_backup_is_named() {
    let mut scene = shaken(usual(), true, [0, RTT]);
    scene.join(&Flow::second(), START + 100 * MS, 0, true);
    let connection = only(&scene.sorted());
    let found = find(&connection, "backup");
    assert_eq!(found.subflow, Some(1));
    assert!(found.summary.contains("the host that opened it asked for that"), "{}", found.summary);
    // A backup that carries data is none.
    let second = Bulk { data: Some(140_001), ..Bulk::new(&Flow::second(), START + 2 * S, 100, GAP) };
    second.play(&mut scene);
    assert!(!names(&only(&scene.sorted())).contains(&"backup"));
}

#[test]
fn captures_that_show_too_little_cannot_tell() {
    let summary = |segments: &[(u64, Segment)]| {
        let connection = only(segments);
        assert_eq!(names(&connection)[0], "cannot-tell", "{:?}", names(&connection));
        find(&connection, "cannot-tell").summary.clone()
    };
    let all = shaken(usual(), true, [0, RTT]).sorted();
    assert!(summary(&all[..40]).contains("too little data was transferred"));
    let mut one_way = all.clone();
    one_way.retain(|(_, one)| one.source.port() == 40_000);
    assert!(summary(&one_way).contains("acknowledgements are missing"));
    let mut acknowledgements = all.clone();
    acknowledgements.retain(|(_, one)| one.payload.is_empty());
    assert!(summary(&acknowledgements).contains("most of the data was not captured"));
    let mut short = Scene::at(0, RTT);
    let end = short.open(&Flow::first(), START);
    Bulk::new(&Flow::first(), end, 100, MS).play(&mut short);
    assert!(summary(&short.sorted()).contains("the capture is too short"));
    let middle = &all[3..140];
    let connection = only(middle);
    let found = find(&connection, "cannot-tell");
    assert!(found.advice.iter().any(|one| one.contains("start the capture before the connection")));
}

#[test]
fn every_connection_has_a_verdict_and_shares_are_ranked() {
    let scenes = [
        shaken(usual(), true, [0, RTT]),
        shaken([None, None, None], false, [RTT, 0]),
        joining(|_| {}, 1),
        joining(|_| {}, 3),
    ];
    for scene in scenes {
        let all = scene.sorted();
        for count in 1..all.len() {
            let report = report_of(&[raw(&all[..count])]).unwrap();
            for connection in &report.connections {
                assert!(!connection.verdicts.is_empty());
                for one in &connection.verdicts {
                    assert!((0.0..=1.0).contains(&one.share), "{one:?}");
                    let packets = report.packets;
                    assert!(one.evidence.iter().all(|proof| proof.packet.number <= packets), "{one:?}");
                }
                let rest = connection.verdicts.iter().skip_while(|one| one.name == "cannot-tell");
                let shares: Vec<f64> = rest.map(|one| one.share).collect();
                assert!(connection.verdicts[0].name == "healthy" || shares.is_sorted_by(|a, b| a >= b));
            }
        }
    }
}
