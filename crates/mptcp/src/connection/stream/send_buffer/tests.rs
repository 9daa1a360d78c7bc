//! Tests of the send buffer: written data, chunks in flight and reinjection.

use mptcp_clock::Rng;

use super::*;
use crate::ids::SubflowId;

const MSS: u64 = 100;

fn subflow(slot: usize) -> SubflowId {
    SubflowId::new(slot as u64, slot)
}

fn put(slot: usize, end: u64) -> SubflowMapping {
    SubflowMapping { subflow: subflow(slot), end }
}

/// A buffer with chunks of 100 bytes in flight, one for each entry of `slots`.
fn under_way(slots: &[usize]) -> SendBuffer {
    let mut buffer = SendBuffer::default();
    for (number, &slot) in slots.iter().enumerate() {
        buffer.write(&Bytes::from(vec![number as u8; 100]), 100);
        let start = buffer.next();
        let payload = buffer.cut(MSS, MSS);
        buffer.send(Chunk::new(start, payload, put(slot, start + 101)));
    }
    buffer
}

/// The starts of the chunks to reinject, in order.
fn to_reinject(buffer: &mut SendBuffer) -> Vec<u64> {
    std::iter::from_fn(|| buffer.first_reinjection().inspect(|_| buffer.pop_reinjection())).collect()
}

/// Writes and cuts of any size keep the bytes in order and count each once.
#[test]
fn written_data_is_cut_in_order() {
    let mut random = Rng::new(3, "writes");
    for _ in 0..200 {
        let (mut buffer, mut written, mut left) = (SendBuffer::default(), Vec::new(), Vec::new());
        for _ in 0..60 {
            if random.below(2) == 0 {
                // After a partial write, the writer returns with the rest or with other data.
                let data: Vec<u8> = (0..1 + random.below(250)).map(|_| random.next_u64() as u8).collect();
                let mut data = Bytes::from(data);
                while !data.is_empty() && random.below(4) > 0 {
                    let length = 1 + random.below(data.len() as u64) as usize;
                    buffer.write(&data, length);
                    written.extend_from_slice(&data.split_to(length));
                }
            } else if buffer.unsent() > 0 {
                let size = [MSS, 3 * MSS][random.below(2) as usize];
                let before = (buffer.next(), buffer.unsent());
                let chunk = buffer.cut(size, MSS);
                let length = chunk.len() as u64;
                assert!(length <= size && length > 0);
                // A segment of up to `MSS` is full if there is enough data. A larger one need not be.
                let there = size.min(before.1);
                assert!(length == there || there > MSS && length >= there / 4, "{length} of {there}");
                assert_eq!((buffer.next(), buffer.unsent()), (before.0 + length, before.1 - length));
                left.extend_from_slice(&chunk);
            }
            assert_eq!(buffer.written(), written.len() as u64);
            assert_eq!(buffer.held(), buffer.written() - buffer.una());
        }
        while buffer.unsent() > 0 {
            left.extend_from_slice(&buffer.cut(MSS, MSS));
        }
        assert_eq!(left, written);
        assert!(buffer.cut(MSS, MSS).is_empty());
    }
}

#[test]
fn data_put_back_is_sent_first() {
    let mut buffer = SendBuffer::default();
    buffer.write(&Bytes::from_static(b"cdef"), 4);
    buffer.put_back(Bytes::from_static(b"ab"));
    assert_eq!((buffer.unsent(), buffer.written()), (6, 6));
    assert_eq!(buffer.cut(3, MSS), b"abc"[..]);
    assert_eq!(buffer.cut(9, MSS), b"def"[..]);
}

/// A segment above the MSS ends with a written buffer that fills at least a quarter of it.
#[test]
fn a_large_segment_ends_with_a_written_buffer() {
    let cut = |first: usize, size| {
        let mut buffer = SendBuffer::default();
        buffer.write(&Bytes::from(vec![1; first]), first);
        buffer.write(&Bytes::from(vec![2; 1000]), 1000);
        buffer.cut(size, MSS).len()
    };
    assert_eq!(cut(100, 400), 100, "a quarter is enough to end with the buffer");
    assert_eq!(cut(99, 400), 400, "less than a quarter is copied");
    assert_eq!(cut(50, 100), 100, "a segment is full");
}

