//! Tests the end of streams, subflows and MPTCP itself with Linux, segment by segment.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests")]

use std::io::ErrorKind;
use std::time::Duration;

use crate::laboratory::raw::{C, H, KEY, Wire, has, number, open, open_two, read, reason_of};
use crate::laboratory::{End, LIMIT, linux_info, within};
use mptcp_wire::{DataSequence, Flags, Mapping, MpTcpRst, MptcpOption, ResetReason, Segment};

fn failed(segment: &Segment) -> bool {
    has(segment, |option| matches!(option, MptcpOption::Fail(_)))
}

/// DATA_FIN alone and with data: the application reads the data and then the end, and Linux acknowledges the DATA_FIN.
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

/// Linux's DATA_FIN has subflow sequence 0 and length 1. Linux retransmits it until it is acknowledged, and sends FINs
/// after both streams have ended.
#[test]
fn data_fins_of_linux() {
    Wire::run(|namespace, wire| {
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

/// A FIN without a DATA_FIN closes its subflow and no stream.
#[test]
fn a_fin_without_a_data_fin() {
    Wire::run(|namespace, wire| {
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

/// Data without a mapping, and a mapping of length 0, cause a fallback with one subflow; no data is lost.
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

/// With another subflow there is no fallback: data without a mapping gets a RST with a reason, and the other subflow
/// continues.
#[test]
fn no_fallback_beside_another_subflow() {
    Wire::run(|namespace, wire| {
        let (mut first, mut second, them) = open_two(&namespace, &wire, H);
        second.send(6, b"mapped");
        read(&them, b"mapped");
        second.say(|data| data.payload = "unmapped".into());
        let reset = second.hear("a RST", |segment| segment.flags.rst());
        // Older kernels send "MPTCP-specific error", Linux 6.18 sends "middlebox interference".
        assert!(matches!(reason_of(&reset), Some(1 | 6)), "{reset:?}");
        first.send(12, b"goes on");
        read(&them, b"goes on");
    });
}

/// A wrong checksum on the only subflow: Linux sends MP_FAIL on an acknowledgement and delivers the data as TCP.
#[test]
fn a_wrong_checksum_on_the_only_subflow() {
    Wire::run(|namespace, wire| {
        let (mut flow, them) = open(&namespace, &wire, H | C);
        flow.send_summed(6, b"wrong", 1);
        let fail = flow.hear("MP_FAIL", failed);
        assert!(fail.flags.ack() && !fail.flags.rst());
        assert!(has(&fail, |option| *option == MptcpOption::Fail(number(KEY, 6))));
        read(&them, b"wrong");
    });
}

/// A wrong checksum on one of two subflows: Linux resets it with reason 6, and the other continues.
#[test]
fn a_wrong_checksum_on_one_of_two() {
    Wire::run(|namespace, wire| {
        let (mut first, mut second, them) = open_two(&namespace, &wire, H | C);
        second.send_summed(6, b"wrong", 1);
        let reset = second.hear("a RST", |segment| segment.flags.rst());
        assert!(reason_of(&reset) == Some(6) || failed(&reset), "{reset:?}");
        first.send_summed(6, b"right", 0);
        read(&them, b"right");
    });
}

/// Linux answers MP_FAIL with MP_FAIL, and then sends mappings of length 0.
#[test]
fn we_fail() {
    Wire::run(|namespace, wire| {
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

/// Linux answers MP_FASTCLOSE on an acknowledgement with RST and MP_TCPRST, and on a RST with nothing. Both end the
/// connection. A wrong key has no effect.
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

/// Linux sends MP_FASTCLOSE with the peer's key on a RST when it closes with unread data.
#[test]
fn fast_closes_of_linux() {
    Wire::run(|namespace, wire| {
        let (mut flow, them) = open(&namespace, &wire, H);
        flow.send(6, b"never read");
        flow.acked();
        drop(them);
        let reset = flow.hear("a RST", |segment| segment.flags.rst());
        assert!(has(&reset, |option| *option == MptcpOption::FastClose(KEY)), "{reset:?}");
    });
}

/// A RST, with or without a reason, closes only its own subflow.
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
