//! What Linux makes of each mapping, end and failure, segment by segment.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests")]

mod laboratory;

use std::io::ErrorKind;
use std::net::TcpStream;
use std::time::Duration;

use laboratory::raw::{Flow, KEY, Wire, number, reason_of};
use laboratory::{
    End, LIMIT, Namespace, Protocol, at, linux, linux_info, linux_subflows, wait_until, within,
};
use mptcp_wire::{
    DataSequence, Dss, Flags, Mapping, MpCapable, MpPrio, MpTcpRst, MptcpOption, ResetReason, Segment, Seq,
    Timestamps,
};

const H: u8 = MpCapable::HMAC;
const C: u8 = MpCapable::CHECKSUM_REQUIRED;

/// A connection over which five bytes have gone.
fn open<'a>(namespace: &Namespace, wire: &'a Wire, flags: u8) -> (Flow<'a>, TcpStream) {
    let listener = namespace.listen(at(linux(1)), Protocol::Mptcp);
    let mut flow = Flow::connect(wire, 2_000, flags);
    let (them, _) = listener.accept().unwrap();
    them.be_patient();
    if flags & C == 0 {
        flow.send(1, b"first")
    } else {
        flow.send_summed(1, b"first", 0)
    }
    flow.acked();
    read(&them, b"first");
    // Later joins are heard as long as a listener is there.
    std::mem::forget(listener);
    (flow, them)
}

/// As [`open`], with a second subflow that works.
fn open_two<'a>(namespace: &Namespace, wire: &'a Wire, flags: u8) -> (Flow<'a>, Flow<'a>, TcpStream) {
    let (first, them) = open(namespace, wire, flags);
    let mut second = Flow::join(wire, &first, 2_001, true);
    second.hear("the fourth ACK", |segment| segment.flags == Flags::ACK);
    wait_until("it has joined", || linux_subflows(&them) == Some(1));
    (first, second, them)
}

/// Linux's application gets these bytes next.
fn read(them: &TcpStream, expected: &[u8]) {
    let mut received = vec![0; expected.len()];
    let mut count = 0;
    while count < expected.len() {
        let some = them.read_some(&mut received[count..]).unwrap();
        assert!(some > 0, "the stream has ended");
        count += some;
    }
    assert_eq!(received, expected);
}

fn has(segment: &Segment, wanted: impl Fn(&MptcpOption) -> bool) -> bool {
    segment.options.mptcp.iter().any(wanted)
}

fn failed(segment: &Segment) -> bool {
    has(segment, |option| matches!(option, MptcpOption::Fail(_)))
}

/// Its DATA_ACKs are as wide as the data sequence number that came last; its own numbers always have 8 bytes.
#[test]
fn widths_of_numbers() {
    within(LIMIT, || {
        let Some((namespace, wire)) = Wire::new() else { return };
        let (mut flow, them) = open(&namespace, &wire, H);
        for (at, wide) in [(6, false), (11, true), (16, false)] {
            let mut dss = flow.dss(Some((at, 5)));
            let whole = number(KEY, at);
            if let Some(mapping) = &mut dss.mapping {
                mapping.sequence =
                    if wide { DataSequence::Wide(whole) } else { DataSequence::Short(whole as u32) };
            }
            flow.say(|data| (data.options.dss, data.payload) = (Some(dss), "bytes".into()));
            let ack = flow.acked().options.dss.unwrap().ack.unwrap();
            assert_eq!(ack.length(), if wide { 8 } else { 4 });
            assert_eq!(ack.expand(whole), number(KEY, at + 5));
        }
        them.send_all(b"x").unwrap();
        let data = flow.hear("data", |segment| !segment.payload.is_empty());
        assert_eq!(data.options.dss.unwrap().mapping.unwrap().sequence.length(), 8);
    });
}

/// A mapping may span segments, of which the later ones need no option or repeat it as it was.
#[test]
fn mappings_over_several_segments() {
    within(LIMIT, || {
        let Some((namespace, wire)) = Wire::new() else { return };
        let (mut flow, them) = open(&namespace, &wire, H);
        let dss = flow.dss(Some((6, 9)));
        flow.say(|data| (data.options.dss, data.payload) = (Some(dss), "one".into()));
        flow.say(|data| data.payload = "two".into());
        flow.say(|data| (data.options.dss, data.payload) = (Some(dss), "six".into()));
        read(&them, b"onetwosix");
        assert!(linux_info(&them).is_some());
    });
}

