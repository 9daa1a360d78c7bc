//! Connections with several subflows: joins, reinjection, addresses, priorities, resets and the ladder.

use arrayvec::ArrayVec;
use mptcp_doctor::{ConnectionReport, Protocol, Role};
use mptcp_wire::crypto::Version;
use mptcp_wire::{
    AddAddress, DataSequence, Flags, MpPrio, MpTcpRst, MptcpOption, RemoveAddress, ResetReason, Segment,
};

use crate::common::{
    Bulk, CLIENT_KEY, Flow, MS, MSS, S, SERVER_KEY, Scene, dss, initial_data, near, only, raw, report_of,
};

const START: u64 = 100 * S;
const RTT: u64 = 20 * MS;
const GAP: u64 = 9 * MS;
/// Bytes of the transfer on the first subflow.
const FIRST: u64 = 140_000;

/// Two subflows that the client opens, captured there. Returns the scene and the end of the join.
fn two(backup: bool) -> (Scene, u64) {
    let mut scene = Scene::at(0, RTT);
    let first = Flow::first();
    let end = scene.open(&first, START);
    Bulk::new(&first, end, 100, GAP).play(&mut scene);
    let joined = scene.join(&Flow::second(), START + 100 * MS, 0, backup);
    (scene, joined)
}

fn option(flow: &Flow, side: usize, option: MptcpOption) -> Segment {
    let mut segment = flow.segment(side, 1, 1, Flags::ACK);
    segment.options.mptcp.push(option);
    segment
}

fn events(connection: &ConnectionReport) -> Vec<&str> {
    connection.events.iter().map(|event| event.what.as_str()).collect()
}

#[test]
fn a_join_belongs_to_the_connection_of_its_token() {
    let (mut scene, joined) = two(false);
    Bulk { data: Some(FIRST + 1), ..Bulk::new(&Flow::second(), joined + S, 50, GAP) }.play(&mut scene);
    let connection = only(&scene.sorted());
    assert_eq!((connection.protocol, connection.version), (Protocol::Mptcp, Some(1)));
    let tokens = [CLIENT_KEY, SERVER_KEY].map(|key| Some(Version::V1.digest(key).token));
    assert_eq!(connection.tokens, tokens);
    let [first, second] = connection.subflows.as_slice() else { panic!("{:?}", connection.subflows) };
    assert_eq!(second.ends, ["10.0.2.1:50000", "10.0.1.1:443"]);
    assert_eq!((second.opener, second.handshake.as_str()), (Role::Client, "established"));
    assert_eq!(second.address_ids, [Some(2), Some(0)]);
    assert!(!second.is_backup);
    near(second.start, 0.1);
    near(second.handshake_rtt.unwrap(), 20.0);
    near(first.data[0].share, 2.0 / 3.0);
    near(second.data[0].share, 1.0 / 3.0);
    assert_eq!((first.data[0].bytes, second.data[0].bytes), (FIRST, 70_000));
    let data = &connection.data[0];
    assert_eq!((data.bytes, data.delivered, data.reinjected, data.needless), (210_000, 210_000, 0, 0));
}

#[test]
fn the_server_may_open_a_subflow() {
    let (mut scene, _) = two(false);
    scene.segments.retain(|(_, one)| one.source.port() != 50_000 && one.destination.port() != 50_000);
    let flow = Flow::new("10.0.1.1:51000", "10.0.3.1:52000");
    // The client, which is the listener, is at the capture.
    scene.distance = [RTT, 0];
    let joined = scene.join(&flow, START + 100 * MS, 1, false);
    // The client sends on it.
    let data = Bulk { data: Some(FIRST + 1), side: 1, host: 0, ..Bulk::new(&flow, joined + S, 50, GAP) };
    data.play(&mut scene);
    let connection = only(&scene.sorted());
    assert_eq!(connection.subflows.len(), 2);
    let second = &connection.subflows[1];
    assert_eq!(second.opener, Role::Server);
    // The order of the connection: client first.
    assert_eq!(second.ends, ["10.0.3.1:52000", "10.0.1.1:51000"]);
    assert_eq!((second.data[0].bytes, second.data[1].bytes), (70_000, 0));
    near(second.data[0].base_rtt.unwrap(), 20.0);
    assert_eq!((connection.data[0].bytes, connection.data[0].delivered), (210_000, 210_000));
    assert_eq!(connection.place, "client");
}

