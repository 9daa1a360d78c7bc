//! Tests of the receive stream: order, window and end (RFC 8684 section 3.3, RFC 9293 section 3.8.6).

use mptcp_clock::{Duration, Rng};

use super::*;

const BUFFER: u64 = 100_000;

fn stream(buffer: u64, autotuning: bool) -> RecvStream {
    RecvStream::new(buffer, autotuning, 1_000, 0)
}

/// The byte of the stream at an offset.
fn byte(offset: u64) -> u8 {
    (offset * 7 % 251) as u8
}

fn data(start: u64, length: u64) -> Bytes {
    (start..start + length).map(byte).collect::<Vec<_>>().into()
}

fn place(stream: &mut RecvStream, start: u64, length: u64) -> Placed {
    stream.place(start, data(start, length))
}

/// Reads all data in order and checks it.
fn read(stream: &mut RecvStream, from: &mut u64) {
    while let Some(part) = stream.read() {
        assert!(part.iter().zip(*from..).all(|(&is, offset)| is == byte(offset)));
        *from += part.len() as u64;
    }
}

#[test]
fn data_is_classified_by_its_effect_on_the_order() {
    let mut stream = stream(BUFFER, false);
    assert_eq!(place(&mut stream, 0, 100), Placed::Fresh);
    assert_eq!(place(&mut stream, 200, 100), Placed::Early);
    assert_eq!(place(&mut stream, 200, 100), Placed::Duplicate);
    assert_eq!(place(&mut stream, 50, 50), Placed::Duplicate);
    assert_eq!(stream.duplicate_bytes(), 150);
    // Half of the data is a duplicate.
    assert_eq!(place(&mut stream, 50, 100), Placed::Fresh);
    assert_eq!((stream.next(), stream.duplicate_bytes()), (150, 200));
    // The data fills the gap and overlaps waiting data.
    assert_eq!(place(&mut stream, 150, 80), Placed::Filled);
    assert_eq!((stream.next(), stream.acknowledged(), stream.duplicate_bytes()), (300, 300, 230));
    assert_eq!((stream.unread(), stream.early().bytes()), (300, 0));
    let mut from = 0;
    read(&mut stream, &mut from);
    assert_eq!((from, stream.unread()), (300, 0));
}

/// Data of any size in any order, with duplicates, is read in order and once.
#[test]
fn any_order_of_arrival_is_one_stream() {
    let mut random = Rng::new(5, "arrivals");
    for _ in 0..100 {
        let (mut stream, mut from, mut came) = (stream(20_000, false), 0, 0);
        while from < 10_000 {
            let start = stream.next().saturating_sub(200) + random.below(1_500);
            let length = 1 + random.below(700);
            came += length;
            assert_ne!(place(&mut stream, start, length), Placed::Beyond);
            if random.below(3) == 0 {
                read(&mut stream, &mut from);
            }
            assert_eq!(came, stream.next() + stream.early().bytes() + stream.duplicate_bytes());
        }
    }
}

/// An advertised window stays valid. Beyond it, data up to a second buffer size is kept for a sender whose
/// subflows know different windows.
#[test]
fn data_beyond_a_second_buffer_is_dropped() {
    let mut stream = stream(1_000, false);
    assert_eq!(stream.window(), 1_000);
    assert_eq!(place(&mut stream, 1_001, 1_000), Placed::Beyond);
    assert_eq!(place(&mut stream, 500, 500), Placed::Early);
    assert_eq!((stream.limit(), stream.excess(1_000), stream.excess(1_007)), (1_000, 0, 7));
    assert_eq!(place(&mut stream, 0, 500), Placed::Filled);
    assert_eq!((stream.window(), stream.advertised(), stream.open()), (0, 0, 0));
    // A read frees space before it is advertised.
    assert_eq!(place(&mut stream, 2_000, 1), Placed::Beyond);
    let mut from = 0;
    read(&mut stream, &mut from);
    assert_eq!((stream.limit(), place(&mut stream, 1_000, 1_000)), (2_000, Placed::Fresh));
}

/// RFC 9293 section 3.8.6.2.2: the window moves by a segment or half of the buffer, and never back.
#[test]
fn a_window_opens_by_a_segment_or_half_of_the_buffer() {
    let opened = |buffer: u64, segment: u64, unread: u64| {
        let mut stream = stream(buffer, false);
        stream.window();
        let mut from = 0;
        while stream.next() + segment <= buffer - unread {
            let next = stream.next();
            place(&mut stream, next, segment);
        }
        read(&mut stream, &mut from);
        let next = stream.next();
        place(&mut stream, next, unread);
        let (update, before) = (stream.needs_window_update(), stream.edge);
        let window = stream.window();
        assert!(stream.edge >= before && stream.advertised() == window);
        (stream.edge - before, update)
    };
    // All data of ten segments was read.
    assert_eq!(opened(10_000, 1_000, 0), (10_000, true));
    // All data but the last 500 bytes was read.
    assert_eq!(opened(10_000, 500, 500), (9_500, true));
    let mut stream = stream(10_000, false);
    stream.window();
    // The edge moves by at least the largest segment so far, 700 bytes.
    for (length, edge) in [(700, 10_700), (200, 10_700), (400, 10_700), (100, 11_400)] {
        let next = stream.next();
        place(&mut stream, next, length);
        read(&mut stream, &mut next.clone());
        assert!(!stream.needs_window_update(), "more than half is still advertised");
        assert_eq!((stream.window(), stream.edge), (edge - stream.next(), edge));
    }
    // A buffer below two segments opens by halves.
    let mut small = self::stream(1_000, false);
    small.window();
    place(&mut small, 0, 499);
    read(&mut small, &mut 0);
    assert_eq!((small.window(), small.edge), (501, 1_000));
    place(&mut small, 499, 1);
    read(&mut small, &mut 499);
    assert_eq!((small.window(), small.edge), (1_000, 1_500));
}