/// Data that overtakes a gap at the data level waits for it; what was there before counts once.
#[test]
fn gaps_and_repetitions_of_data() {
    within(LIMIT, || {
        let Some((namespace, wire)) = Wire::new() else { return };
        let (mut flow, them) = open(&namespace, &wire, H);
        flow.send(9, b"two");
        let ack = flow.acked().options.dss.unwrap().ack.unwrap();
        assert_eq!(ack.expand(number(KEY, 6)), number(KEY, 6), "the gap is not acknowledged");
        flow.send(6, b"one");
        flow.send(6, b"one");
        flow.send(12, b"six");
        read(&them, b"onetwosix");
    });
}

/// A mapping whose subflow sequence lies ahead of its segment maps nothing: with one subflow it is fallback or reset,
/// and never data in a wrong place.
#[test]
fn a_mapping_for_later_data() {
    within(LIMIT, || {
        let Some((namespace, wire)) = Wire::new() else { return };
        let (mut flow, them) = open(&namespace, &wire, H);
        let mut dss = flow.dss(Some((6, 5)));
        if let Some(mapping) = &mut dss.mapping {
            mapping.subflow_sequence += 5;
        }
        flow.say(|data| (data.options.dss, data.payload) = (Some(dss), "later".into()));
        let answer = flow.acked();
        assert!(answer.flags.rst() || linux_info(&them).is_none(), "{answer:?}");
    });
}

/// DATA_FIN alone and with data; the application sees the end after the data, and the last number is acknowledged.
#[test]
fn data_fins() {
    within(LIMIT, || {
        for with_data in [false, true] {
            let Some((namespace, wire)) = Wire::new() else { return };
            let (mut flow, them) = open(&namespace, &wire, H);
            let end = if with_data {
                let mut dss = flow.dss(Some((6, 5)));
                dss.data_fin = true;
                flow.say(|data| (data.options.dss, data.payload) = (Some(dss), "last".into()));
                read(&them, b"last");
                11
            } else {
                let mut dss = flow.dss(Some((6, 1)));
                dss.data_fin = true;
                dss.mapping.as_mut().unwrap().subflow_sequence = 0;
                flow.say(|ack| ack.options.dss = Some(dss));
                7
            };
            flow.hear("its DATA_ACK", |segment| {
                let ack = segment.options.dss.and_then(|dss| dss.ack);
                ack.is_some_and(|ack| ack.expand(number(KEY, end)) == number(KEY, end))
            });
            assert_eq!(them.read_some(&mut [0; 9]).unwrap(), 0);
            assert!(flow.log.iter().all(|segment| !segment.flags.fin()), "no FIN before both have ended");
        }
    });
}

/// Linux's DATA_FIN has subflow sequence 0 and length 1, comes again until it is acknowledged, and the FINs follow when
/// both streams have ended.
#[test]
fn data_fins_of_linux() {
    within(LIMIT, || {
        let Some((namespace, wire)) = Wire::new() else { return };
        let (mut flow, them) = open(&namespace, &wire, H);
        them.half_close().unwrap();
        let fin = |segment: &Segment| segment.options.dss.is_some_and(|dss| dss.data_fin);
        for _ in 0..3 {
            let segment = flow.hear("a DATA_FIN", fin);
            let mapping = segment.options.dss.unwrap().mapping.unwrap();
            let sequence = DataSequence::Wide(number(flow.their_key, 1));
            assert_eq!(mapping, Mapping { sequence, subflow_sequence: 0, length: 1, checksum: None });
            assert!(segment.payload.is_empty() && !segment.flags.fin());
        }
        flow.data_acked = 1;
        let mut dss = flow.dss(Some((6, 1)));
        dss.data_fin = true;
        dss.mapping.as_mut().unwrap().subflow_sequence = 0;
        flow.say(|ack| ack.options.dss = Some(dss));
        flow.hear("a FIN", |segment| segment.flags.fin());
        assert_eq!(them.read_some(&mut [0; 9]).unwrap(), 0);
    });
}

