//! Limits on the memory that a peer or an unknown host can make an endpoint use; docs/security.md lists them.

#![allow(clippy::unwrap_used, reason = "a test")]

use crate::test_peer::{self, Flow, TestPeer};
use bytes::Bytes;
use mptcp::{Config, ConnectionUse, Mode};
use mptcp_clock::Duration;
use mptcp_wire::{AddAddress, DataSequence, Flags, MptcpOption, Segment, crypto};

const BUFFER: u64 = 1 << 20;
/// Size of a driver's block, bytes.
const BLOCK: usize = 256 << 10;

fn small() -> Config {
    Config { receive_buffer: BUFFER, receive_block: 0, ..Config::default() }
}

fn usage(remote: &TestPeer) -> ConnectionUse {
    remote.host.info(remote.now, remote.connection).unwrap().usage
}

/// An established host with one segment of data, so that it knows that the peer supports MPTCP.
fn confirmed(config: Config) -> TestPeer {
    let (mut remote, _) = TestPeer::open(config);
    remote.send_data(remote.flow, 1, 1, 10);
    remote
}

/// Payload at an offset of the subflow's stream, mapped to the same data offset.
fn at(remote: &mut TestPeer, flow: Flow, offset: u32, payload: Bytes) {
    let dss = remote.dss(1, Some((u64::from(offset), offset, payload.len() as u16)));
    remote.send(flow, offset, 1, |segment| {
        segment.options.dss = Some(dss);
        segment.payload = payload;
    });
}

/// The same on the first subflow.
fn first(remote: &mut TestPeer, offset: u32, payload: Bytes) {
    let flow = remote.flow;
    at(remote, flow, offset, payload);
}

/// X2: segments shifted by one byte each are stored once.
#[test]
fn shifted_segments_are_kept_once() {
    let mut remote = confirmed(small());
    for shift in 0..20_000 {
        first(&mut remote, 100 + shift, Bytes::from(vec![1; 1000]));
        let held = usage(&remote).receive_bytes;
        assert!(held <= 21_500, "{held} bytes after {shift}");
    }
    assert!(usage(&remote).pieces <= 4096, "{:?}", usage(&remote));
}

/// X2: the same at the data level, where the segments are in order on their subflow.
#[test]
fn shifted_data_is_kept_once() {
    let mut remote = confirmed(small());
    for shift in 0..20_000_u32 {
        let dss = remote.dss(1, Some((u64::from(100 + shift), 11 + 100 * shift, 100)));
        let flow = remote.flow;
        remote.send(flow, 11 + 100 * shift, 1, |segment| {
            segment.options.dss = Some(dss);
            segment.payload = Bytes::from(vec![1; 100]);
        });
        let held = usage(&remote).receive_bytes;
        assert!(held <= 21_000, "{held} bytes after {shift}");
    }
}

/// X2: an out-of-order byte does not retain the block in which it was received.
#[test]
fn out_of_order_bytes_do_not_retain_their_blocks() {
    let config = Config { receive_block: BLOCK as u64, ..small() };
    let mut remote = confirmed(config);
    let block = || Bytes::from(vec![1; BLOCK]);
    for place in 0..500 {
        first(&mut remote, 20 + 2 * place, block().slice(1000..1001));
    }
    let held = usage(&remote).receive_bytes;
    assert!(held <= 4 * BLOCK as u64, "{held} bytes for 500");
    // The same for in-order, unread data.
    first(&mut remote, 11, Bytes::from(vec![1; 1020]));
    for place in 0..500 {
        first(&mut remote, 1031 + 600 * place, block().slice(0..600));
    }
    let held = usage(&remote).receive_bytes;
    assert!(held <= 2 * 301_000 + 8 * BLOCK as u64, "{held} bytes for 301 000");
}

/// X2: all subflows together hold at most twice the buffer out of order, and a closed subflow holds nothing.
#[test]
fn subflows_share_the_out_of_order_limit() {
    let mut remote = confirmed(small());
    for port in 0..6 {
        let (flow, _) = remote.join(2000 + port);
        for place in 0..900_u32 {
            at(&mut remote, flow, 20 + 1100 * place, Bytes::from(vec![1; 1000]));
        }
    }
    let held = usage(&remote).receive_bytes;
    assert!((BUFFER..=2 * BUFFER + 65_536).contains(&held), "{held} bytes");
    let info = remote.host.info(remote.now, remote.connection).unwrap();
    for subflow in &info.subflows[1..] {
        assert!(remote.host.close_subflow(remote.now, remote.connection, subflow.id));
    }
    assert_eq!((usage(&remote).receive_bytes, usage(&remote).pieces), (10, 0));
    assert!(usage(&remote).mappings <= 1, "that of what is being read");
}

