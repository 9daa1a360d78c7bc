//! Tests Linux's reaction to each step of a handshake, segment by segment: keys, versions, flags, lost and missing
//! steps, joins, and announcements.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::laboratory::raw::{C, Flow, H, KEY, Wire, capable, capable_of, number, reason_of};
use crate::laboratory::{
    End, LIMIT, Protocol, at, linux, linux_info, linux_subflows, ours, same, wait_until, within,
};
use mptcp_wire::crypto::{Version, add_address_hmac};
use mptcp_wire::{AddAddress, DataSequence, Flags, MpCapable, MpJoin, MptcpOption};

/// The token is the first 32 bits of the key's SHA-256, the IDSN its last 64. The first byte of data is IDSN + 1, and
/// subflow sequences of mappings start at 1.
#[test]
fn keys_tokens_and_first_numbers() {
    Wire::run(|namespace, wire| {
        let listener = namespace.listen(at(linux(1)), Protocol::Mptcp);
        let mut flow = Flow::connect(&wire, 2_000, H);
        let (them, _) = listener.accept().unwrap();
        them.be_patient();
        flow.send(1, b"first");
        let mut buffer = [0; 9];
        assert_eq!(them.read_some(&mut buffer).unwrap(), 5);
        same(&buffer[..5], b"first", "forth");
        assert_eq!(linux_info(&them).unwrap().token, Version::V1.digest(flow.their_key).token);
        them.send_all(b"answer").unwrap();
        let data = flow.hear("data", |segment| !segment.payload.is_empty());
        let mapping = data.options.dss.unwrap().mapping.unwrap();
        assert_eq!(mapping.sequence, DataSequence::Wide(number(flow.their_key, 1)));
        assert_eq!((mapping.subflow_sequence, mapping.length), (1, 6));
    });
}

/// Options in the SYN that make Linux use MPTCP, and the version of its answer.
#[test]
fn replies_to_syns() {
    Wire::run(|namespace, wire| {
        let _listener = namespace.listen(at(linux(1)), Protocol::Mptcp);
        let option = |version: u8, flags: u8, sender_key: Option<u64>| {
            let (receiver_key, data) = (None, None);
            Some(MptcpOption::Capable(MpCapable { version, flags, sender_key, receiver_key, data }))
        };
        let cases = [
            ("version 1", option(1, H, None), true),
            ("version 2 in 4 bytes", option(2, H, None), true),
            ("version 0 in 12 bytes", option(0, H, Some(KEY)), false),
            ("version 1 without H", option(1, 0, None), false),
            ("version 1 with B", option(1, H | MpCapable::EXTENSIBILITY, None), false),
            ("version 1 in 12 bytes", option(1, H, Some(KEY)), false),
            ("no option", None, false),
        ];
        for (number, (what, option, multipath)) in cases.into_iter().enumerate() {
            let answer = Flow::new(&wire, 2_000 + number as u16).open(option);
            assert!(answer.flags.contains(Flags::SYN | Flags::ACK), "{what}: {answer:?}");
            let capable = capable_of(&answer);
            assert_eq!(capable.is_some(), multipath, "{what}: {answer:?}");
            if let Some(capable) = capable {
                assert_eq!((capable.version, capable.flags), (1, H), "{what}");
                assert!(capable.sender_key.is_some() && capable.receiver_key.is_none(), "{what}");
            }
        }
    });
}

