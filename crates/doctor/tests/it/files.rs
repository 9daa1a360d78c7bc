//! File formats: pcap and pcapng in all forms, compressed, cut off, and damaged.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::common::{ETHERNET, Flow, Form, Frame, MS, RAW, S, ip, open, pcap, read, report_of};

const START: u64 = 1_700_000_000 * S + 123_456_789;

/// Data segments, 1 ms apart.
fn frames(count: u32) -> Vec<Frame> {
    let flow = Flow::first();
    let frame =
        |index: u32| Frame::new(START + u64::from(index) * MS, ip(&flow.data(0, 1 + index * 100, 100)));
    (0..count).map(frame).collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A zstd frame of uncompressed blocks (RFC 8878 section 3.1.1), with a window of 1 KiB.
fn zstd(bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x00];
    let blocks: Vec<&[u8]> = bytes.chunks(1000).collect();
    for (number, block) in blocks.iter().enumerate() {
        let is_last = number + 1 == blocks.len();
        let header = (block.len() as u32) << 3 | u32::from(is_last);
        out.extend(&header.to_le_bytes()[..3]);
        out.extend(*block);
    }
    out
}

/// Blocks of pcapng in either byte order.
struct Blocks {
    out: Vec<u8>,
    is_big_endian: bool,
}

impl Blocks {
    fn new(is_big_endian: bool) -> Self {
        Self { out: Vec::new(), is_big_endian }
    }

    fn u32(&self, value: u32) -> [u8; 4] {
        if self.is_big_endian { value.to_be_bytes() } else { value.to_le_bytes() }
    }

    fn u16(&self, value: u16) -> [u8; 2] {
        if self.is_big_endian { value.to_be_bytes() } else { value.to_le_bytes() }
    }

    fn block(&mut self, kind: u32, body: &[u8]) {
        let padded = body.len().next_multiple_of(4);
        let length = self.u32(padded as u32 + 12);
        self.out.extend(self.u32(kind));
        self.out.extend(length);
        self.out.extend(body);
        self.out.extend(vec![0; padded - body.len()]);
        self.out.extend(length);
    }

    fn section(mut self) -> Self {
        let mut body = self.u32(0x1a2b_3c4d).to_vec();
        body.extend(self.u16(1));
        body.extend(self.u16(0));
        body.extend([0xff; 8]);
        self.block(0x0a0d_0d0a, &body);
        self
    }

    /// An interface with the options if_tsresol (9) and if_tsoffset (14).
    fn interface(mut self, link: u32, resolution: Option<u8>, offset: Option<i64>) -> Self {
        let mut body = self.u16(link as u16).to_vec();
        body.extend(self.u16(0));
        body.extend(self.u32(262_144));
        if let Some(resolution) = resolution {
            body.extend(self.u16(9));
            body.extend(self.u16(1));
            body.extend([resolution, 0, 0, 0]);
        }
        if let Some(offset) = offset {
            body.extend(self.u16(14));
            body.extend(self.u16(8));
            body.extend(if self.is_big_endian { offset.to_be_bytes() } else { offset.to_le_bytes() });
        }
        if body.len() > 8 {
            body.extend([0; 4]);
        }
        self.block(1, &body);
        self
    }

    fn packet(mut self, interface: u32, ticks: u64, bytes: &[u8]) -> Self {
        let mut body = self.u32(interface).to_vec();
        body.extend(self.u32((ticks >> 32) as u32));
        body.extend(self.u32(ticks as u32));
        body.extend(self.u32(bytes.len() as u32));
        body.extend(self.u32(bytes.len() as u32));
        body.extend(bytes);
        self.block(6, &body);
        self
    }

    fn simple(mut self, bytes: &[u8]) -> Self {
        let body = [&self.u32(bytes.len() as u32)[..], bytes].concat();
        self.block(3, &body);
        self
    }
}

fn packet() -> Vec<u8> {
    ip(&Flow::first().data(0, 1, 100))
}

fn ethernet() -> Vec<u8> {
    [&[2; 12][..], &[8, 0], &packet()].concat()
}

#[test]
fn pcap_has_two_byte_orders_and_two_resolutions() {
    for is_big_endian in [false, true] {
        for is_nanoseconds in [false, true] {
            let form = Form { link: RAW, is_big_endian, is_nanoseconds };
            let (segments, mut file) = read(&pcap(form, &frames(3)));
            let times: Vec<u64> = segments.iter().map(|one| one.time).collect();
            let exact = [START, START + MS, START + 2 * MS];
            let rounded = exact.map(|time| time / 1000 * 1000);
            assert_eq!(times, if is_nanoseconds { exact } else { rounded }, "{form:?}");
            let numbers: Vec<u64> = segments.iter().map(|one| one.packet.number).collect();
            assert_eq!(numbers, [1, 2, 3]);
            assert!(file.take_warning().is_none());
        }
    }
}