/// X5: gaps beyond the limit are refused, and the refused data arrives when it is retransmitted.
#[test]
fn holes_are_bounded_and_nothing_is_lost() {
    let mut remote = confirmed(small());
    let mut place = 1;
    for _ in 0..50_000_u64 {
        // In no particular order: a step that is coprime to the range.
        place = (place + 33_331) % 100_000;
        first(&mut remote, 20 + 2 * place, Bytes::from(vec![1; 1]));
    }
    let bound = (BUFFER / 256) as usize;
    assert!(usage(&remote).pieces <= bound && usage(&remote).mappings <= bound, "{:?}", usage(&remote));
    for start in (11..210_011).step_by(1000) {
        first(&mut remote, start, Bytes::from(vec![1; 1000]));
    }
    assert_eq!(remote.host.readable(remote.connection), 210_010);
}

/// X4: echoes that can never be sent are dropped, and the number of others is limited.
#[test]
fn echoes_are_bounded_and_never_kept_in_time_wait() {
    let announce = |remote: &mut TestPeer, sequence: u32, ack: u32, number: u32| {
        let address = std::net::IpAddr::from([10, 7, (number >> 8) as u8, number as u8]);
        let id = (number % 255 + 1) as u8;
        let hmac = Some(crypto::add_address_hmac(test_peer::KEY, remote.host_key, id, address, None));
        let add = AddAddress { echo: false, id, address, port: None, hmac };
        let mut segment = test_peer::segment(
            remote.flow.peer,
            remote.flow.host,
            Flags::ACK,
            vec![MptcpOption::AddAddress(add)],
        );
        segment.sequence = mptcp_wire::Seq::new(sequence);
        segment.acknowledgment = remote.flow.iss + ack;
        // Not polled: the responses accumulate.
        remote.host.handle_segment(remote.now, remote.interface, segment);
    };
    let mut remote = confirmed(Config::default());
    for number in 0..10_000 {
        announce(&mut remote, 11, 1, number);
    }
    assert!(usage(&remote).signals <= 64 && usage(&remote).remote_addresses <= 16, "{:?}", usage(&remote));
    remote.collect();
    while remote.host.read(remote.now, remote.connection).is_some() {}
    // Both sides close; the host is in TIME-WAIT.
    remote.host.close(remote.now, remote.connection);
    remote.collect();
    let mut dss = remote.dss(2, Some((11, 0, 1)));
    dss.data_fin = true;
    remote.send(remote.flow, 11, 1, |ack| ack.options.dss = Some(dss));
    let dss = remote.dss(2, None);
    remote.send(remote.flow, 11, 2, |fin| {
        fin.flags |= Flags::FIN;
        fin.options.dss = Some(dss);
    });
    let info = remote.host.info(remote.now, remote.connection).unwrap();
    assert_eq!(info.subflows[0].state, mptcp::SubflowState::TimeWait);
    let before = usage(&remote).signals;
    for number in 0..10_000 {
        announce(&mut remote, 12, 2, number);
    }
    assert!(usage(&remote).signals <= before, "{:?}", usage(&remote));
    remote.sleep(Duration::from_secs(61));
    assert_eq!(remote.host.connections().count(), 0);
}

/// X6: after both DATA_FINs no fallback occurs, and the connection ends whatever arrives.
#[test]
fn closed_connection_is_not_revived() {
    let fail = |remote: &TestPeer| (remote.dss(2, None), Some(MptcpOption::Fail(remote.host_number(1))));
    let infinite = |remote: &TestPeer| (remote.dss(2, Some((11, 12, 0))), None);
    for number in 0..2 {
        let mut remote = confirmed(Config::default());
        while remote.host.read(remote.now, remote.connection).is_some() {}
        remote.host.close(remote.now, remote.connection);
        remote.collect();
        let mut dss = remote.dss(2, Some((11, 0, 1)));
        dss.data_fin = true;
        remote.send(remote.flow, 11, 1, |ack| ack.options.dss = Some(dss));
        let (dss, option) = if number == 0 { fail(&remote) } else { infinite(&remote) };
        remote.send(remote.flow, 11, 2, |segment| {
            segment.options.dss = Some(dss);
            segment.options.mptcp.extend(option);
            segment.payload = Bytes::from(vec![1; if number == 0 { 0 } else { 5 }]);
        });
        let mode = remote.host.info(remote.now, remote.connection).map(|info| info.mode);
        assert!(mode.is_none_or(|mode| mode == Mode::Multipath));
        remote.sleep(Duration::from_secs(130));
        assert_eq!(remote.host.connections().count(), 0, "case {number}");
    }
}

