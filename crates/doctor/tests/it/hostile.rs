//! Arbitrary changes of captures: no panic, bounded reports, and numbers that are finite.

use std::sync::LazyLock;

use arrayvec::ArrayVec;
use bytes::Bytes;
use mptcp_doctor::Report;
use mptcp_wire::{
    AddAddress, DataSequence, Dss, Flags, MpJoin, MpPrio, MpTcpRst, MptcpOption, RemoveAddress, ResetReason,
    Segment, Seq, Timestamps,
};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::common::{
    Bulk, CLIENT_KEY, ETHERNET, Flow, Form, Frame, MS, RAW, S, SERVER_KEY, Scene, capable, dss, initial_data,
    ip, pcap, raw, report_of,
};
use crate::schema::check_report;

const START: u64 = 100 * S;
/// Entries of a list in a report, at most.
const MOST_CONNECTIONS: usize = 1000;
const MOST_SUBFLOWS: usize = 20_000;

/// Asserts the bounds of a report, and the form of its JSON.
pub(crate) fn check(report: &Report) {
    check_report(report);
    assert!(report.connections.len() <= MOST_CONNECTIONS);
    let subflows: usize = report.connections.iter().map(|one| one.subflows.len()).sum();
    assert!(subflows <= MOST_SUBFLOWS);
    assert!(report.segments <= report.packets);
    for connection in &report.connections {
        assert!(connection.ladder.len() <= 60);
        assert!(connection.events.len() <= 256);
        assert!(connection.announced.len() <= 64);
        assert!(!connection.verdicts.is_empty());
        assert!(connection.verdicts.len() <= 20 + 5 * connection.subflows.len());
        for data in &connection.data {
            assert!(data.series.goodput.len() <= 256);
            assert!(data.needless <= data.reinjected);
            assert!(data.goodput >= 0.0 && data.potential >= 0.0 && data.idle >= 0.0);
        }
        for sent in connection.subflows.iter().flat_map(|one| &one.data) {
            assert!(sent.series.rate.len() <= 256);
            assert!((0.0..=1.0).contains(&sent.share), "{}", sent.share);
            assert!(sent.retransmissions == 0 || sent.segments > 0);
        }
        for verdict in &connection.verdicts {
            assert!(verdict.share >= 0.0, "{verdict:?}");
            // Several failed joins on one path are one verdict with evidence of each.
            assert!(verdict.evidence.len() <= 8 + 2 * connection.subflows.len());
        }
    }
}

/// Two subflows with losses, a late backup and an announced address, at the client or at the server.
fn base(distance: [u64; 2]) -> Vec<(u64, Segment)> {
    let (first, second) = (Flow::first(), Flow::second());
    let mut scene = Scene::at(distance[0], distance[1]);
    let end = scene.open(&first, START);
    let lost = vec![7, 20, 21];
    Bulk { lost, ..Bulk::new(&first, end, 40, 9 * MS) }.play(&mut scene);
    let joined = scene.join(&second, START + 100 * MS, 0, true);
    let mut announced = first.ack(1, 1, &[]);
    announced.options.mptcp.push(address(3, false));
    scene.add(joined, announced);
    let data = Bulk { data: Some(56_001), ..Bulk::new(&second, joined + S, 20, 9 * MS) };
    let last = data.play(&mut scene);
    scene.add(last, first.segment(0, 56_001, 1, Flags::FIN | Flags::ACK));
    scene.add(last, second.segment(1, 1, 28_001, Flags::RST));
    scene.clock = (distance[0] > 0).then_some(MS);
    scene.sorted()
}

static BASES: LazyLock<[Vec<(u64, Segment)>; 2]> =
    LazyLock::new(|| [base([0, 20 * MS]), base([20 * MS, MS])]);

fn address(id: u8, echo: bool) -> MptcpOption {
    let address = [10, 0, 9, id].into();
    MptcpOption::AddAddress(AddAddress { echo, id, address, port: None, hmac: (!echo).then_some(5) })
}

/// A change of a list of frames. Numbers select a frame modulo their count.
#[derive(Clone, Debug)]
enum Change {
    Flip(usize, usize, u8),
    Delete(usize, usize),
    Duplicate(usize),
    Swap(usize, usize),
    Time(usize, u64),
    Truncate(usize, usize),
    Original(usize, u32),
    Sequence(usize, u32),
    Acknowledgment(usize, u32),
}

