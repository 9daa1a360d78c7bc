//! Measures the cost of encoding and decoding a segment.
//!
//!     cargo bench -p mptcp-wire --bench hot

use bytes::Bytes;
use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use mptcp_wire::{
    Checksum, ChecksumMode, DataSequence, Dss, Mapping, Options, Packet, Segment, Timestamps, crypto,
};

const PAYLOADS: [usize; 2] = [0, 1428];
const MODES: [ChecksumMode; 2] = [ChecksumMode::Complete, ChecksumMode::Offloaded];

/// A data segment as Linux sends it on an MPTCP connection.
fn packet(payload: usize) -> Packet {
    let mut options = Options::default();
    options.timestamps = Some(Timestamps { value: 1, echo: 2 });
    let sequence = DataSequence::Wide(0x0123_4567_89ab_cdef);
    let mapping = Mapping { sequence, subflow_sequence: 1, length: payload as u16, checksum: None };
    options.dss = Some(Dss { ack: Some(DataSequence::Short(7)), mapping: Some(mapping), data_fin: false });
    let (source, destination) = (([10, 0, 0, 1], 1024).into(), ([10, 0, 0, 2], 80).into());
    Packet::new(Segment { options, payload: vec![0x5a; payload].into(), ..Segment::new(source, destination) })
}

fn bytes(payload: usize) -> Bytes {
    let mut bytes = Vec::new();
    packet(payload).emit(&mut bytes).expect("it has a form");
    bytes.into()
}

#[divan::bench(args = PAYLOADS, consts = [true, false])]
fn emit<const COMPLETE: bool>(bencher: Bencher<'_, '_>, payload: usize) {
    let (packet, mut buffer) = (packet(payload), Vec::with_capacity(2048));
    bencher.counter(BytesCount::new(payload)).bench_local(|| {
        buffer.clear();
        packet.emit_with(&mut buffer, MODES[usize::from(!COMPLETE)])
    });
}

#[divan::bench(args = PAYLOADS, consts = [true, false])]
fn parse<const COMPLETE: bool>(bencher: Bencher<'_, '_>, payload: usize) {
    let bytes = bytes(payload);
    let mode = MODES[usize::from(!COMPLETE)];
    bencher.counter(BytesCount::new(payload)).bench(|| Packet::parse_with(black_box(&bytes), mode));
}

#[divan::bench]
fn parse_options(bencher: Bencher<'_, '_>) {
    let bytes = packet(0).segment.options.emit().expect("room");
    bencher.bench(|| Options::parse(black_box(&bytes)));
}

#[divan::bench]
fn checksum_of_a_payload(bencher: Bencher<'_, '_>) {
    let block = vec![0x5a; 1428];
    bencher.counter(BytesCount::new(block.len())).bench(|| {
        let mut sum = Checksum::new();
        sum.add(black_box(&block));
        sum.value()
    });
}

#[divan::bench]
fn token_and_initial_sequence() -> u64 {
    crypto::Version::V1.digest(black_box(1)).initial_sequence
}

fn main() {
    divan::main();
}