#[test]
fn reinjected_data_is_counted_by_its_state() {
    let first = Flow::first();
    let second = Flow::second();
    let mut scene = Scene::at(0, RTT);
    let end = scene.open(&first, START);
    let joined = scene.join(&second, end + MS, 0, false);
    let time = joined + MS;
    // Three segments on the first subflow; the second of them is sent on the other subflow too.
    for index in 0..3 {
        let number = 1 + index * MSS;
        scene.add(time, first.mapped(0, number, MSS, number.into()));
    }
    scene.add(time + RTT, first.data_ack(1, 1 + MSS, &[], u64::from(1 + MSS)));
    scene.add(time + 300 * MS, second.mapped(0, 1, MSS, u64::from(1 + MSS)));
    let all = u64::from(1 + 3 * MSS);
    scene.add(time + 400 * MS, second.data_ack(1, 1 + MSS, &[], all));
    let one = only(&scene.sorted());
    let data = &one.data[0];
    assert_eq!((data.bytes, data.delivered), (4200, 4200));
    assert_eq!((data.reinjected, data.needless), (1400, 0));
    assert_eq!((one.subflows[0].data[0].bytes, one.subflows[1].data[0].bytes), (4200, 1400));
    assert_eq!(one.subflows[0].data[0].retransmissions, 0);
    near(data.longest_stall, 0.38);
    // A copy of data that the DATA_ACK covers is needless.
    scene.add(time + 500 * MS, second.mapped(0, 1 + MSS, MSS, u64::from(1 + 2 * MSS)));
    let data = only(&scene.sorted()).data[0].clone();
    assert_eq!((data.bytes, data.reinjected, data.needless), (4200, 2800, 1400));
}

#[test]
fn a_segment_of_two_mappings_uses_the_last_one() {
    // Data without DSS within the range of a mapping belongs to it.
    let flow = Flow::first();
    let mut scene = Scene::at(0, RTT);
    let end = scene.open(&flow, START);
    let mut first = flow.mapped(0, 1, MSS, 1);
    let number = DataSequence::Wide(initial_data(0).wrapping_add(1));
    first.options.dss = Some(dss(None, Some((number, 1, 3 * MSS as u16))));
    scene.add(end, first);
    scene.add(end + MS, flow.data(0, 1 + MSS, MSS));
    scene.add(end + 2 * MS, flow.data(0, 1 + 2 * MSS, MSS));
    scene.add(end + RTT, flow.data_ack(1, 1 + 3 * MSS, &[], u64::from(1 + 3 * MSS)));
    let connection = only(&scene.sorted());
    assert_eq!(connection.protocol, Protocol::Mptcp);
    assert_eq!((connection.data[0].bytes, connection.data[0].delivered), (4200, 4200));
}

fn announcement(echo: bool, port: Option<u16>) -> MptcpOption {
    let hmac = (!echo).then_some(7);
    MptcpOption::AddAddress(AddAddress { echo, id: 3, address: "10.0.9.1".parse().unwrap(), port, hmac })
}