/// X6: abort ends a connection whose streams are over and whose subflows wait for a missing FIN.
#[test]
fn abort_ends_a_closing_connection() {
    let mut remote = confirmed(Config::default());
    while remote.host.read(remote.now, remote.connection).is_some() {}
    remote.host.close(remote.now, remote.connection);
    remote.collect();
    let mut dss = remote.dss(2, Some((11, 0, 1)));
    dss.data_fin = true;
    remote.send(remote.flow, 11, 1, |ack| ack.options.dss = Some(dss));
    assert_eq!(remote.host.connections().count(), 1);
    remote.host.abort(remote.now, remote.connection);
    let sent = remote.collect();
    assert!(sent.iter().any(|segment| segment.flags.rst()), "{sent:?}");
    assert_eq!(remote.host.connections().count(), 0);
}

/// X14: with all data acknowledged but nothing on the subflow, the connection is removed one minute after its
/// end.
#[test]
fn unacknowledged_subflow_ends_with_its_connection() {
    let mut remote = confirmed(Config::default());
    while remote.host.read(remote.now, remote.connection).is_some() {}
    remote.host.write(remote.now, remote.connection, Bytes::from(vec![3; 4000]));
    remote.host.close(remote.now, remote.connection);
    remote.collect();
    let dss = remote.dss(4001, None);
    remote.send(remote.flow, 11, 1, |ack| ack.options.dss = Some(dss));
    let mut dss = remote.dss(4002, Some((11, 0, 1)));
    dss.data_fin = true;
    remote.send(remote.flow, 11, 1, |ack| ack.options.dss = Some(dss));
    assert!(usage(&remote).segments_in_flight > 0);
    remote.sleep(Duration::from_secs(62));
    assert_eq!(remote.host.connections().count(), 0);
}

/// Unread bytes that arrive one by one cost little more than their size.
#[test]
fn unread_single_bytes_are_joined() {
    let mut remote = confirmed(Config { delayed_ack: true, ..small() });
    for place in 0..20_000 {
        first(&mut remote, 11 + place, Bytes::from(vec![place as u8]));
    }
    assert_eq!(remote.host.readable(remote.connection), 20_010);
    let mut pieces = 0;
    while remote.host.read(remote.now, remote.connection).is_some() {
        pieces += 1;
    }
    assert!(pieces < 10, "{pieces} pieces");
}

/// A DATA_FIN beyond the window does not hide the real one.
#[test]
fn data_fin_far_ahead_is_ignored() {
    let mut remote = confirmed(small());
    for far in [1 << 30, BUFFER + 100_000] {
        let mut dss = remote.dss(1, Some((far, 0, 1)));
        dss.data_fin = true;
        remote.send(remote.flow, 11, 1, |ack| ack.options.dss = Some(dss));
    }
    // Within the window it is accepted, until the real one arrives.
    for end in [5000, 11] {
        let mut dss = remote.dss(1, Some((end, 0, 1)));
        dss.data_fin = true;
        remote.send(remote.flow, 11, 1, |ack| ack.options.dss = Some(dss));
    }
    assert!(remote.events.contains(&mptcp::EventKind::Finished), "{:?}", remote.events);
}

/// Unmatched segments are answered at a limited rate, and none is stored (X1).
#[test]
fn stateless_replies_are_rate_limited() {
    let mut host = mptcp::Endpoint::new(mptcp_clock::Rng::new(7, "host"));
    let interface = host.add_interface(test_peer::host_address(), false);
    let now = mptcp_clock::Instant::ZERO + Duration::from_secs(1);
    for number in 0..100_000_u32 {
        let peer = std::net::SocketAddr::from(([10, 3, (number >> 8) as u8, number as u8], 7));
        let mut ack = Segment::new(peer, (test_peer::host_address(), 81).into());
        ack.flags = Flags::ACK;
        host.handle_segment(now, interface, ack);
    }
    assert!(host.usage().stray_answers <= 256, "{:?}", host.usage());
    let mut answers = 0;
    for millisecond in 0..1000 {
        let now = now + Duration::from_millis(millisecond);
        for _ in 0..100 {
            let mut ack = Segment::new(([10, 4, 0, 1], 7).into(), (test_peer::host_address(), 81).into());
            ack.flags = Flags::ACK;
            host.handle_segment(now, interface, ack);
        }
        answers += std::iter::from_fn(|| host.poll_transmit(now)).count();
    }
    assert!((1000..=2300).contains(&answers), "{answers} of 100 000");
    assert!(host.counters().unanswered > 90_000);
}

/// Forged data sequence numbers before the stream have no effect.
#[test]
fn data_sequence_numbers_before_the_stream_are_ignored() {
    let mut remote = confirmed(small());
    let mut dss = remote.dss(1, Some((11, 11, 10)));
    if let Some(mapping) = &mut dss.mapping {
        mapping.sequence = DataSequence::Wide(TestPeer::number(0).wrapping_sub(1 << 40));
    }
    remote.send(remote.flow, 11, 1, |segment| {
        segment.options.dss = Some(dss);
        segment.payload = Bytes::from(vec![1; 10]);
    });
    let info = remote.host.info(remote.now, remote.connection).unwrap();
    assert_eq!((remote.host.readable(remote.connection), info.mode), (10, Mode::Multipath));
}