fn change() -> impl Strategy<Value = Change> {
    let at = any::<usize>;
    prop_oneof![
        (at(), any::<usize>(), 1..=255_u8).prop_map(|(at, byte, bits)| Change::Flip(at, byte, bits)),
        (at(), 1..5_usize).prop_map(|(at, count)| Change::Delete(at, count)),
        at().prop_map(Change::Duplicate),
        (at(), at()).prop_map(|(one, other)| Change::Swap(one, other)),
        (at(), prop_oneof![Just(0), Just(u64::MAX), any::<u64>(), 99 * S..200 * S])
            .prop_map(|(at, time)| Change::Time(at, time)),
        (at(), 0..80_usize).prop_map(|(at, length)| Change::Truncate(at, length)),
        (at(), any::<u32>()).prop_map(|(at, length)| Change::Original(at, length)),
        (at(), any::<u32>()).prop_map(|(at, number)| Change::Sequence(at, number)),
        (at(), any::<u32>()).prop_map(|(at, number)| Change::Acknowledgment(at, number)),
    ]
}

fn apply(frames: &mut Vec<Frame>, change: &Change) {
    let count = frames.len();
    if count == 0 {
        return;
    }
    match *change {
        Change::Flip(at, byte, bits) => {
            let bytes = &mut frames[at % count].bytes;
            // Most of a packet is payload, which is not read.
            let length = bytes.len().min(100);
            if length > 0 {
                bytes[byte % length] ^= bits;
            }
        }
        Change::Delete(at, some) => drop(frames.drain(at % count..(at % count + some).min(count))),
        Change::Duplicate(at) => frames.insert(at % count, frames[at % count].clone()),
        Change::Swap(one, other) => frames.swap(one % count, other % count),
        Change::Time(at, time) => frames[at % count].time = time,
        Change::Truncate(at, length) => frames[at % count].bytes.truncate(length),
        Change::Original(at, length) => frames[at % count].original = length,
        Change::Sequence(at, number) => set(&mut frames[at % count], 24, number),
        Change::Acknowledgment(at, number) => set(&mut frames[at % count], 28, number),
    }
}

fn set(frame: &mut Frame, at: usize, number: u32) {
    if let Some(bytes) = frame.bytes.get_mut(at..at + 4) {
        bytes.copy_from_slice(&number.to_be_bytes());
    }
}

fn frames(segments: &[(u64, Segment)]) -> Vec<Frame> {
    segments.iter().map(|(time, one)| Frame::new(*time, ip(one))).collect()
}

/// Numbers near those of a connection, or anywhere.
fn number() -> impl Strategy<Value = u32> {
    prop_oneof![6 => 0..60_000_u32, 2 => any::<u32>(), 1 => (0..2000_u32).prop_map(|back| back.wrapping_neg())]
}

fn data_sequence(side: usize) -> impl Strategy<Value = DataSequence> {
    let base = initial_data(side);
    prop_oneof![
        4 => (0..60_000_u64).prop_map(move |after| DataSequence::Wide(base.wrapping_add(after))),
        1 => any::<u64>().prop_map(DataSequence::Wide),
        2 => (0..60_000_u64).prop_map(move |after| DataSequence::Short(base.wrapping_add(after) as u32)),
        1 => any::<u32>().prop_map(DataSequence::Short),
    ]
}

fn data_option(side: usize) -> impl Strategy<Value = Dss> {
    let mapping = (data_sequence(side), number(), any::<u16>());
    (proptest::option::of(data_sequence(1 - side)), proptest::option::of(mapping), any::<bool>()).prop_map(
        |(ack, mapping, data_fin)| Dss { data_fin: data_fin && mapping.is_some(), ..dss(ack, mapping) },
    )
}