/// The third step in all forms: with and without the option, lost, with a wrong echo of the key, and data with
/// MP_CAPABLE or with a DSS.
#[test]
fn third_steps() {
    Wire::run(|namespace, wire| {
        let listener = namespace.listen(at(linux(1)), Protocol::Mptcp);
        // Name; third ACK (none, without option, or with an error in the echoed key), first data in MP_CAPABLE, MPTCP.
        let cases = [
            ("third ACK and data with MP_CAPABLE", Some(Some(0)), true, true),
            ("third ACK and data with a DSS", Some(Some(0)), false, true),
            ("a lost third ACK and data with MP_CAPABLE", None, true, true),
            ("a wrong echo of the key", Some(Some(1)), false, true),
            ("no option in third ACK and data", Some(None), false, false),
        ];
        for (at, (what, third, in_capable, multipath)) in cases.into_iter().enumerate() {
            let mut flow = Flow::new(&wire, 2_000 + at as u16);
            flow.open(Some(capable(H, None, None)));
            let keys = (KEY, flow.their_key);
            if let Some(third) = third {
                let option = third.map(|wrong: u64| capable(H, Some((keys.0, keys.1 ^ wrong)), None));
                flow.say(|ack| ack.options.mptcp.extend(option));
            }
            if in_capable {
                flow.say(|data| {
                    data.options.mptcp.push(capable(H, Some(keys), Some((5, None))));
                    data.payload = "first".into();
                });
            } else if multipath {
                flow.send(1, b"first");
            } else {
                flow.say(|data| data.payload = "first".into());
            }
            let (them, _) = listener.accept().unwrap();
            them.be_patient();
            let mut buffer = [0; 9];
            assert_eq!(them.read_some(&mut buffer).unwrap(), 5, "{what}");
            assert_eq!(&buffer[..5], b"first", "{what}");
            assert_eq!(linux_info(&them).is_some(), multipath, "{what}");
        }
    });
}

/// Linux ignores C in the SYN alone. C in SYN and third ACK enables checksums, regardless of the SYN/ACK. A peer with C
/// in the SYN/ACK that gets data without a checksum falls back.
#[test]
fn checksum_flags() {
    Wire::run(|namespace, wire| {
        let listener = namespace.listen(at(linux(1)), Protocol::Mptcp);
        for (port, third, on) in [(2_000, H, false), (2_001, H | C, true)] {
            let mut flow = Flow::new(&wire, port);
            let answer = flow.open(Some(capable(H | C, None, None)));
            assert_eq!(capable_of(&answer).unwrap().flags & C, 0);
            let keys = (KEY, flow.their_key);
            flow.say(|ack| ack.options.mptcp.push(capable(third, Some(keys), None)));
            if on {
                flow.send_summed(1, b"first", 0);
            } else {
                flow.send(1, b"first");
            }
            let (them, _) = listener.accept().unwrap();
            them.be_patient();
            assert_eq!(them.read_some(&mut [0; 9]).unwrap(), 5);
            assert_eq!(linux_info(&them).unwrap().checksum, on);
        }
        namespace.sysctl("net.mptcp.checksum_enabled", "1");
        let mut flow = Flow::new(&wire, 2_002);
        let answer = flow.open(Some(capable(H, None, None)));
        assert_eq!(capable_of(&answer).unwrap().flags & C, C);
        let keys = (KEY, flow.their_key);
        flow.say(|ack| ack.options.mptcp.push(capable(H, Some(keys), None)));
        flow.say(|data| {
            data.options.mptcp.push(capable(H, Some(keys), Some((5, None))));
            data.payload = "first".into();
        });
        let (them, _) = listener.accept().unwrap();
        them.be_patient();
        assert_eq!(them.read_some(&mut [0; 9]).unwrap(), 5);
        assert_eq!(linux_info(&them), None, "it has fallen back");
    });
}

/// A SYN that crosses Linux's SYN leads to a TCP connection.
#[test]
fn a_simultaneous_open_falls_back() {
    Wire::run(|namespace, wire| {
        std::thread::scope(|scope| {
            let them = scope.spawn(|| namespace.connect(at(ours(1)), Protocol::Mptcp).map(drop));
            let (mut flow, syn) = Flow::called(&wire);
            assert_eq!(
                capable_of(&syn).unwrap(),
                MpCapable { version: 1, flags: H, sender_key: None, receiver_key: None, data: None }
            );
            let answer = flow.open(Some(capable(H, None, None)));
            assert!(
                answer.flags.contains(Flags::SYN | Flags::ACK) && !answer.options.has_mptcp(),
                "{answer:?}"
            );
            flow.say(|data| data.payload = "plain".into());
            let ack = flow.acked();
            assert!(!ack.options.has_mptcp(), "{ack:?}");
            flow.say(|reset| reset.flags = Flags::RST | Flags::ACK);
            let _ = them.join();
        });
    });
}