#[test]
fn announced_addresses_are_followed() {
    let (scene, joined) = two(false);
    let flow = Flow::first();
    let one = |change: &dyn Fn(&mut Scene)| {
        let mut scene = scene.clone();
        scene.add(joined + MS, option(&flow, 1, announcement(false, None)));
        change(&mut scene);
        only(&scene.sorted())
    };
    let connection = one(&|_| {});
    let announced = &connection.announced[0];
    assert_eq!((announced.by, announced.id, announced.address.as_str()), (Role::Server, 3, "10.0.9.1:443"));
    assert_eq!((announced.is_echoed, announced.is_used, announced.is_removed), (false, false, false));
    near(announced.time, 0.121);
    assert_eq!(events(&connection), ["ADD_ADDR: address 3 is 10.0.9.1:443"]);
    // Its repetition and its echo are no further addresses.
    let connection = one(&|scene| {
        scene.add(joined + 2 * MS, option(&flow, 1, announcement(false, None)));
        scene.add(joined + 3 * MS, option(&flow, 0, announcement(true, None)));
    });
    assert_eq!(connection.announced.len(), 1);
    assert!(connection.announced[0].is_echoed);
    let connection = one(&|scene| {
        let removed = RemoveAddress { ids: ArrayVec::from_iter([3]) };
        scene.add(joined + 5 * MS, option(&flow, 1, MptcpOption::RemoveAddress(removed)));
        let flow = Flow { initial: [1, 2], ..Flow::new("10.0.2.1:50001", "10.0.9.1:443") };
        scene.join(&flow, joined + 9 * MS, 0, false);
    });
    let announced = &connection.announced[0];
    assert!(announced.is_used && announced.is_removed);
    assert_eq!(events(&connection)[1], "REMOVE_ADDR of address [3]");
    assert_eq!(connection.subflows.len(), 3);
}

#[test]
fn the_port_of_an_announced_address_is_shown() {
    let (mut scene, joined) = two(false);
    scene.add(joined + MS, option(&Flow::first(), 0, announcement(false, Some(8080))));
    let connection = only(&scene.sorted());
    assert_eq!(
        (connection.announced[0].by, connection.announced[0].address.as_str()),
        (Role::Client, "10.0.9.1:8080")
    );
}

#[test]
fn priorities_change_the_role_of_a_subflow() {
    let (scene, joined) = two(true);
    assert!(only(&scene.sorted()).subflows[1].is_backup);
    assert!(!only(&scene.sorted()).subflows[0].is_backup);
    let change = |backup: bool| {
        let mut scene = two(!backup).0;
        let option_of = MptcpOption::Prio(MpPrio { backup, address_id: None });
        scene.add(joined + MS, option(&Flow::second(), 0, option_of));
        only(&scene.sorted())
    };
    let connection = change(false);
    assert!(!connection.subflows[1].is_backup);
    assert_eq!(events(&connection), ["MP_PRIO: the subflow becomes no backup"]);
    let connection = change(true);
    assert!(connection.subflows[1].is_backup);
    assert_eq!(connection.events[0].subflow, 1);
}

#[test]
fn resets_state_their_reason_and_sender() {
    let reasons = [
        (0, "unspecified error (reason 0)"),
        (1, "MPTCP-specific error (reason 1)"),
        (2, "lack of resources (reason 2)"),
        (3, "administratively prohibited (reason 3)"),
        (4, "too much outstanding data (reason 4)"),
        (5, "unacceptable performance (reason 5)"),
        (6, "middlebox interference (reason 6)"),
        (77, "reason 77"),
    ];
    for (reason, text) in reasons {
        for side in [0, 1] {
            let (mut scene, joined) = two(false);
            let mut reset = Flow::second().segment(side, 1, 1, Flags::RST | Flags::ACK);
            let option = MpTcpRst { flags: 0, reason: ResetReason(reason) };
            reset.options.mptcp.push(MptcpOption::TcpRst(option));
            scene.add(joined + MS, reset);
            let connection = only(&scene.sorted());
            let subflow = &connection.subflows[1];
            assert_eq!(subflow.reset.as_deref(), Some(text));
            assert_eq!(subflow.reset_by, Some(Role::of(side)));
            assert_eq!(events(&connection), [format!("reset: {text}")]);
        }
    }
    let (mut scene, joined) = two(false);
    scene.add(joined + MS, Flow::second().segment(1, 1, 1, Flags::RST));
    let subflow = only(&scene.sorted()).subflows[1].clone();
    assert_eq!((subflow.reset, subflow.reset_by), (None, Some(Role::Server)));
}

