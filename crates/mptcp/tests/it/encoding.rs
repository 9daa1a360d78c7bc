//! Every segment of a run equals itself after encoding and decoding.

use crate::pair::{Fate, Pair, pattern};
use bytes::Bytes;
use mptcp::{Config, InterfaceChange};
use mptcp_clock::{Duration, Rng};
use mptcp_wire::Packet;

fn check(config: Config, seed: u64) {
    let mut pair = Pair::builder().seed(seed).links(&[10, 25, 60]).config(config).connect();
    let mut chance = Rng::new(seed, "loss");
    pair.rule = Box::new(move |_, _, segment| {
        let packet = Packet::new(segment.clone());
        let mut bytes = Vec::new();
        packet.emit(&mut bytes).unwrap_or_else(|e| panic!("{e}: {segment:?}"));
        assert_eq!(bytes.len(), segment.packet_length(), "{segment:?}");
        let decoded = Packet::parse(&Bytes::from(bytes)).unwrap_or_else(|e| panic!("{e}: {segment:?}"));
        assert_eq!(&decoded.segment, segment);
        if chance.chance(0.04) { Fate::Drop } else { Fate::Deliver }
    });
    pair.transfer(&pattern(300_000), Duration::from_secs(60));
    pair.interface(1, InterfaceChange::Down);
    pair.transfer(&pattern(300_000), Duration::from_secs(60));
    pair.interface(1, InterfaceChange::Up);
    pair.interface(2, InterfaceChange::Backup(true));
    pair.transfer(&pattern(300_000), Duration::from_secs(60));
    assert_eq!(pair.received[0].len(), 900_000);
    pair.client.close(pair.now, pair.connection);
    pair.run(Duration::from_secs(30));
    assert!(pair.segments > 650);
}

#[test]
fn every_segment_of_a_lossy_handover_encodes_and_decodes() {
    for (seed, checksum, sack, timestamps) in
        [(1, false, true, true), (2, true, true, true), (3, true, true, false), (4, false, false, false)]
    {
        check(Config { checksum, sack, timestamps, ..Config::default() }, seed);
    }
    check(Config::tcp(), 5);
}
