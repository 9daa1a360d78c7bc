//! Builds capture files and connections in memory.

use std::io::Cursor;
use std::path::Path;

use mptcp_doctor::capture::{CaptureError, CaptureFile, Merged, SeenSegment};
use mptcp_doctor::{ConnectionReport, HostFacts, Report, examine_merged};
use mptcp_wire::{ChecksumMode, Packet, Segment};

mod bulk;
mod scene;

pub(crate) use bulk::Bulk;
pub(crate) use scene::{CLIENT_KEY, Flow, MSS, SERVER_KEY, Scene, capable, dss, initial_data};

/// Nanoseconds of a millisecond, and of a second.
pub(crate) const MS: u64 = 1_000_000;
pub(crate) const S: u64 = 1_000_000_000;

/// Link types that the tests use.
pub(crate) const ETHERNET: u32 = 1;
pub(crate) const RAW: u32 = 101;

/// A frame with its time, ns, and its length on the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) time: u64,
    pub(crate) bytes: Vec<u8>,
    pub(crate) original: u32,
}

impl Frame {
    pub(crate) fn new(time: u64, bytes: Vec<u8>) -> Self {
        let original = bytes.len() as u32;
        Self { time, bytes, original }
    }
}

/// The bytes of an IP packet.
pub(crate) fn ip(segment: &Segment) -> Vec<u8> {
    let mut bytes = Vec::new();
    Packet::new(segment.clone()).emit_with(&mut bytes, ChecksumMode::Complete).unwrap();
    bytes
}

/// The form of a pcap file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    pub(crate) link: u32,
    pub(crate) is_big_endian: bool,
    pub(crate) is_nanoseconds: bool,
}

impl Form {
    pub(crate) const fn link(link: u32) -> Self {
        Self { link, is_big_endian: false, is_nanoseconds: true }
    }

    fn u32(self, value: u32) -> [u8; 4] {
        if self.is_big_endian { value.to_be_bytes() } else { value.to_le_bytes() }
    }

    fn u16(self, value: u16) -> [u8; 2] {
        if self.is_big_endian { value.to_be_bytes() } else { value.to_le_bytes() }
    }
}

/// A pcap file.
pub(crate) fn pcap(form: Form, frames: &[Frame]) -> Vec<u8> {
    let mut out = Vec::new();
    out.extend(form.u32(if form.is_nanoseconds { 0xa1b2_3c4d } else { 0xa1b2_c3d4 }));
    out.extend(form.u16(2));
    out.extend(form.u16(4));
    out.extend([0; 8]);
    out.extend(form.u32(262_144));
    out.extend(form.u32(form.link));
    for frame in frames {
        let tick = if form.is_nanoseconds { 1 } else { 1000 };
        out.extend(form.u32((frame.time / S) as u32));
        out.extend(form.u32((frame.time % S / tick) as u32));
        out.extend(form.u32(frame.bytes.len() as u32));
        out.extend(form.u32(frame.original));
        out.extend(&frame.bytes);
    }
    out
}

/// A pcap file of raw IP packets.
pub(crate) fn raw(segments: &[(u64, Segment)]) -> Vec<u8> {
    let frames: Vec<Frame> = segments.iter().map(|(time, segment)| Frame::new(*time, ip(segment))).collect();
    pcap(Form::link(RAW), &frames)
}

/// A file that reads these bytes.
pub(crate) fn open(bytes: &[u8]) -> Result<CaptureFile, CaptureError> {
    CaptureFile::from_reader(Cursor::new(bytes.to_vec()), Path::new("test.pcap"), 0)
}

/// All segments of a file, and the file after its end.
pub(crate) fn read(bytes: &[u8]) -> (Vec<SeenSegment>, CaptureFile) {
    let mut file = open(bytes).unwrap();
    let segments = std::iter::from_fn(|| file.next_segment()).map(|one| *one).collect();
    (segments, file)
}

/// The report of captures.
pub(crate) fn report_of(files: &[Vec<u8>]) -> Result<Report, CaptureError> {
    report_with(files, &HostFacts::default())
}

/// The report of captures with facts about the host.
pub(crate) fn report_with(files: &[Vec<u8>], host: &HostFacts) -> Result<Report, CaptureError> {
    let name = Path::new("test.pcap");
    let sources = files.iter().map(|bytes| (name, Cursor::new(bytes.clone()))).collect();
    let merged = Merged::from_readers(sources)?;
    Ok(examine_merged(merged, host, &mut |_| true))
}

/// The only connection of a capture.
pub(crate) fn only(segments: &[(u64, Segment)]) -> ConnectionReport {
    let mut report = report_of(&[raw(segments)]).unwrap();
    assert_eq!(report.connections.len(), 1, "{:#?}", report.connections);
    assert!(report.warnings.is_empty(), "{:?}", report.warnings);
    report.connections.remove(0)
}

/// Whether two numbers are equal but for rounding.
#[track_caller]
pub(crate) fn near(one: f64, other: f64) {
    assert!((one - other).abs() <= 1e-6 * other.abs().max(1.0), "{one} is not {other}");
}