/// The third ACK of a Linux client has both keys, in 20 bytes. Its first data repeats them with a length, in 22 bytes,
/// or 24 with the checksum.
#[test]
fn linux_opens() {
    within(LIMIT, || {
        for flags in [H, H | C] {
            let Some((namespace, wire)) = Wire::new() else { return };
            namespace.sysctl("net.mptcp.checksum_enabled", if flags & C == 0 { "0" } else { "1" });
            std::thread::scope(|scope| {
                let them = scope.spawn(|| namespace.connect(at(ours(1)), Protocol::Mptcp).unwrap());
                let (mut flow, syn) = Flow::called(&wire);
                assert_eq!(capable_of(&syn).unwrap().flags, flags);
                let (version, sender_key, receiver_key, data) = (1, Some(KEY), None, None);
                let option = MpCapable { version, flags, sender_key, receiver_key, data };
                flow.say(|answer| {
                    answer.flags = Flags::SYN | Flags::ACK;
                    answer.options.mss = Some(1_460);
                    answer.options.mptcp.push(MptcpOption::Capable(option));
                });
                let third = flow.hear("the third ACK", |segment| !segment.flags.syn());
                let keys = capable_of(&third).unwrap();
                assert_eq!((keys.receiver_key, keys.data), (Some(KEY), None));
                assert_eq!(third.options.mptcp[0].length(), 20);
                let them = them.join().unwrap();
                them.send_all(b"hello").unwrap();
                let data = flow.hear("data", |segment| !segment.payload.is_empty());
                let again = capable_of(&data).unwrap();
                assert_eq!((again.sender_key, again.receiver_key), (keys.sender_key, Some(KEY)));
                let (length, checksum) = again.data.unwrap();
                assert_eq!((length, checksum.is_some()), (5, flags & C != 0));
                assert_eq!(data.options.mptcp[0].length(), if flags & C == 0 { 22 } else { 24 });
            });
        }
    });
}

/// Linux's SYN/ACK of a join has a valid HMAC, and address ID 0 for the first address. Linux verifies the peer's HMAC:
/// a wrong one, a missing option and an unknown token get a RST with reason 1. The connection survives.
#[test]
fn joins_right_and_wrong() {
    Wire::run(|namespace, wire| {
        let listener = namespace.listen(at(linux(1)), Protocol::Mptcp);
        let mut first = Flow::connect(&wire, 2_000, H);
        let (them, _) = listener.accept().unwrap();
        // A join directly after the third ACK, before any data.
        let mut joined = Flow::new(&wire, 2_001);
        let answer = joined.join_syn(&first, None, true);
        let Some(&MptcpOption::Join(MpJoin::SynAck { backup, address_id, hmac, nonce })) =
            answer.options.mptcp.first()
        else {
            panic!("no MP_JOIN in {answer:?}");
        };
        assert_eq!(hmac, Version::V1.join_hmac_truncated(first.their_key, KEY, nonce, 5));
        assert_eq!((address_id, backup), (0, false), "our B bit is not mirrored");
        let hmac = Version::V1.join_hmac(KEY, first.their_key, 5, nonce);
        joined.say(|ack| ack.options.mptcp.push(MptcpOption::Join(MpJoin::Ack { hmac })));
        joined.hear("the fourth ACK", |segment| segment.flags == Flags::ACK);
        wait_until("it has joined", || linux_subflows(&them) == Some(1));

        let mut wrong = Flow::join(&wire, &first, 2_002, false);
        let reset = wrong.hear("a RST for a wrong HMAC", |segment| segment.flags.rst());
        assert_eq!(reason_of(&reset), Some(1));
        let mut bare = Flow::new(&wire, 2_003);
        bare.join_syn(&first, None, false);
        bare.say(|_| {});
        let reset = bare.hear("a RST for a missing option", |segment| segment.flags.rst());
        assert_eq!(reason_of(&reset), Some(1));
        let answer = Flow::new(&wire, 2_004).join_syn(&first, Some(0xdead_beef), false);
        assert!(answer.flags.rst(), "{answer:?}");
        assert_eq!(reason_of(&answer), Some(1), "an unknown token");

        them.be_patient();
        first.send(1, b"alive");
        assert_eq!(them.read_some(&mut [0; 9]).unwrap(), 5);
        assert_eq!(linux_subflows(&them), Some(1));
    });
}