#[test]
fn fast_close_and_fail_are_events() {
    let (mut scene, joined) = two(false);
    scene.add(joined + MS, option(&Flow::second(), 0, MptcpOption::FastClose(SERVER_KEY)));
    scene.add(joined + MS, option(&Flow::second(), 0, MptcpOption::FastClose(SERVER_KEY)));
    assert_eq!(events(&only(&scene.sorted())), ["MP_FASTCLOSE: the connection was aborted"]);
    let (mut scene, joined) = two(false);
    scene.add(joined + MS, option(&Flow::second(), 1, MptcpOption::Fail(1)));
    let connection = only(&scene.sorted());
    assert_eq!(events(&connection), ["MP_FAIL: a DSS checksum was wrong"]);
    assert_eq!(connection.protocol, Protocol::Fallback);
}

#[test]
fn the_ladder_shows_options_in_words() {
    let (mut scene, joined) = two(true);
    scene.add(joined + MS, option(&Flow::first(), 1, announcement(false, None)));
    let connection = only(&scene.sorted());
    let ladder: Vec<&str> = connection.ladder.iter().map(|rung| rung.what.as_str()).collect();
    assert_eq!(ladder[0], "SYN, MP_CAPABLE v1, no key");
    assert_eq!(ladder[1], "SYN/ACK, MP_CAPABLE v1, a key");
    assert_eq!(ladder[2], "ACK, MP_CAPABLE v1, both keys");
    assert_eq!(ladder[3], "ACK, 1400 bytes, DSS mapping of 1400 bytes");
    assert!(ladder.contains(&"ACK, DSS 8-byte DATA_ACK"), "{ladder:?}");
    let token = Version::V1.digest(SERVER_KEY).token;
    let join = format!("SYN, MP_JOIN token {token:#010x}, address 2, backup");
    assert!(ladder.contains(&join.as_str()), "{ladder:?}");
    assert!(ladder.contains(&"ACK, MP_JOIN HMAC"));
    assert!(ladder.contains(&"ACK, ADD_ADDR 3 = 10.0.9.1"));
    // Data and plain acknowledgements are only shown at the start.
    let plain = connection.ladder.iter().filter(|rung| rung.what.contains("DSS")).count();
    assert_eq!(plain, 6);
    let directions: Vec<Role> = connection.ladder[..3].iter().map(|rung| rung.from).collect();
    assert_eq!(directions, [Role::Client, Role::Server, Role::Client]);
}

#[test]
fn two_connections_at_the_same_time_are_apart() {
    let (mut scene, joined) = two(false);
    Bulk { data: Some(FIRST + 1), ..Bulk::new(&Flow::second(), joined + S, 50, GAP) }.play(&mut scene);
    let other = Flow { initial: [5, 6], ..Flow::new("10.0.0.1:40001", "10.0.1.1:443") };
    let end = scene.open_plain(&other, START + MS);
    Bulk::plain(&other, end, 70, GAP).play(&mut scene);
    let report = report_of(&[raw(&scene.sorted())]).unwrap();
    let found: Vec<_> = report.connections.iter().map(|one| (one.protocol, one.data[0].bytes)).collect();
    assert_eq!(found, [(Protocol::Mptcp, 210_000), (Protocol::Tcp, 98_000)]);
}

#[test]
fn a_join_whose_connection_was_not_captured_is_a_connection_of_its_own() {
    let mut scene = Scene::at(0, RTT);
    let flow = Flow::second();
    let end = scene.join(&flow, START, 0, false);
    Bulk::new(&flow, end, 50, GAP).play(&mut scene);
    let connection = only(&scene.sorted());
    assert_eq!((connection.data[0].bytes, connection.data[0].delivered), (70_000, 70_000));
    assert_eq!(connection.tokens, [None, None]);
}