fn multipath_option() -> impl Strategy<Value = MptcpOption> {
    use mptcp_wire::crypto::Version;
    let tokens = [CLIENT_KEY, SERVER_KEY].map(|key| Version::V1.digest(key).token);
    let join = move |(which, backup, address_id): (usize, bool, u8)| {
        MptcpOption::Join(MpJoin::Syn { backup, address_id, token: tokens[which], nonce: 1 })
    };
    prop_oneof![
        Just(capable(None, None)),
        Just(capable(Some(SERVER_KEY), None)),
        Just(capable(Some(CLIENT_KEY), Some(SERVER_KEY))),
        any::<u64>().prop_map(|key| capable(Some(key), None)),
        (0..2_usize, any::<bool>(), any::<u8>()).prop_map(join),
        Just(MptcpOption::Join(MpJoin::SynAck { backup: false, address_id: 1, hmac: 2, nonce: 3 })),
        Just(MptcpOption::Join(MpJoin::Ack { hmac: [0; 20] })),
        (any::<u8>(), any::<bool>()).prop_map(|(id, echo)| address(id, echo)),
        any::<u8>()
            .prop_map(|id| MptcpOption::RemoveAddress(RemoveAddress { ids: ArrayVec::from_iter([id]) })),
        any::<bool>().prop_map(|backup| MptcpOption::Prio(MpPrio { backup, address_id: None })),
        any::<u64>().prop_map(MptcpOption::Fail),
        any::<u64>().prop_map(MptcpOption::FastClose),
        any::<u8>()
            .prop_map(|reason| MptcpOption::TcpRst(MpTcpRst { flags: 0, reason: ResetReason(reason) })),
    ]
}