/// RFC 8684 section 3.3.1: the receive window belongs to the connection and starts at the DATA_ACK.
#[test]
fn a_window_opens_and_shrinks_only_if_permitted() {
    let mut buffer = under_way(&[0]);
    assert!(buffer.offer(0, 500, false));
    assert_eq!((buffer.edge(), buffer.window_space()), (500, 400));
    assert!(!buffer.offer(0, 500, false) && !buffer.offer(100, 300, false));
    assert_eq!(buffer.edge(), 500);
    assert!(!buffer.offer(100, 300, true));
    assert_eq!((buffer.edge(), buffer.window_space()), (400, 300));
    assert!(buffer.offer(100, 301, true));
    assert!(!buffer.offer(0, 50, true));
    assert_eq!(buffer.window_space(), 0, "the window is smaller than the data in flight");
    [70, 900, 80].into_iter().for_each(|window| buffer.note_window(window));
    assert_eq!(buffer.largest_window(), 900);
}

/// RFC 8684 section 3.3.2: acknowledged data is freed, and unsent data cannot be acknowledged.
#[test]
fn an_acknowledgement_frees_the_data_it_covers() {
    let mut buffer = under_way(&[0, 1, 0]);
    assert_eq!((buffer.acknowledge(150), buffer.una()), (150, 150));
    assert_eq!(buffer.head().map(|chunk| chunk.start), Some(100), "half of the chunk is unacknowledged");
    assert_eq!((buffer.acknowledge(150), buffer.acknowledge(100), buffer.acknowledge(301)), (0, 0, 0));
    assert_eq!((buffer.una(), buffer.held()), (150, 150));
    assert_eq!(buffer.acknowledge(200), 50);
    assert_eq!(buffer.head().map(|chunk| chunk.start), Some(200));
    assert_eq!((buffer.acknowledge(300), buffer.nothing_in_flight(), buffer.held()), (100, true, 0));
}

#[test]
fn a_small_segment_is_in_flight_until_it_is_acknowledged() {
    let mut buffer = under_way(&[0, 0]);
    assert!(!buffer.small_in_flight());
    buffer.note_sent_with_syn(100);
    let next = buffer.next();
    assert!(!buffer.note_small(next) && !buffer.small_in_flight(), "a SYN carried the data before");
    assert!(buffer.note_small(next + 100) && buffer.small_in_flight());
    buffer.acknowledge(199);
    assert!(buffer.small_in_flight());
    buffer.acknowledge(200);
    assert!(!buffer.small_in_flight());
}

/// Data that only a closed subflow carried is reinjected in stream order.
#[test]
fn data_without_a_carrier_is_reinjected() {
    let mut buffer = under_way(&[1, 0, 1, 0, 1]);
    buffer.chunk_at(200).expect("under way").map_to(put(0, 900));
    buffer.abandon(1);
    assert_eq!(to_reinject(&mut buffer), [0, 400]);
    // Each chunk is requested once.
    buffer.abandon(1);
    assert_eq!(to_reinject(&mut buffer), []);
    buffer.forget_carrier(0);
    assert!(buffer.in_flight_from(0).all(|chunk| chunk.carriers == 0));
    assert_eq!(to_reinject(&mut buffer), []);
}

#[test]
fn data_that_only_stalled_subflows_carry_is_reinjected() {
    let mut buffer = under_way(&[0, 1, 2, 1]);
    buffer.chunk_at(100).expect("under way").map_to(put(2, 900));
    buffer.request_reinjection_of(carrier(1) | carrier(0), carrier(2));
    assert_eq!(to_reinject(&mut buffer), [0, 300]);
    buffer.request_reinjection_of(carrier(1) | carrier(0), 0);
    assert_eq!(to_reinject(&mut buffer), [100], "the others wait already");
}