/// X14: the same while the peer is silent and keeps its direction open.
#[test]
fn delivered_data_is_released_after_the_last_send() {
    let mut remote = confirmed(Config { initial_window: 1000, nagle: false, ..Config::default() });
    while remote.host.read(remote.now, remote.connection).is_some() {}
    remote.host.write(remote.now, remote.connection, Bytes::from(vec![3; 40_000]));
    let sent = remote.collect().len();
    let dss = remote.dss(40_001, None);
    remote.send(remote.flow, 11, 1, |ack| ack.options.dss = Some(dss));
    remote.host.close(remote.now, remote.connection);
    remote.collect();
    let before = usage(&remote).segments_in_flight;
    assert!(before >= sent, "{before} of {sent}");
    remote.sleep(Duration::from_secs(60));
    assert_eq!(usage(&remote).segments_in_flight, 0);
}

/// A peer that sends beyond a closed window does not fill more than the buffer, with MPTCP and with TCP,
/// where only stored data is acknowledged.
#[test]
fn closed_window_accepts_no_data() {
    for multipath in [true, false] {
        let config = Config { receive_buffer: 100_000, multipath, ..Config::default() };
        let (mut remote, _) = TestPeer::open(config);
        let mut acknowledged = 1;
        for number in 0..1000_u32 {
            let start = 1 + number * 1000;
            let dss = remote.dss(1, Some((u64::from(start), start, 1000)));
            let flow = remote.flow;
            let answers = remote.send(flow, start, 1, |segment| {
                segment.options.dss = Some(dss).filter(|_| multipath);
                segment.payload = Bytes::from(vec![1; 1000]);
            });
            for answer in answers {
                acknowledged = acknowledged.max(answer.acknowledgment.value());
            }
        }
        let held = remote.host.readable(remote.connection);
        assert!(held <= 100_000, "{held} bytes unread");
        assert!(usage(&remote).receive_bytes <= 400_000, "{:?}", usage(&remote));
        if !multipath {
            assert_eq!(u64::from(acknowledged), 1 + held);
        }
    }
}

/// A FIN after data that was cut off at the window does not end the stream.
#[test]
fn fin_beyond_the_window_does_not_truncate_the_stream() {
    let (mut remote, _) = TestPeer::open(Config { receive_buffer: 1000, ..Config::tcp() });
    for _ in 0..3 {
        remote.send(remote.flow, 1, 1, |segment| {
            segment.payload = Bytes::from(vec![1; 1400]);
            segment.flags |= Flags::FIN;
        });
        assert!(!remote.events.contains(&mptcp::EventKind::Finished));
    }
    assert_eq!(remote.host.readable(remote.connection), 1000);
    while remote.host.read(remote.now, remote.connection).is_some() {}
    remote.send(remote.flow, 1001, 1, |segment| {
        segment.payload = Bytes::from(vec![1; 400]);
        segment.flags |= Flags::FIN;
    });
    assert_eq!(remote.host.readable(remote.connection), 400);
    assert!(remote.events.contains(&mptcp::EventKind::Finished));
}

/// Of several mappings that cover the next byte, one is kept.
#[test]
fn overlapping_mappings_at_the_next_byte_are_consistent() {
    let mut remote = confirmed(small());
    for back in 0..5_000_u32 {
        let start = 11_u32.wrapping_sub(back);
        let dss = remote.dss(1, Some((20, start, (back + 1) as u16)));
        remote.send(remote.flow, 11, 1, |ack| ack.options.dss = Some(dss));
    }
    assert!(usage(&remote).mappings <= 2, "{:?}", usage(&remote));
}

/// A peer that acknowledges data but not the subflow does not fill the memory with delivered data.
#[test]
fn data_from_other_subflows_is_bounded() {
    let config = Config { send_buffer: 64_000, initial_window: 10_000, nagle: false, ..Config::default() };
    let mut remote = confirmed(config);
    let mut offset = 0;
    for _ in 0..1000 {
        remote.host.write(remote.now, remote.connection, Bytes::from(vec![1; 10_000]));
        offset += remote.collect().iter().map(|segment| segment.payload.len() as u64).sum::<u64>();
        let dss = remote.dss(1 + offset, None);
        let sent = remote.send(remote.flow, 11, 1, |ack| ack.options.dss = Some(dss));
        offset += sent.iter().map(|segment| segment.payload.len() as u64).sum::<u64>();
    }
    let info = remote.host.info(remote.now, remote.connection).unwrap();
    assert!(info.subflows[0].unacked <= 3 * 64_000, "{} bytes", info.subflows[0].unacked);
}