#[test]
fn pcapng_states_the_resolution_of_times() {
    let time = START / 1000 * 1000;
    // Powers of 10 and of 2; microseconds by default.
    let cases = [
        (None, time / 1000),
        (Some(6), time / 1000),
        (Some(9), time),
        (Some(0), time / S),
        (Some(3), time / MS),
        (Some(0x80 | 10), (u128::from(time) * 1024 / u128::from(S)) as u64),
    ];
    for is_big_endian in [false, true] {
        for (resolution, ticks) in cases {
            let blocks = Blocks::new(is_big_endian).section().interface(ETHERNET, resolution, None);
            let (segments, mut file) = read(&blocks.packet(0, ticks, &ethernet()).out);
            let step = match resolution {
                Some(0) => S,
                Some(3) => MS,
                Some(0x8a) => S / 1024 + 1,
                _ => 1,
            };
            assert!(segments[0].time.abs_diff(time) < step, "{resolution:?}: {}", segments[0].time);
            assert!(file.take_warning().is_none());
        }
    }
}

#[test]
fn pcapng_offsets_are_added_to_times() {
    for (offset, ticks) in
        [(1_700_000_000, 5_000_000), (-10, 1_700_000_015_000_000), (0, 1_700_000_005_000_000)]
    {
        let blocks = Blocks::new(false).section().interface(ETHERNET, None, Some(offset));
        let (segments, _) = read(&blocks.packet(0, ticks, &ethernet()).out);
        assert_eq!(segments[0].time, 1_700_000_005 * S, "{offset}");
    }
    for offset in [i64::MIN, i64::MAX] {
        let blocks = Blocks::new(false).section().interface(ETHERNET, None, Some(offset));
        let (segments, _) = read(&blocks.packet(0, u64::MAX, &ethernet()).out);
        assert_eq!(segments.len(), 1);
    }
}

#[test]
fn pcapng_has_several_interfaces_and_sections() {
    let blocks = Blocks::new(false)
        .section()
        .interface(ETHERNET, None, None)
        .interface(RAW, Some(9), None)
        .packet(0, 1, &ethernet())
        .packet(1, 2000, &packet());
    let blocks = blocks.section().interface(RAW, None, None).packet(0, 3, &packet());
    // An interface that the second section does not have.
    let (segments, file) = read(&blocks.packet(1, 4, &packet()).out);
    let sources: Vec<u16> = segments.iter().map(|one| one.source.interface).collect();
    assert_eq!(sources, [0, 1, 2]);
    assert_eq!(segments.iter().map(|one| one.time).collect::<Vec<_>>(), [1000, 2000, 3000]);
    assert_eq!(file.packets(), 4);
    assert_eq!(file.skipped().invalid, 1);
}

#[test]
fn sections_have_different_byte_orders() {
    let little = Blocks::new(false).section().interface(RAW, None, None).packet(0, 1, &packet());
    let big = Blocks::new(true).section().interface(RAW, None, None).packet(0, 2, &packet());
    let (segments, mut file) = read(&[little.out, big.out].concat());
    assert_eq!(segments.len(), 2, "{:?}", file.take_warning());
}

#[test]
fn simple_packets_belong_to_the_first_interface() {
    let blocks = Blocks::new(false).section().interface(RAW, None, None).interface(ETHERNET, None, None);
    let (segments, _) = read(&blocks.simple(&packet()).out);
    assert_eq!(segments.len(), 1);
    assert_eq!((segments[0].time, segments[0].payload), (0, 100));
}

#[test]
fn unknown_blocks_are_ignored() {
    let mut blocks = Blocks::new(false).section().interface(RAW, None, None);
    blocks.block(0x0000_0bad, &[1, 2, 3, 4, 5]);
    let (segments, mut file) = read(&blocks.packet(0, 1, &packet()).out);
    assert_eq!(segments.len(), 1);
    assert!(file.take_warning().is_none());
}

#[test]
fn compressed_files_are_read() {
    let plain = pcap(Form::link(RAW), &frames(50));
    let expected = read(&plain).0.len();
    for bytes in [gzip(&plain), zstd(&plain)] {
        let (segments, mut file) = read(&bytes);
        assert_eq!(segments.len(), expected);
        assert!(file.take_warning().is_none());
    }
    // Files that were joined, as by `cat`.
    let (start, end) = plain.split_at(plain.len() / 2);
    let (segments, _) = read(&[gzip(start), gzip(end)].concat());
    assert_eq!(segments.len(), expected);
    let blocks = Blocks::new(true).section().interface(RAW, None, None).packet(0, 1, &packet());
    assert_eq!(read(&zstd(&blocks.out)).0.len(), 1);
}

#[test]
fn a_truncated_file_keeps_its_complete_packets() {
    let frames = frames(4);
    let plain = pcap(Form::link(RAW), &frames);
    let size = 16 + frames[0].bytes.len();
    for length in 24..=plain.len() {
        let (segments, mut file) = read(&plain[..length]);
        let complete = (length - 24) / size;
        assert_eq!(segments.len(), complete, "{length}");
        let warning = file.take_warning().map(|one| one.to_string());
        if (length - 24) % size == 0 {
            assert_eq!(warning, None, "{length}");
        } else {
            let expected = format!("test.pcap: damaged after packet {complete}: it ends within a packet");
            assert_eq!(warning.as_deref(), Some(expected.as_str()), "{length}");
        }
    }
}