/// A read of two segments, or of half of a small buffer, causes a window update.
#[test]
fn a_read_that_frees_space_causes_a_window_update() {
    let told = |read_bytes: u64| {
        let mut stream = stream(10_000, false);
        stream.window();
        for start in (0..10_000).step_by(1_000) {
            stream.place(start, data(start, 1_000));
        }
        assert_eq!((stream.window(), stream.needs_window_update()), (0, false));
        let mut left = read_bytes;
        while left > 0 {
            let part = stream.read().expect("there is more");
            left = left.saturating_sub(part.len() as u64);
        }
        stream.needs_window_update()
    };
    assert!(told(10_000));
    assert!(!told(1), "one segment is less than two");
}

/// RFC 8684 section 3.3.3: the stream ends at the DATA_FIN after all data before it.
#[test]
fn a_stream_ends_at_its_data_fin() {
    let mut stream = stream(1_000, false);
    stream.end_at(200);
    place(&mut stream, 0, 199);
    assert!(!stream.finished() && !stream.report_finish());
    assert_eq!(stream.acknowledged(), 199);
    place(&mut stream, 199, 1);
    assert!(stream.finished());
    assert_eq!((stream.acknowledged(), stream.report_finish(), stream.report_finish()), (201, true, false));
    // No data follows, and the end does not change.
    assert_eq!(place(&mut stream, 200, 1), Placed::Beyond);
    stream.end_at(500);
    assert!(stream.finished());
    let ended = |offset| {
        let mut stream = self::stream(1_000, false);
        place(&mut stream, 0, 100);
        stream.end_at(offset);
        stream.fin
    };
    assert_eq!([99, 100, 2_000, 2_001].map(ended), [None, Some(100), Some(2_000), None]);
}

#[test]
fn data_beyond_a_data_fin_revokes_it() {
    let mut stream = stream(1_000, false);
    stream.end_at(100);
    assert_eq!(place(&mut stream, 50, 51), Placed::Early);
    place(&mut stream, 0, 100);
    assert!(!stream.finished());
    stream.end_at_received();
    assert!(stream.finished() && stream.next() == 101);
    let mut exact = self::stream(1_000, false);
    exact.end_at(100);
    place(&mut exact, 50, 50);
    exact.end_at_received();
    assert_eq!(exact.fin, Some(100), "it has ended already");
}

/// Mechanism M3: twice the data read in an RTT and sixteen segments, up to the maximum.
#[test]
fn the_buffer_follows_the_data_read_per_rtt() {
    let (rtt, at) = (Duration::from_millis(100), |ms| Instant::ZERO + Duration::from_millis(ms));
    let mut stream = stream(1_000_000, true);
    assert_eq!((stream.buffer(), stream.window()), (131_072, 131_072));
    let mut from = 0;
    let mut take = |stream: &mut RecvStream, bytes: u64| {
        for _ in 0..bytes / 1_000 {
            let next = stream.next();
            place(stream, next, 1_000);
        }
        read(stream, &mut from);
    };
    take(&mut stream, 100_000);
    stream.tune(at(99), rtt);
    stream.tune(at(500), Duration::ZERO);
    assert_eq!(stream.buffer(), 131_072);
    stream.tune(at(100), rtt);
    assert_eq!(stream.buffer(), 216_000);
    // Data is measured from here on.
    take(&mut stream, 50_000);
    stream.tune(at(199), rtt);
    assert_eq!(stream.buffer(), 216_000);
    stream.tune(at(200), rtt);
    assert_eq!(stream.buffer(), 216_000, "it does not shrink");
    take(&mut stream, 120_000);
    stream.tune(at(300), rtt);
    assert_eq!(stream.buffer(), 256_000);
    take(&mut stream, 250_000);
    take(&mut stream, 250_000);
    take(&mut stream, 250_000);
    stream.tune(at(400), rtt);
    assert_eq!(stream.buffer(), 1_000_000);
    assert_eq!(self::stream(50_000, true).buffer(), 50_000);
    let mut fixed = self::stream(50_000, false);
    fixed.tune(at(900), rtt);
    assert_eq!(fixed.buffer(), 50_000);
}

#[test]
fn a_buffer_begins_with_its_first_size_for_each_path() {
    let mut tuned = stream(400_000, true);
    tuned.begin_paths(1);
    assert_eq!(tuned.buffer(), 131_072);
    tuned.begin_paths(2);
    assert_eq!(tuned.buffer(), 262_144);
    // A path that replaces another one does not enlarge the buffer.
    tuned.begin_paths(1);
    tuned.begin_paths(2);
    assert_eq!(tuned.buffer(), 262_144);
    tuned.begin_paths(9);
    assert_eq!(tuned.buffer(), 400_000, "never above the maximum");
    let mut fixed = stream(50_000, false);
    fixed.begin_paths(2);
    assert_eq!(fixed.buffer(), 50_000);
    let mut linux = stream(400_000, true).with_linux_window();
    let before = linux.buffer();
    linux.begin_paths(2);
    assert_eq!(linux.buffer(), before);
}
