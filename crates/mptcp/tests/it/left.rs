//! What a far path goes on behind: data that is left to a near one, and what may happen to it.

use crate::pair::{Fate, Pair, pattern};
use bytes::Bytes;
use mptcp::InterfaceChange;
use mptcp_clock::Duration;
use mptcp_wire::{DataSequence, Segment};

const WRITTEN: usize = 400_000;

/// A near path of 20 ms and a far one of 120. At once 400 kB are written, and the far one has just got its first of them.
fn behind() -> (Pair, Vec<u8>) {
    let mut pair = Pair::builder().seed(7).links(&[10, 60]).connect();
    pair.transfer(&pattern(100_000), Duration::from_secs(10));
    pair.run(Duration::from_secs(1));
    pair.keep_log = true;
    let data = pattern(WRITTEN);
    assert_eq!(pair.client.write(pair.now, pair.connection, Bytes::from(data.clone())), WRITTEN);
    while sent_on(&pair, 1).is_empty() {
        assert!(pair.step(), "the far path gets something");
    }
    (pair, data)
}

/// What was sent on a path, by its place in the data.
fn sent_on(pair: &Pair, path: usize) -> Vec<(u64, u64)> {
    let sent =
        pair.log.iter().filter(|(_, to_server, on, s)| *to_server && *on == path && !s.payload.is_empty());
    let all = pair.log.iter().filter(|(_, to_server, _, s)| *to_server && !s.payload.is_empty());
    let first = all.map(|(.., segment)| place(segment)).min().unwrap_or_default();
    sent.map(|(.., segment)| (place(segment) - first, segment.payload.len() as u64)).collect()
}

fn place(segment: &Segment) -> u64 {
    match segment.options.dss.and_then(|dss| dss.mapping).expect("data has a mapping").sequence {
        DataSequence::Wide(number) => number,
        DataSequence::Short(number) => number.into(),
    }
}

#[test]
fn a_far_path_begins_behind_what_a_near_one_comes_to_sooner() {
    let (mut pair, data) = behind();
    let near: u64 = sent_on(&pair, 0).iter().map(|(_, length)| length).sum();
    let (first, _) = sent_on(&pair, 1)[0];
    assert!(first >= near + 10_000, "{first} behind {near}");
    pair.run(Duration::from_secs(5));
    assert_eq!(pair.received[0][100_000..], data);
    let all = [sent_on(&pair, 0), sent_on(&pair, 1)].concat();
    // M1 may repeat what the near path has sooner after all.
    let twice = all.iter().map(|(_, length)| *length).sum::<u64>() - WRITTEN as u64;
    assert!(twice <= 20_000, "{twice} bytes twice");
    // In full segments, but for those at the ends of what was written and left.
    let small = all.iter().filter(|(_, length)| *length < 1_400).count();
    assert!(small <= 3, "{small} small ones");
}

#[test]
fn what_was_left_to_a_path_that_dies_goes_on_the_other() {
    for cut in [false, true] {
        let (mut pair, data) = behind();
        if cut {
            pair.interface(0, InterfaceChange::Down);
        } else {
            pair.rule = Box::new(|_, path, _| if path == 0 { Fate::Drop } else { Fate::Deliver });
        }
        pair.run(Duration::from_secs(10));
        assert_eq!(pair.received[0][100_000..], data, "an interface that went down: {cut}");
    }
}

#[test]
fn an_application_that_closes_has_said_all_that_was_left() {
    let (mut pair, data) = behind();
    pair.client.close(pair.now, pair.connection);
    pair.run(Duration::from_secs(5));
    assert_eq!(pair.received[0][100_000..], data);
}

/// RFC 8684 section 3.3.1: what was never sent cannot be acknowledged, though what is behind it was.
#[test]
fn an_acknowledgement_of_what_was_left_is_ignored() {
    let (mut pair, data) = behind();
    let acked = |pair: &Pair| pair.client.info(pair.now, pair.connection).unwrap().bytes_acked;
    let (_, _, _, sent) = pair
        .log
        .iter()
        .rfind(|(_, to_server, path, s)| *to_server && *path == 1 && !s.payload.is_empty())
        .unwrap();
    let end = place(sent) + sent.payload.len() as u64;
    // Any segment of the peer's carries a DATA_ACK: here the next one on the near path.
    pair.log.clear();
    let answer = |pair: &Pair| {
        pair.log
            .iter()
            .find(|(_, to_server, path, s)| !to_server && *path == 0 && s.options.dss.is_some())
            .cloned()
    };
    while answer(&pair).is_none() {
        assert!(pair.step());
    }
    let (.., mut forged) = answer(&pair).unwrap();
    forged.options.dss.as_mut().unwrap().ack = Some(DataSequence::Wide(end));
    let before = acked(&pair);
    pair.inject(false, 0, forged);
    assert_eq!(acked(&pair), before);
    pair.run(Duration::from_secs(5));
    assert_eq!(pair.received[0][100_000..], data);
}