#[test]
fn truncated_compressed_files_give_a_warning() {
    let plain = pcap(Form::link(RAW), &frames(200));
    for whole in [gzip(&plain), zstd(&plain)] {
        for cut in [1, 5, whole.len() / 3, whole.len() / 2] {
            let bytes = &whole[..whole.len() - cut];
            let report = report_of(&[bytes.to_vec()]).unwrap();
            assert!(report.segments <= 200);
            assert!(report.segments > 0, "{cut} bytes are missing");
            assert_eq!(report.warnings.len(), 1, "{cut}: {:?}", report.warnings);
        }
    }
    let zstd = zstd(&plain);
    let report = report_of(&[zstd[..zstd.len() / 2].to_vec()]).unwrap();
    assert!(report.segments > 50, "{}", report.segments);
}

#[test]
fn a_truncated_pcapng_keeps_its_complete_packets() {
    let mut blocks = Blocks::new(false).section().interface(RAW, None, None);
    let start = blocks.out.len();
    for time in 0..3 {
        blocks = blocks.packet(0, time, &packet());
    }
    let size = (blocks.out.len() - start) / 3;
    for length in start..blocks.out.len() {
        let (segments, mut file) = read(&blocks.out[..length]);
        assert_eq!(segments.len(), (length - start) / size, "{length}");
        assert_eq!(file.take_warning().is_some(), !(length - start).is_multiple_of(size), "{length}");
    }
}

#[test]
fn a_damaged_length_ends_the_file_with_a_warning() {
    let frames = frames(3);
    let mut bytes = pcap(Form::link(RAW), &frames);
    let second = 24 + 16 + frames[0].bytes.len();
    bytes[second + 8..second + 12].fill(0xff);
    let (segments, mut file) = read(&bytes);
    assert_eq!(segments.len(), 1);
    assert!(file.take_warning().unwrap().to_string().contains("damaged after packet 1"));
}

#[test]
fn other_files_are_refused_with_their_first_bytes() {
    let error = |bytes: &[u8]| open(bytes).unwrap_err().to_string();
    assert_eq!(error(&[]), "test.pcap: the file is empty");
    let text = error(b"hello, this is no capture at all, but it is long enough for a header");
    assert_eq!(
        text,
        "test.pcap: neither pcap nor pcapng (the first bytes are 68 65 6c 6c); capture with tcpdump -w, or Wireshark"
    );
    assert!(error(&gzip(b"hello, this is no capture")).contains("68 65 6c 6c"));
    assert!(error(&gzip(b"")).contains("empty"));
    for start in [&[0x1f, 0x8b][..], &[0x28, 0xb5, 0x2f, 0xfd], &[0x28, 0xb5, 0x2f, 0xfd, 0xff, 0xff]] {
        error(start);
    }
    for length in 1..24 {
        let start = &pcap(Form::link(RAW), &[])[..length];
        // Four bytes name the format; the rest of the header is missing.
        if let Ok(mut file) = open(start) {
            assert!(file.next_segment().is_none());
            assert!(file.take_warning().is_some(), "{length}");
        }
    }
}

#[test]
fn files_are_merged_by_time() {
    let all = frames(10);
    let (odd, even): (Vec<_>, Vec<_>) = all.into_iter().enumerate().partition(|(at, _)| at % 2 == 1);
    let file = |frames: Vec<(usize, Frame)>| {
        let frames: Vec<Frame> = frames.into_iter().map(|(_, frame)| frame).collect();
        pcap(Form::link(RAW), &frames)
    };
    let report = report_of(&[file(odd), file(even)]).unwrap();
    assert_eq!((report.packets, report.segments), (10, 10));
    assert_eq!(report.files.len(), 2);
    assert!((report.start - START as f64 / 1e9).abs() < 1e-6);
    assert!((report.seconds - 0.009).abs() < 1e-9);
}

#[test]
fn empty_captures_have_empty_reports() {
    let report = report_of(&[pcap(Form::link(RAW), &[])]).unwrap();
    assert_eq!((report.packets, report.segments), (0, 0));
    assert!(report.connections.is_empty() && report.warnings.is_empty());
    let report = report_of(&[]).unwrap();
    assert!(report.connections.is_empty());
}

#[test]
fn a_wrong_checksum_of_gzip_gives_a_warning() {
    let mut bytes = gzip(&pcap(Form::link(RAW), &frames(20)));
    let at = bytes.len() - 8;
    bytes[at] ^= 1;
    let report = report_of(&[bytes]).unwrap();
    assert_eq!(report.segments, 20);
    assert!(report.warnings[0].contains("the compressed data or the file cannot be read further"));
}