/// A FIN without a DATA_FIN ends that subflow and no stream.
#[test]
fn a_fin_without_a_data_fin() {
    within(LIMIT, || {
        let Some((namespace, wire)) = Wire::new() else { return };
        let (mut first, mut second, them) = open_two(&namespace, &wire, H);
        let dss = second.dss(None);
        second.say(|fin| {
            fin.flags |= Flags::FIN;
            fin.options.dss = Some(dss);
        });
        second.hear("its acknowledgement", |segment| segment.flags.ack());
        them.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        assert_eq!(them.read_some(&mut [0; 9]).unwrap_err().kind(), ErrorKind::WouldBlock);
        them.be_patient();
        first.send(6, b"goes on");
        read(&them, b"goes on");
    });
}

/// Data without a mapping, and a mapping of length 0, make a connection with one subflow TCP; nothing is lost.
#[test]
fn fallback_in_mid_stream() {
    within(LIMIT, || {
        for infinite in [false, true] {
            let Some((namespace, wire)) = Wire::new() else { return };
            let (mut flow, them) = open(&namespace, &wire, H);
            let dss = flow.dss(infinite.then_some((6, 0)));
            flow.say(|data| {
                data.options.dss = infinite.then_some(dss);
                data.payload = "plain".into();
            });
            read(&them, b"plain");
            assert_eq!(linux_info(&them), None);
            flow.say(|data| data.payload = "more".into());
            read(&them, b"more");
        }
    });
}

/// Beside another subflow there is no fallback: data without a mapping gets a RST with a reason, and the other goes on.
#[test]
fn no_fallback_beside_another_subflow() {
    within(LIMIT, || {
        let Some((namespace, wire)) = Wire::new() else { return };
        let (mut first, mut second, them) = open_two(&namespace, &wire, H);
        second.send(6, b"mapped");
        read(&them, b"mapped");
        second.say(|data| data.payload = "unmapped".into());
        let reset = second.hear("a RST", |segment| segment.flags.rst());
        // "MPTCP-specific error" until some kernel, "middlebox interference" in 6.18.
        assert!(matches!(reason_of(&reset), Some(1 | 6)), "{reset:?}");
        first.send(12, b"goes on");
        read(&them, b"goes on");
    });
}

/// A wrong checksum on the only subflow: MP_FAIL on an acknowledgement, and the data is delivered as TCP's.
#[test]
fn a_wrong_checksum_on_the_only_subflow() {
    within(LIMIT, || {
        let Some((namespace, wire)) = Wire::new() else { return };
        let (mut flow, them) = open(&namespace, &wire, H | C);
        flow.send_summed(6, b"wrong", 1);
        let fail = flow.hear("MP_FAIL", failed);
        assert!(fail.flags.ack() && !fail.flags.rst());
        assert!(has(&fail, |option| *option == MptcpOption::Fail(number(KEY, 6))));
        read(&them, b"wrong");
    });
}

/// A wrong checksum on one of two: that one is reset with reason 6, and the other goes on.
#[test]
fn a_wrong_checksum_on_one_of_two() {
    within(LIMIT, || {
        let Some((namespace, wire)) = Wire::new() else { return };
        let (mut first, mut second, them) = open_two(&namespace, &wire, H | C);
        second.send_summed(6, b"wrong", 1);
        let reset = second.hear("a RST", |segment| segment.flags.rst());
        assert!(reason_of(&reset) == Some(6) || failed(&reset), "{reset:?}");
        first.send_summed(6, b"right", 0);
        read(&them, b"right");
    });
}

/// Our MP_FAIL is answered by one, and from then on Linux maps with length 0.
#[test]
fn we_fail() {
    within(LIMIT, || {
        let Some((namespace, wire)) = Wire::new() else { return };
        let (mut flow, them) = open(&namespace, &wire, H | C);
        let start = number(flow.their_key, 1);
        let dss = flow.dss(None);
        flow.say(|ack| {
            ack.options.dss = Some(dss);
            ack.options.mptcp.push(MptcpOption::Fail(start));
        });
        them.send_all(b"plain").unwrap();
        let data = flow.hear("data", |segment| !segment.payload.is_empty());
        assert_eq!(data.options.dss.unwrap().mapping.unwrap().length, 0, "{data:?}");
        assert!(flow.log.iter().any(failed), "{:?}", flow.log);
    });
}