/// A segment of one of three flows; most options do not fit together.
fn segment() -> impl Strategy<Value = Segment> {
    let flags = prop_oneof![6 => Just(0x10_u16), 1 => Just(2), 1 => Just(0x12), 1 => 0..64_u16];
    let head = (0..3_usize, 0..2_usize, number(), number(), flags, any::<u16>());
    let length = prop_oneof![Just(0_usize), Just(1400), 0..3000_usize];
    let blocks = vec((number(), number()), 0..3);
    let times = proptest::option::of((any::<u8>(), any::<u8>()));
    let data = [0, 1].map(|side| proptest::option::of(data_option(side)));
    let option = proptest::option::weighted(0.3, multipath_option());
    (head, length, blocks, times, data, option).prop_map(|(head, length, blocks, times, data, option)| {
        let (flow, side, sequence, ack, flags, window) = head;
        let flows = [Flow::first(), Flow::second(), Flow::new("10.0.1.1:443", "10.0.3.1:9")];
        let mut one = flows[flow].segment(side, sequence, ack, Flags::from_bits(flags));
        one.window = window;
        one.payload = Bytes::from(vec![0; length]);
        one.options.mptcp.extend(option);
        one.options.dss.clone_from(&data[side]);
        let times = times.map(|(value, echo)| Timestamps { value: value.into(), echo: echo.into() });
        one.options.timestamps = times;
        if one.flags.syn() {
            (one.options.mss, one.options.window_scale) = (Some(window), Some(window as u8));
        }
        one.options.sack = blocks.iter().map(|(left, right)| (Seq::new(*left), Seq::new(*right))).collect();
        // Options that do not fit are dropped, the most common ones first.
        if one.options.length() > 40 {
            one.options.sack.clear();
        }
        if one.options.length() > 40 {
            one.options.timestamps = None;
        }
        if one.options.length() > 40 {
            one.options.dss = None;
        }
        one
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn changed_packets_give_reports(which in 0..2_usize, changes in vec(change(), 1..20)) {
        let mut frames = frames(&BASES[which]);
        changes.iter().for_each(|change| apply(&mut frames, change));
        check(&report_of(&[pcap(Form::link(RAW), &frames)]).unwrap());
    }

    #[test]
    fn changed_files_give_reports_or_errors(
        which in 0..2_usize,
        flips in vec((any::<usize>(), any::<u8>()), 1..20),
        at in any::<usize>(),
        count in 0..200_usize,
    ) {
        let mut bytes = raw(&BASES[which]);
        for (at, value) in flips {
            let length = bytes.len();
            bytes[at % length] = value;
        }
        let at = at % bytes.len();
        bytes.drain(at..(at + count).min(bytes.len()));
        if let Ok(report) = report_of(&[bytes]) {
            check(&report);
        }
    }

    #[test]
    fn both_ends_may_be_changed(changes in vec(change(), 1..10), others in vec(change(), 1..10)) {
        let changed = |which: usize, changes: &[Change]| {
            let mut frames = frames(&BASES[which]);
            changes.iter().for_each(|change| apply(&mut frames, change));
            pcap(Form::link(RAW), &frames)
        };
        check(&report_of(&[changed(0, &changes), changed(1, &others)]).unwrap());
    }

    #[test]
    fn arbitrary_segments_give_reports(
        has_start in any::<bool>(),
        segments in vec((segment(), prop_oneof![4 => 0..50 * MS, 1 => any::<u64>()]), 1..120),
    ) {
        let mut scene = Scene::at(0, 20 * MS);
        let mut time = START;
        if has_start {
            time = scene.open(&Flow::first(), time);
        }
        for (segment, step) in segments {
            time = time.wrapping_add(step) % (u64::from(u32::MAX) * S);
            scene.add(time, segment);
        }
        let frames: Vec<Frame> = frames(&scene.segments);
        check(&report_of(&[pcap(Form::link(RAW), &frames)]).unwrap());
    }

    #[test]
    fn arbitrary_frames_give_reports(link in 0..300_u32, frames in vec(vec(any::<u8>(), 0..120), 1..30)) {
        let frames: Vec<Frame> = frames.into_iter().map(|bytes| Frame::new(START, bytes)).collect();
        check(&report_of(&[pcap(Form::link(link), &frames)]).unwrap());
        check(&report_of(&[pcap(Form::link(ETHERNET), &frames)]).unwrap());
    }
}

#[test]
fn a_scan_of_many_ports_is_bounded() {
    let mut segments = Vec::new();
    for number in 0..30_000_u32 {
        let (port, host) = (1024 + number % 30_000, number % 250);
        let flow =
            Flow { initial: [number, 1], ..Flow::new(&format!("10.7.0.{host}:{port}"), "10.0.1.1:443") };
        segments.push((START + u64::from(number) * 1000, flow.syn()));
    }
    let report = report_of(&[raw(&segments)]).unwrap();
    assert_eq!((report.connections.len(), report.omitted_connections), (1000, 19_000));
    assert_eq!((report.segments, report.omitted_segments), (30_000, 10_000));
    check(&report);
}

#[test]
fn many_joins_and_addresses_are_bounded() {
    let first = Flow::first();
    let mut scene = Scene::at(0, 20 * MS);
    let mut time = scene.open(&first, START);
    for number in 0..1000_u32 {
        time += MS;
        let port = 10_000 + number;
        let flow = Flow { initial: [number, 1], ..Flow::new(&format!("10.0.2.1:{port}"), "10.0.1.1:443") };
        scene.add(time, Scene::join_segments(&flow, 0, false)[0].clone());
        let mut announced = first.ack(1, 1, &[]);
        announced.options.mptcp.push(address(number as u8, false));
        scene.add(time, announced);
    }
    Bulk::new(&first, time, 100, 9 * MS).play(&mut scene);
    let report = report_of(&[raw(&scene.sorted())]).unwrap();
    let connection = &report.connections[0];
    assert_eq!((connection.subflows.len(), connection.announced.len()), (32, 64));
    // All joins of one path are one fault.
    let faults = connection.verdicts.iter().filter(|one| one.name == "join-unanswered").count();
    assert_eq!(faults, 1);
    check(&report);
}

#[test]
fn gaps_and_blocks_without_end_are_bounded() {
    let flow = Flow::first();
    let mut scene = Scene::at(20 * MS, 0);
    let end = scene.open(&flow, START);
    // Each second byte, so that each segment leaves a gap at both levels.
    for index in 0..100_000_u32 {
        let number = 1 + 2 * index;
        scene.add(end + u64::from(index) * 10_000, flow.mapped(0, number, 1, number.into()));
    }
    let report = report_of(&[raw(&scene.sorted())]).unwrap();
    assert_eq!(report.connections[0].data[0].bytes, 100_000);
    check(&report);
}

#[test]
fn times_that_go_back_are_accepted() {
    for which in 0..2 {
        let mut segments = BASES[which].clone();
        segments.reverse();
        check(&report_of(&[raw(&segments)]).unwrap());
        let count = segments.len() as u64;
        for (index, (time, _)) in (0..).zip(segments.iter_mut()) {
            *time = (count - index) * S;
        }
        check(&report_of(&[raw(&segments)]).unwrap());
    }
}

#[test]
fn a_handshake_over_many_years_has_no_place_that_overflows() {
    let flow = Flow::first();
    let years = 4_000_000_000 * S;
    let segments = [(0, flow.syn()), (years, flow.syn_ack()), (years, flow.third())];
    let report = report_of(&[raw(&segments)]).unwrap();
    assert_eq!(report.connections[0].place, "client");
    check(&report);
}
