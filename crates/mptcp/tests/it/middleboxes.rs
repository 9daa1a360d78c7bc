//! Middleboxes, for both versions: data arrives intact, or the connection falls back to TCP. It is never
//! corrupted and never stalls. The behaviours are those of Honda et al. (IMC 2011) and RFC 8684 section 6.

use crate::pair::{Fate, Pair, Rule, pattern};
use bytes::{Bytes, BytesMut};
use mptcp::{Config, Mode, Version};
use mptcp_clock::Duration;
use mptcp_wire::Segment;

const SIZE: usize = 400_000;
const LIMIT: Duration = Duration::from_secs(120);

/// Transfers in both directions over two paths through a middlebox; panics unless both arrive. Returns the
/// final modes of both ends.
fn through(version: Version, checksum: bool, rule: Rule) -> (Pair, [Mode; 2]) {
    let config = Config { version, checksum, ..Config::default() };
    let mut pair = Pair::builder().seed(7).links(&[10, 15]).config(config).connect();
    pair.check_encoding = false;
    pair.rule = rule;
    let data = pattern(SIZE);
    pair.transfer(&data, LIMIT);
    assert!(
        pair.received[0] == data,
        "{version:?}: {} of {SIZE} bytes up, or wrong ones",
        pair.received[0].len()
    );
    let accepted = pair.accepted.expect("accepted");
    let mut left = Bytes::from(data.clone());
    let end = pair.now + LIMIT;
    while pair.received[1].len() < SIZE && pair.now < end {
        let taken = pair.server.write(pair.now, accepted, left.clone());
        left = left.slice(taken..);
        if !pair.step() {
            break;
        }
    }
    assert!(
        pair.received[1] == data,
        "{version:?}: {} of {SIZE} bytes down, or wrong ones",
        pair.received[1].len()
    );
    let client = pair.client.info(pair.now, pair.connection).expect("open").mode;
    let server = pair.server.info(pair.now, accepted).expect("open").mode;
    (pair, [client, server])
}

fn both(rule: impl Fn() -> Rule, expected: Mode) {
    for version in [Version::V0, Version::V1] {
        for checksum in [false, true] {
            let (_, modes) = through(version, checksum, rule());
            assert_eq!(modes, [expected; 2], "{version:?}, checksum {checksum}");
        }
    }
}

fn strip(segment: &Segment) -> Fate {
    let mut segment = segment.clone();
    segment.options.mptcp.clear();
    segment.options.dss = None;
    Fate::Replace(Box::new(segment))
}

#[test]
fn no_middlebox() {
    both(|| Box::new(|_, _, _| Fate::Deliver), Mode::Multipath);
}

#[test]
fn sequence_numbers_are_rewritten() {
    // Each direction of each path has its own offset, like firewalls that randomise sequence numbers.
    let offset = |to_server: bool, path: usize| {
        0x3141_5926_u32.wrapping_mul(1 + path as u32 * 2 + u32::from(to_server))
    };
    both(
        || {
            Box::new(move |to_server, path, segment| {
                let mut segment = segment.clone();
                segment.sequence = segment.sequence + offset(to_server, path);
                if segment.flags.ack() {
                    let back = 0_u32.wrapping_sub(offset(!to_server, path));
                    segment.acknowledgment = segment.acknowledgment + back;
                    for (left, right) in &mut segment.options.sack {
                        (*left, *right) = (*left + back, *right + back);
                    }
                }
                Fate::Replace(Box::new(segment))
            })
        },
        Mode::Multipath,
    );
}

#[test]
fn addresses_and_ports_are_translated() {
    both(
        || {
            Box::new(|to_server, _, segment| {
                let mut segment = segment.clone();
                let end = if to_server { &mut segment.source } else { &mut segment.destination };
                // The same host number on each private network, and a port of the NAT.
                if let std::net::IpAddr::V4(address) = end.ip() {
                    let [a, b, c, d] = address.octets();
                    let (host, port) = if to_server {
                        (d.wrapping_add(100), end.port() ^ 0x1000)
                    } else {
                        (d.wrapping_sub(100), end.port() ^ 0x1000)
                    };
                    *end = (std::net::Ipv4Addr::new(a, b, c, host), port).into();
                }
                Fate::Replace(Box::new(segment))
            })
        },
        Mode::Multipath,
    );
}

#[test]
fn options_are_stripped_from_the_syn() {
    both(
        || Box::new(|_, _, segment| if segment.flags.syn() { strip(segment) } else { Fate::Deliver }),
        Mode::Plain,
    );
}

#[test]
fn options_are_stripped_from_the_syn_ack() {
    both(
        || {
            Box::new(
                |to_server, _, segment| {
                    if segment.flags.syn() && !to_server { strip(segment) } else { Fate::Deliver }
                },
            )
        },
        Mode::Plain,
    );
}