/// MP_FASTCLOSE on an acknowledgement is answered by a RST with MP_TCPRST, on a RST by nothing; both end the connection.
/// With a wrong key it is none.
#[test]
fn fast_closes() {
    within(LIMIT, || {
        for reset in [false, true] {
            let Some((namespace, wire)) = Wire::new() else { return };
            let (mut flow, them) = open(&namespace, &wire, H);
            let key = flow.their_key;
            if !reset {
                flow.say(|ack| ack.options.mptcp.push(MptcpOption::FastClose(key ^ 1)));
                flow.send(6, b"alive");
                read(&them, b"alive");
            }
            flow.say(|ack| {
                ack.flags = if reset { Flags::RST | Flags::ACK } else { Flags::ACK };
                ack.options.mptcp.push(MptcpOption::FastClose(key));
            });
            if !reset {
                let answer = flow.hear("a RST", |segment| segment.flags.rst());
                assert_eq!(reason_of(&answer), Some(0));
            }
            assert_eq!(them.read_some(&mut [0; 9]).unwrap_err().kind(), ErrorKind::ConnectionReset);
        }
    });
}

/// Linux says MP_FASTCLOSE with our key on a RST when it closes with data unread.
#[test]
fn fast_closes_of_linux() {
    within(LIMIT, || {
        let Some((namespace, wire)) = Wire::new() else { return };
        let (mut flow, them) = open(&namespace, &wire, H);
        flow.send(6, b"never read");
        flow.acked();
        drop(them);
        let reset = flow.hear("a RST", |segment| segment.flags.rst());
        assert!(has(&reset, |option| *option == MptcpOption::FastClose(KEY)), "{reset:?}");
    });
}

/// A RST of one of two subflows, with or without a reason, ends that one only.
#[test]
fn a_reset_of_one_subflow() {
    within(LIMIT, || {
        for which in [0, 1] {
            let Some((namespace, wire)) = Wire::new() else { return };
            let (mut first, mut second, them) = open_two(&namespace, &wire, H);
            let (gone, other) =
                if which == 0 { (&mut first, &mut second) } else { (&mut second, &mut first) };
            let reason = MptcpOption::TcpRst(MpTcpRst { flags: 0, reason: ResetReason::RESOURCES });
            gone.say(|reset| {
                reset.flags = Flags::RST | Flags::ACK;
                reset.options.mptcp.extend((which == 1).then_some(reason));
            });
            other.send(6, b"goes on");
            read(&them, b"goes on");
            them.send_all(b"both ways").unwrap();
            other.hear("data", |segment| !segment.payload.is_empty());
        }
    });
}

/// Linux's MP_PRIO has 3 bytes; ours on a subflow turns its data to the other one.
#[test]
fn priorities() {
    within(LIMIT, || {
        let Some((namespace, wire)) = Wire::new() else { return };
        let (mut first, mut second, them) = open_two(&namespace, &wire, H);
        let prio = MptcpOption::Prio(MpPrio { backup: true, address_id: None });
        let dss = first.dss(None);
        first.say(|ack| {
            ack.options.dss = Some(dss);
            ack.options.mptcp.push(prio.clone());
        });
        first.send(6, b"behind it");
        read(&them, b"behind it");
        them.send_all(b"on the other").unwrap();
        let data = second.hear("data", |segment| !segment.payload.is_empty());
        assert_eq!(data.payload, "on the other");
        namespace.ip(&format!("mptcp endpoint add {} id 4 subflow", linux(1))).unwrap();
        namespace.ip("mptcp endpoint change id 4 backup").unwrap();
        let said = first.hear("MP_PRIO", |segment| has(segment, |option| *option == prio));
        assert_eq!(said.options.mptcp.iter().find(|option| **option == prio).unwrap().length(), 3);
    });
}

/// A DATA_ACK for what was never sent is ignored.
#[test]
fn a_data_ack_beyond_what_was_sent() {
    within(LIMIT, || {
        let Some((namespace, wire)) = Wire::new() else { return };
        let (mut flow, them) = open(&namespace, &wire, H);
        flow.data_acked = 1_000_000;
        let dss = flow.dss(None);
        flow.say(|ack| ack.options.dss = Some(dss));
        flow.data_acked = 0;
        flow.send(6, b"goes on");
        read(&them, b"goes on");
        assert_eq!(linux_info(&them).unwrap().snd_una, number(flow.their_key, 1));
    });
}

