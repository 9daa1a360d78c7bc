//! Prints the cost of encoding and decoding one segment.
//!
//!     cargo run --release -p mptcp-wire --example speed

use std::hint::black_box;
use std::time::Instant;

use bytes::Bytes;
use mptcp_wire::{
    Checksum, ChecksumMode, DataSequence, Dss, Mapping, Options, Packet, Segment, Timestamps, crypto,
};

/// A data segment as Linux sends it on an MPTCP connection.
fn segment(payload: usize) -> Segment {
    let mut options = Options::default();
    options.timestamps = Some(Timestamps { value: 1, echo: 2 });
    let sequence = DataSequence::Wide(0x0123_4567_89ab_cdef);
    let mapping = Mapping { sequence, subflow_sequence: 1, length: payload as u16, checksum: None };
    options.dss = Some(Dss { ack: Some(DataSequence::Short(7)), mapping: Some(mapping), data_fin: false });
    let (source, destination) = (([10, 0, 0, 1], 1024).into(), ([10, 0, 0, 2], 80).into());
    Segment { options, payload: vec![0x5a; payload].into(), ..Segment::new(source, destination) }
}

fn measure<T>(what: &str, mut operation: impl FnMut() -> T) {
    const ROUNDS: u32 = 1_000_000;
    let best = (0..3).map(|_| {
        let start = Instant::now();
        (0..ROUNDS).for_each(|_| drop(black_box(operation())));
        start.elapsed() / ROUNDS
    });
    println!("{what:34} {:>6} ns", best.min().unwrap_or_default().as_nanos());
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for payload in [0, 1428] {
        let packet = Packet::new(segment(payload));
        let mut buffer = Vec::with_capacity(2048);
        packet.emit(&mut buffer)?;
        let bytes = Bytes::from(buffer.clone());
        for mode in [ChecksumMode::Complete, ChecksumMode::Offloaded] {
            measure(&format!("emit {payload} bytes, {mode:?}"), || {
                buffer.clear();
                packet.emit_with(&mut buffer, mode)
            });
            measure(&format!("parse {payload} bytes, {mode:?}"), || Packet::parse_with(&bytes, mode));
        }
    }
    let options = segment(0).options.emit()?;
    measure("parse options", || Options::parse(black_box(&options)));
    let block = vec![0x5a; 1428];
    measure("checksum of 1428 bytes", || {
        let mut sum = Checksum::new();
        sum.add(black_box(&block));
        sum.value()
    });
    measure("token and initial sequence", || crypto::Version::V1.digest(black_box(1)));
    measure("HMAC of a join", || crypto::Version::V1.join_hmac(black_box(1), 2, 3, 4));
    Ok(())
}