#[test]
fn options_are_stripped_from_everything_but_the_handshake() {
    both(
        || Box::new(|_, _, segment| if segment.flags.syn() { Fate::Deliver } else { strip(segment) }),
        Mode::Plain,
    );
}

#[test]
fn joins_are_stripped_of_their_options() {
    both(
        || {
            Box::new(
                |_, path, segment| {
                    if path == 1 && segment.flags.syn() { strip(segment) } else { Fate::Deliver }
                },
            )
        },
        Mode::Multipath,
    );
}

#[test]
fn segments_are_split_and_each_part_has_the_options_of_the_whole() {
    // Segmentation offload copies unknown options to each part.
    both(
        || {
            Box::new(|_, _, segment| {
                let half = segment.payload.len() / 2;
                if half < 100 {
                    return Fate::Deliver;
                }
                let (mut first, mut second) = (segment.clone(), segment.clone());
                first.payload = segment.payload.slice(..half);
                second.payload = segment.payload.slice(half..);
                second.sequence = second.sequence + half as u32;
                Fate::Several(vec![first, second])
            })
        },
        Mode::Multipath,
    );
}

#[test]
fn segments_are_joined_and_the_options_of_the_second_are_lost() {
    for version in [Version::V0, Version::V1] {
        for checksum in [false, true] {
            let mut kept: [Option<Segment>; 2] = [None, None];
            let mut count = 0;
            let rule: Rule = Box::new(move |to_server, path, segment| {
                if !to_server || segment.payload.is_empty() {
                    return Fate::Deliver;
                }
                if let Some(first) = kept[path].take() {
                    if segment.sequence == first.sequence + first.payload.len() as u32 {
                        let mut whole = BytesMut::from(&first.payload[..]);
                        whole.extend_from_slice(&segment.payload);
                        return Fate::Replace(Box::new(Segment { payload: whole.freeze(), ..first }));
                    }
                    return Fate::Several(vec![first, segment.clone()]);
                }
                // Joins consecutive segments from time to time.
                count += 1;
                if count % 20 == 0 && segment.payload.len() > 1000 {
                    kept[path] = Some(segment.clone());
                    return Fate::Drop;
                }
                Fate::Deliver
            });
            // The second half has no mapping: it is retransmitted, or the connection falls back to TCP.
            let (_, [client, server]) = through(version, checksum, rule);
            assert_eq!(client, server, "{version:?}, checksum {checksum}");
        }
    }
}

#[test]
fn changed_payload_on_one_of_two_paths_is_detected_by_the_checksum() {
    for version in [Version::V0, Version::V1] {
        let rule: Rule = Box::new(|to_server, path, segment| {
            if !to_server || path == 0 || segment.payload.len() < 500 {
                return Fate::Deliver;
            }
            let mut changed = BytesMut::from(&segment.payload[..]);
            changed[17] ^= 0x55;
            Fate::Replace(Box::new(Segment { payload: changed.freeze(), ..segment.clone() }))
        });
        let (pair, modes) = through(version, true, rule);
        assert_eq!(modes, [Mode::Multipath; 2], "{version:?}");
        // If the second path carried data, it was reset and the data reinjected.
        let info = pair.client.info(pair.now, pair.connection).expect("open");
        let second = info.subflows.iter().find(|subflow| subflow.interface.0 == 1).expect("joined");
        assert!(
            second.stats.data_segments_sent == 0 || second.closed_by.is_some(),
            "{version:?}: {second:?}"
        );
    }
}

#[test]
fn changed_payload_on_the_only_path_causes_fallback_to_tcp() {
    for version in [Version::V0, Version::V1] {
        let config = Config { version, checksum: true, ..Config::default() };
        let mut pair = Pair::builder().seed(9).links(&[10]).config(config).connect();
        pair.check_encoding = false;
        let mut changed = false;
        pair.rule = Box::new(move |to_server, _, segment| {
            if !to_server || changed || segment.payload.len() < 500 {
                return Fate::Deliver;
            }
            changed = true;
            let mut other = BytesMut::from(&segment.payload[..]);
            other[3] ^= 0x80;
            Fate::Replace(Box::new(Segment { payload: other.freeze(), ..segment.clone() }))
        });
        let data = pattern(SIZE);
        pair.transfer(&data, LIMIT);
        // The data changed by an application-level gateway arrives changed (RFC 8684 section 3.7); the
        // remaining data is intact.
        assert_eq!(pair.received[0].len(), SIZE, "{version:?}");
        let wrong = pair.received[0].iter().zip(&data).filter(|(a, b)| a != b).count();
        assert!(wrong <= 1, "{version:?}: {wrong} bytes differ");
        let info = pair.client.info(pair.now, pair.connection).expect("open");
        assert_eq!(info.mode, Mode::Plain, "{version:?}");
    }
}
