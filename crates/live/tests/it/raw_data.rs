//! Tests Linux's reaction to mappings and windows, segment by segment.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::laboratory::raw::{C, Flow, H, KEY, Wire, capable, capable_of, has, number, open, open_two, read};
use crate::laboratory::{End, Protocol, at, linux, linux_info};
use mptcp_wire::{Checksum, DataSequence, Flags, MpPrio, MptcpOption, Segment, Seq, Timestamps};

/// Linux's DATA_ACKs are as wide as the latest received data sequence number; its own numbers always have 8 bytes.
#[test]
fn widths_of_numbers() {
    Wire::run(|namespace, wire| {
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

/// A mapping may span several segments. The later ones may repeat it or omit it.
#[test]
fn mappings_over_several_segments() {
    Wire::run(|namespace, wire| {
        let (mut flow, them) = open(&namespace, &wire, H);
        let dss = flow.dss(Some((6, 9)));
        flow.say(|data| (data.options.dss, data.payload) = (Some(dss), "one".into()));
        flow.say(|data| data.payload = "two".into());
        flow.say(|data| (data.options.dss, data.payload) = (Some(dss), "six".into()));
        read(&them, b"onetwosix");
        assert!(linux_info(&them).is_some());
    });
}

/// Data behind a gap at the data level waits for it; duplicates count once.
#[test]
fn gaps_and_repetitions_of_data() {
    Wire::run(|namespace, wire| {
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

/// A mapping whose subflow sequence is ahead of its segment maps nothing. With one subflow, Linux falls back or resets,
/// and never misplaces data.
#[test]
fn a_mapping_for_later_data() {
    Wire::run(|namespace, wire| {
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

/// Linux's MP_PRIO has 3 bytes. After an MP_PRIO from the peer, Linux uses the other subflow.
#[test]
fn a_priority_turns_data_to_the_other_subflow() {
    Wire::run(|namespace, wire| {
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

/// A DATA_ACK of unsent data is ignored.
#[test]
fn a_data_ack_beyond_what_was_sent() {
    Wire::run(|namespace, wire| {
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

/// The right edge of the window is DATA_ACK plus window, over all subflows. A closed window is probed with at most one
/// byte.
#[test]
fn the_edge_of_the_window() {
    Wire::run(|namespace, wire| {
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

/// Timestamps, a 64-bit DATA_ACK and a mapping with checksum fill all 40 bytes. So data has no space for SACK, and an
/// acknowledgement with a 64-bit DATA_ACK has space for one block.
#[test]
fn option_space() {
    Wire::run(|namespace, wire| {
        let listener = namespace.listen(at(linux(1)), Protocol::Mptcp);
        let mut flow = Flow::new(&wire, 2_000);
        let stamp =
            |segment: &mut Segment| segment.options.timestamps = Some(Timestamps { value: 1, echo: 0 });
        let syn = |segment: &mut Segment| {
            (segment.flags, segment.acknowledgment) = (Flags::SYN, Seq::default());
            segment.options.mss = Some(1_460);
            segment.options.sack_permitted = true;
            segment.options.mptcp.push(capable(H | C, None, None));
            stamp(segment);
        };
        flow.say(syn);
        let answer = flow.hear("an answer", |segment| segment.flags.syn());
        (flow.their_iss, flow.expected) = (answer.sequence, answer.sequence + 1);
        flow.their_key = capable_of(&answer).unwrap().sender_key.unwrap();
        let keys = (KEY, flow.their_key);
        flow.say(|ack| {
            ack.options.mptcp.push(capable(H | C, Some(keys), None));
            stamp(ack);
        });
        let (them, _) = listener.accept().unwrap();
        // Two gaps, so that segments arrive out of order at the subflow level.
        for gap in 0..2 {
            flow.sent += 100;
            let mut dss = flow.dss(Some((101 + 200 * gap, 100)));
            let mut sum = Checksum::dss(number(KEY, 101 + 200 * gap), flow.sent, 100);
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

/// A DSS without the negotiated checksum is invalid: with one subflow, Linux falls back to TCP.
#[test]
fn a_dss_of_another_length() {
    Wire::run(|namespace, wire| {
        let (mut flow, them) = open(&namespace, &wire, H | C);
        flow.send(6, b"unsummed");
        read(&them, b"unsummed");
        assert_eq!(linux_info(&them), None, "it has fallen back");
    });
}