/// The right edge of the window is DATA_ACK plus window, over all subflows; a closed one is asked for with at most a
/// byte.
#[test]
fn the_edge_of_the_window() {
    within(LIMIT, || {
        let Some((namespace, wire)) = Wire::new() else { return };
        let listener = namespace.listen(at(linux(1)), Protocol::Mptcp);
        let mut flow = Flow { window: 2_000, ..Flow::new(&wire, 2_000) };
        flow.handshake(H);
        let (them, _) = listener.accept().unwrap();
        flow.send(1, b"first");
        flow.acked();
        them.send_all(&[7; 6_000]).unwrap();
        let mut got = 0;
        while got < 2_000 {
            got += flow.hear("data", |segment| !segment.payload.is_empty()).payload.len();
        }
        assert_eq!(got, 2_000, "no further than the edge");
        (flow.data_acked, flow.window) = (2_000, 0);
        let dss = flow.dss(None);
        flow.say(|ack| ack.options.dss = Some(dss));
        let edge = flow.expected;
        let probe = flow.hear("a probe", |segment| segment.sequence.offset_from(edge) >= -1);
        assert!(probe.payload.len() <= 1, "{probe:?}");
        flow.window = 60_000;
        let dss = flow.dss(None);
        flow.say(|ack| ack.options.dss = Some(dss));
        flow.hear("the rest", |segment| segment.payload.len() > 1);
    });
}

/// Timestamps, a wide DATA_ACK and a mapping with checksum fill all 40 bytes: data has no room for SACK, and an
/// acknowledgement with a wide DATA_ACK has room for one block.
#[test]
fn option_space() {
    within(LIMIT, || {
        let Some((namespace, wire)) = Wire::new() else { return };
        let listener = namespace.listen(at(linux(1)), Protocol::Mptcp);
        let mut flow = Flow::new(&wire, 2_000);
        let stamp =
            |segment: &mut Segment| segment.options.timestamps = Some(Timestamps { value: 1, echo: 0 });
        let syn = |segment: &mut Segment| {
            (segment.flags, segment.acknowledgment) = (Flags::SYN, Seq::default());
            segment.options.mss = Some(1_460);
            segment.options.sack_permitted = true;
            segment.options.mptcp.push(laboratory::raw::capable(H | C, None, None));
            stamp(segment);
        };
        flow.say(syn);
        let answer = flow.hear("an answer", |segment| segment.flags.syn());
        (flow.their_iss, flow.expected) = (answer.sequence, answer.sequence + 1);
        flow.their_key = laboratory::raw::capable_of(&answer).unwrap().sender_key.unwrap();
        let keys = (KEY, flow.their_key);
        flow.say(|ack| {
            ack.options.mptcp.push(laboratory::raw::capable(H | C, Some(keys), None));
            stamp(ack);
        });
        let (them, _) = listener.accept().unwrap();
        // Two gaps: what comes is out of order at the subflow's level.
        for gap in 0..2 {
            flow.sent += 100;
            let mut dss = Dss { ..flow.dss(Some((101 + 200 * gap, 100))) };
            let mut sum = mptcp_wire::Checksum::dss(number(KEY, 101 + 200 * gap), flow.sent, 100);
            sum.add(&[1; 100]);
            dss.mapping.as_mut().unwrap().checksum = Some(sum.value());
            flow.say(|data| {
                (data.options.dss, data.payload) = (Some(dss), vec![1; 100].into());
                stamp(data);
            });
        }
        let blocks = |segment: &Segment| segment.options.sack.len();
        let ack = flow.hear("an acknowledgement with blocks", |segment| blocks(segment) > 0);
        assert!(ack.options.length() <= 40);
        them.send_all(&[1; 100]).unwrap();
        let data = flow.hear("data", |segment| !segment.payload.is_empty());
        let dss = data.options.dss;
        if dss.is_some_and(|dss| dss.length() == 28) {
            assert_eq!((data.options.length(), blocks(&data)), (40, 0));
        }
        assert!(data.options.length() <= 40);
    });
}