#[test]
fn a_chunk_is_requested_for_reinjection_once() {
    let mut buffer = under_way(&[0, 0, 0]);
    for start in [250, 200, 50, 299] {
        buffer.request_reinjection(start);
    }
    buffer.request_reinjection(300);
    assert_eq!(to_reinject(&mut buffer), [0, 200], "sorted by start");
    buffer.chunk_at(250).expect("under way").map_to(put(1, 5));
    buffer.request_reinjection(250);
    assert_eq!(to_reinject(&mut buffer), [200], "after a reinjection it may be requested again");
    buffer.request_reinjection(0);
    buffer.give_up();
    assert!(buffer.nothing_in_flight() && to_reinject(&mut buffer).is_empty());
    let mut plain = under_way(&[0, 0]);
    plain.request_reinjection(0);
    plain.leave_to_subflow();
    assert!(plain.nothing_in_flight() && to_reinject(&mut plain).is_empty());
}

#[test]
fn a_chunk_is_found_by_any_of_its_bytes() {
    let mut buffer = under_way(&[0, 1, 0]);
    buffer.acknowledge(100);
    let mut start = |offset| buffer.chunk_at(offset).map(|chunk| chunk.start);
    assert_eq!(
        [99, 100, 199, 200, 299, 300].map(&mut start),
        [None, Some(100), Some(100), Some(200), Some(200), None]
    );
    let from = |offset| buffer.in_flight_from(offset).map(|chunk| chunk.start).collect::<Vec<_>>();
    assert_eq!(
        (from(0), from(199), from(200), from(300)),
        (vec![100, 200], vec![100, 200], vec![200], vec![])
    );
    let mut on = 0;
    assert_eq!((buffer.first_not_on(1, &mut on), on), (Some(200), 200));
    assert_eq!((buffer.first_not_on(0, &mut on), on), (None, 300));
    let mut on = 0;
    assert_eq!((buffer.first_not_on(0, &mut on), on), (Some(100), 0));
}

/// A chunk that is too long for another path is split, with mappings for both parts.
#[test]
fn a_chunk_is_split_for_a_narrower_path() {
    let mut buffer = under_way(&[0, 1]);
    buffer.request_reinjection(0);
    buffer.split(0, 60);
    buffer.split(100, 100);
    buffer.split(300, 1);
    let parts: Vec<_> = buffer
        .in_flight_from(0)
        .map(|chunk| (chunk.start, chunk.payload.len(), chunk.end_on(subflow(0)), chunk.end_on(subflow(1))))
        .collect();
    assert_eq!(parts, [(0, 60, Some(61), None), (60, 40, Some(101), None), (100, 100, None, Some(201))]);
    assert_eq!(to_reinject(&mut buffer), [0, 60], "both parts wait");
    // A chunk has a mapping for each subflow that carried it, and the last one on a subflow applies.
    let chunk = buffer.chunk_at(100).expect("under way");
    chunk.map_to(put(0, 500));
    chunk.map_to(put(2, 700));
    chunk.map_to(put(0, 800));
    assert_eq!([0, 1, 2, 3].map(|slot| chunk.end_on(subflow(slot))), [Some(800), Some(201), Some(700), None]);
    assert_eq!([0, 1, 2, 3].map(|slot| chunk.carried_by(slot)), [true, true, true, false]);
    assert_eq!(chunk.first_subflow(), subflow(1));
    buffer.split(100, 30);
    let rest = buffer.chunk_at(130).expect("the rest");
    assert_eq!([0, 1, 2].map(|slot| rest.end_on(subflow(slot))), [Some(800), Some(201), Some(700)]);
    let first = buffer.chunk_at(129).expect("the first part");
    assert_eq!([0, 1, 2].map(|slot| first.end_on(subflow(slot))), [Some(730), Some(131), Some(630)]);
}

/// A peer that opens its window byte by byte does not cost a chunk per byte.
#[test]
fn data_in_flight_has_few_small_chunks() {
    let mut buffer = SendBuffer::default();
    buffer.write(&Bytes::from(vec![1; 10_000]), 10_000);
    let mut pieces = 0;
    while !buffer.has_many_small_chunks(MSS) {
        let start = buffer.next();
        let payload = buffer.cut(1, MSS);
        buffer.send(Chunk::new(start, payload, put(0, start + 2)));
        pieces += 1;
    }
    assert!((256..300).contains(&pieces), "{pieces}");
    // Full segments are never too many.
    assert!(!under_way(&[0; 500]).has_many_small_chunks(MSS));
}
