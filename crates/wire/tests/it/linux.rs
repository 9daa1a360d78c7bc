//! Parses and re-encodes captures of two Linux 6.18 hosts (captures/capture.py), with and without checksums.
//!
//! The captures check everything that this crate cannot check against itself: option layout, keys and tokens, HMACs,
//! and checksums.

use std::collections::HashMap;

use bytes::Bytes;
use mptcp_wire::crypto::{Version::V1, add_address_hmac};
use mptcp_wire::{
    Checksum, DataSequence, Mapping, MpCapable, MpJoin, MptcpOption, Packet, ResetReason, Segment,
};

const CAPTURES: [&str; 2] =
    [include_str!("../captures/linux-6.18.txt"), include_str!("../captures/linux-6.18-checksum.txt")];

fn packets(capture: &str) -> Vec<Bytes> {
    let byte = |line: &str, at| u8::from_str_radix(&line[at..at + 2], 16).expect("hexadecimal");
    capture
        .lines()
        .map(|line| (0..line.len()).step_by(2).map(|at| byte(line, at)).collect::<Vec<_>>().into())
        .collect()
}

fn segments(capture: &str) -> Vec<Segment> {
    packets(capture).iter().map(|bytes| Packet::parse(bytes).expect("a segment").segment).collect()
}

/// The keys of both hosts, sender's first, from each third ACK of a new connection.
fn keys(segments: &[Segment]) -> Vec<[u64; 2]> {
    let third_ack = |option: &MptcpOption| match option {
        MptcpOption::Capable(MpCapable { sender_key: Some(own), receiver_key: Some(peer), .. }) => {
            Some([*own, *peer])
        }
        _ => None,
    };
    segments.iter().flat_map(|segment| &segment.options.mptcp).filter_map(third_ack).collect()
}

/// The key pair of the connection whose server key has this token.
fn keys_for(keys: &[[u64; 2]], token: u32) -> [u64; 2] {
    *keys.iter().find(|[_, server]| V1.digest(*server).token == token).expect("a known token")
}

#[test]
fn every_packet_comes_back_byte_by_byte_from_its_fields_alone() {
    for capture in CAPTURES {
        let packets = packets(capture);
        assert_eq!(packets.len(), 56);
        for bytes in packets {
            let mut packet = Packet::parse(&bytes).unwrap();
            packet.segment.options.make_canonical();
            let mut emitted = Vec::new();
            packet.emit(&mut emitted).unwrap();
            assert_eq!(Bytes::from(emitted), bytes, "{packet:?}");
        }
    }
}

#[test]
fn the_joins_carry_our_tokens_and_our_hmacs() {
    for capture in CAPTURES {
        let segments = segments(capture);
        let keys = keys(&segments);
        let mut joining = HashMap::new();
        let mut finished = 0;
        for segment in &segments {
            let (from, to) = (segment.source, segment.destination);
            for option in &segment.options.mptcp {
                let MptcpOption::Join(join) = *option else { continue };
                match join {
                    MpJoin::Syn { token, nonce, .. } => {
                        joining.insert(from, (keys_for(&keys, token), nonce, 0));
                    }
                    MpJoin::SynAck { hmac, nonce, .. } => {
                        let ([client, server], client_nonce, server_nonce) = joining.get_mut(&to).unwrap();
                        *server_nonce = nonce;
                        assert_eq!(hmac, V1.join_hmac_truncated(*server, *client, nonce, *client_nonce));
                    }
                    MpJoin::Ack { hmac } => {
                        let ([client, server], client_nonce, server_nonce) = joining[&from];
                        assert_eq!(hmac, V1.join_hmac(client, server, client_nonce, server_nonce));
                        finished += 1;
                    }
                }
            }
        }
        assert_eq!(finished, 3);
    }
}

#[test]
fn the_announcements_carry_our_hmacs_and_the_echoes_none() {
    for capture in CAPTURES {
        let segments = segments(capture);
        let keys = keys(&segments);
        let (mut announced, mut echoed) = (0, 0);
        for option in segments.iter().flat_map(|segment| &segment.options.mptcp) {
            let MptcpOption::AddAddress(add) = *option else { continue };
            let Some(hmac) = add.hmac else {
                assert!(add.echo);
                echoed += 1;
                continue;
            };
            let ours = |[client, server]: &[u64; 2]| {
                add_address_hmac(*server, *client, add.id, add.address, add.port)
            };
            assert!(keys.iter().any(|keys| ours(keys) == hmac), "{add:?}");
            announced += 1;
        }
        assert_eq!((announced, echoed), (3, 3));
    }
}

#[test]
fn data_begins_one_after_the_hash_of_the_senders_key() {
    for capture in CAPTURES {
        let segments = segments(capture);
        let hello = segments.iter().find(|segment| &segment.payload[..] == b"hello").unwrap();
        let [client, server] = keys(&segments)[0];
        let dss = hello.options.dss.unwrap();
        let mapping = dss.mapping.unwrap();
        assert_eq!(mapping.sequence, DataSequence::Wide(V1.digest(client).initial_sequence + 1));
        assert_eq!((mapping.subflow_sequence, mapping.length), (1, 5));
        let server_start = V1.digest(server).initial_sequence;
        assert_eq!(dss.ack.unwrap().expand(server_start), server_start + 1);
    }
}

#[test]
fn the_dss_checksums_are_ours() {
    let mut verified = 0;
    for segment in segments(CAPTURES[1]) {
        let Some(mapping) = segment.options.dss.and_then(|dss| dss.mapping) else { continue };
        let DataSequence::Wide(sequence) = mapping.sequence else { panic!("Linux sends 64 bits") };
        let mut sum = Checksum::dss(sequence, mapping.subflow_sequence, mapping.length);
        sum.add(&segment.payload);
        assert_eq!(mapping.checksum, Some(sum.value()), "{segment:?}");
        verified += 1;
    }
    assert_eq!(verified, 9);
}

#[test]
fn a_data_fin_alone_has_subflow_sequence_zero_and_length_one() {
    let segments = segments(CAPTURES[0]);
    let fin = segments.iter().find(|segment| segment.options.dss.is_some_and(|dss| dss.data_fin)).unwrap();
    let Mapping { subflow_sequence, length, checksum, .. } = fin.options.dss.unwrap().mapping.unwrap();
    assert_eq!((subflow_sequence, length, checksum), (0, 1, None));
    assert!(fin.payload.is_empty() && !fin.flags.fin());
}

#[test]
fn the_rest_of_the_vocabulary_is_understood() {
    let segments = segments(CAPTURES[0]);
    let options = || segments.iter().flat_map(|segment| &segment.options.mptcp);
    assert!(options().any(|option| matches!(option, MptcpOption::Prio(prio) if !prio.backup)));
    assert!(
        options().any(|option| matches!(option, MptcpOption::RemoveAddress(gone) if gone.ids[..] == [1]))
    );
    let client = keys(&segments)[1][0];
    let last = &segments.last().unwrap().options.mptcp;
    let [MptcpOption::FastClose(key), MptcpOption::TcpRst(reset)] = last[..] else { panic!("{last:?}") };
    assert_eq!((key, reset.reason), (client, ResetReason::UNSPECIFIED));
}
