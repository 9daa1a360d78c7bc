//! Retransmission at the data level, and its effect on a peer that falls back (RFC 8684 sections 3.3.2 and
//! 3.7).

#![allow(clippy::unwrap_used, reason = "a test")]

use crate::pair::{Fate, Pair, pattern};
use crate::test_peer::TestPeer;
use bytes::Bytes;
use mptcp::{Announced, Config};
use mptcp_clock::{Duration, Instant};
use mptcp_wire::{MpPrio, MptcpOption, Segment};

fn announces(segment: &Segment) -> bool {
    segment.options.mptcp.iter().any(|option| matches!(option, MptcpOption::AddAddress(add) if !add.echo))
}

/// An acknowledgement that announces an address has no space for a DATA_ACK: one follows at once.
#[test]
fn data_ack_follows_an_announcement() {
    let announce = vec![Announced { id: 5, address: [10, 0, 7, 1].into() }];
    let (mut remote, _) = TestPeer::open(Config { announce: Some(announce), ..Config::default() });
    let answers = remote.send_data(remote.flow, 1, 1, 149);
    let at = answers.iter().position(announces).unwrap();
    let acknowledges = |segment: &Segment| {
        let number = segment.options.dss.as_ref().and_then(|dss| dss.ack);
        number.is_some_and(|ack| ack == mptcp_wire::DataSequence::Wide(TestPeer::number(150)))
    };
    assert!(answers[at].options.dss.is_none());
    assert!(answers[at + 1..].iter().any(acknowledges), "{answers:?}");
    let later = remote.sleep(Duration::from_millis(400));
    assert!(later.iter().all(|(_, segment)| segment.payload.is_empty()));
}

/// DATA_ACKs are lost while the subflow acknowledges. The client probes before it repeats data on its only
/// subflow: if a middlebox then strips mappings, a peer that falls back would read the bytes twice.
#[test]
fn no_data_is_read_twice_after_a_fallback() {
    for until in [100, 700, 2_000] {
        let mut pair = Pair::builder().links(&[10]).connect();
        pair.run(Duration::from_millis(100));
        let lost_until = Instant::ZERO + Duration::from_millis(100 + until);
        let mut sent = 0;
        let written = pattern(149);
        pair.client.write(pair.now, pair.connection, Bytes::from(written.clone()));
        let begin = pair.now;
        pair.rule = Box::new(move |to_server, _, segment| {
            let mut changed = segment.clone();
            if to_server && !segment.payload.is_empty() {
                sent += 1;
                if sent == 1 {
                    return Fate::Deliver;
                }
                changed.options.dss = None;
                changed.options.mptcp.clear();
                return Fate::Replace(Box::new(changed));
            }
            if !to_server && segment.options.dss.is_some() {
                changed.options.dss = None;
                changed.options.mptcp.clear();
                changed.options.mptcp.push(MptcpOption::Prio(MpPrio { backup: false, address_id: None }));
                return Fate::Replace(Box::new(changed));
            }
            Fate::Deliver
        });
        pair.run(lost_until.since(begin));
        // DATA_ACKs pass again; mappings do not.
        pair.rule = Box::new(move |to_server, _, segment| {
            let mut changed = segment.clone();
            if to_server && !segment.payload.is_empty() {
                changed.options.dss = None;
                changed.options.mptcp.clear();
            }
            Fate::Replace(Box::new(changed))
        });
        pair.run(Duration::from_secs(10));
        assert_eq!(pair.received[0].len(), 149, "DATA_ACKs lost for {until} ms");
        // Data written now is new, and read once.
        pair.client.write(pair.now, pair.connection, Bytes::from(vec![3; 75]));
        pair.run(Duration::from_secs(10));
        assert_eq!(
            pair.received[0],
            [written.as_slice(), &[3; 75]].concat(),
            "DATA_ACKs lost for {until} ms"
        );
    }
}