/// Beyond its limit of subflows, Linux resets a join with the reason that it is prohibited.
#[test]
fn a_join_beyond_the_limit() {
    Wire::run(|namespace, wire| {
        namespace.ip("mptcp limits set subflows 0 add_addr_accepted 0").unwrap();
        let listener = namespace.listen(at(linux(1)), Protocol::Mptcp);
        let first = Flow::connect(&wire, 2_000, H);
        let (_them, _) = listener.accept().unwrap();
        let mut joined = Flow::join(&wire, &first, 2_001, true);
        let reset = joined.hear("a RST", |segment| segment.flags.rst());
        assert_eq!(reason_of(&reset), Some(3));
    });
}

/// Linux echoes an ADD_ADDR with a valid HMAC, with all fields and without HMAC, and then joins. A wrong HMAC has no
/// effect.
#[test]
fn an_announcement_with_the_right_hmac_is_echoed_and_joined() {
    Wire::run(|namespace, wire| {
        // One listener for all cases: Linux frees a port some time after its listener is closed.
        let listener = namespace.listen(at(linux(1)), Protocol::Mptcp);
        for (port, right) in [(None, false), (Some(7_000), false), (None, true), (Some(7_000), true)] {
            let mut flow = Flow::connect(&wire, 2_000 + port.unwrap_or(0) / 10 + u16::from(right), H);
            let (them, _) = listener.accept().unwrap();
            flow.send(1, b"first");
            flow.acked();
            let address = "10.88.1.9".parse().unwrap();
            let hmac = add_address_hmac(KEY, flow.their_key, 8, address, port) ^ u64::from(!right);
            let add = AddAddress { echo: false, id: 8, address, port, hmac: Some(hmac) };
            flow.say(|ack| ack.options.mptcp.push(MptcpOption::AddAddress(add)));
            if !right {
                // Linux answered the data behind the announcement, but not the announcement.
                flow.send(6, b"more");
                flow.acked();
                let echoes = flow.log.iter().flat_map(|segment| &segment.options.mptcp);
                assert_eq!(echoes.filter(|option| matches!(option, MptcpOption::AddAddress(_))).count(), 0);
                continue;
            }
            let echo = MptcpOption::AddAddress(AddAddress { echo: true, hmac: None, ..add });
            let answer = flow.hear("the echo", |segment| segment.options.mptcp.contains(&echo));
            assert!(answer.payload.is_empty() && answer.options.mptcp.len() == 1, "{answer:?}");
            let syn = wire.receive("the join", |segment| segment.flags == Flags::SYN);
            assert_eq!(syn.destination, (address, port.unwrap_or(flow.us.port())).into());
            let Some(&MptcpOption::Join(MpJoin::Syn { token, address_id, .. })) = syn.options.mptcp.first()
            else {
                panic!("no MP_JOIN in {syn:?}");
            };
            assert_eq!((token, address_id), (Version::V1.digest(KEY).token, 0));
            drop(them);
        }
    });
}

/// Linux's ADD_ADDR has the rightmost 64 bits of the HMAC, and a port or none. Linux sends it alone on an
/// acknowledgement, and retransmits it until it is echoed.
#[test]
fn announcements_of_linux() {
    within(LIMIT, || {
        for port in [None, Some(7_000)] {
            let Some((namespace, wire)) = Wire::new() else { return };
            namespace.sysctl("net.mptcp.add_addr_timeout", "1");
            let with_port = port.map_or(String::new(), |port| format!("port {port}"));
            namespace.ip("addr add 10.88.1.7/24 dev path1").unwrap();
            namespace.ip(&format!("mptcp endpoint add 10.88.1.7 id 6 {with_port} signal")).unwrap();
            let listener = namespace.listen(at(linux(1)), Protocol::Mptcp);
            let mut flow = Flow::connect(&wire, 2_000, H);
            let (_them, _) = listener.accept().unwrap();
            flow.send(1, b"first");
            let address = "10.88.1.7".parse().unwrap();
            let hmac = Some(add_address_hmac(flow.their_key, KEY, 6, address, port));
            let add = MptcpOption::AddAddress(AddAddress { echo: false, id: 6, address, port, hmac });
            for _ in 0..2 {
                let announcement = flow.hear("ADD_ADDR", |segment| segment.options.mptcp.contains(&add));
                assert!(
                    announcement.payload.is_empty() && announcement.options.dss.is_none(),
                    "{announcement:?}"
                );
            }
        }
    });
}
