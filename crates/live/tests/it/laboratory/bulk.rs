//! Streams of any length, generated while they are sent and compared by SHA-256.
//!
//! Owns the pattern and the hashes; owns no socket.

use std::fmt::Write;

use sha2::{Digest, Sha256};

use super::{End, pattern};

/// Interval of position stamps in the stream, in bytes, so that misplaced blocks change the hash.
const BLOCK: usize = 4_096;
const BLOCKS: usize = 64;

/// Calls `take` with the stream of `length` bytes in pieces. `seed` differs between directions.
fn pieces(seed: u64, length: u64, mut take: impl FnMut(&[u8])) {
    let mut piece = pattern(BLOCK * BLOCKS);
    let (mut left, mut block) = (length, 0_u64);
    while left > 0 {
        for stamped in piece.chunks_mut(BLOCK) {
            stamped[..8].copy_from_slice(&(seed << 48 ^ block).to_be_bytes());
            block += 1;
        }
        let count = left.min(piece.len() as u64);
        take(&piece[..count as usize]);
        left -= count;
    }
}

fn hex(digest: impl AsRef<[u8]>) -> String {
    digest.as_ref().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Sends `length` bytes and closes that direction. Returns their SHA-256.
pub fn pour(end: &impl End, seed: u64, length: u64) -> String {
    let mut hash = Sha256::new();
    pieces(seed, length, |piece| {
        hash.update(piece);
        end.send_all(piece).unwrap_or_else(|error| panic!("writing {length} bytes: {error}"));
    });
    end.half_close().unwrap();
    hex(hash.finalize())
}

/// Reads to the end. Returns the number of bytes and their SHA-256.
pub fn drain(end: &impl End) -> (u64, String) {
    let (mut hash, mut count, mut buffer) = (Sha256::new(), 0, vec![0; 1 << 18]);
    loop {
        match end.read_some(&mut buffer) {
            Ok(0) => return (count, hex(hash.finalize())),
            Ok(some) => {
                hash.update(&buffer[..some]);
                count += some as u64;
            }
            Err(error) => panic!("reading after {count} bytes: {error}"),
        }
    }
}

/// Sends from `a` and `b` at the same time, and compares lengths and hashes at the other end.
pub fn ferry(a: &impl End, b: &impl End, forth: u64, back: u64, case: &str) {
    a.be_patient();
    b.be_patient();
    std::thread::scope(|scope| {
        let sent = [scope.spawn(|| pour(a, 1, forth)), scope.spawn(|| pour(b, 2, back))];
        let received = [scope.spawn(|| drain(b)), scope.spawn(|| drain(a))];
        let sent = sent.map(|thread| thread.join().unwrap());
        let received = received.map(|thread| thread.join().unwrap());
        for (way, length) in [forth, back].into_iter().enumerate() {
            let which = ["forth", "back"][way];
            assert_eq!(received[way].0, length, "{case}: length of what went {which}");
            assert_eq!(received[way].1, sent[way], "{case}: SHA-256 of what went {which}");
        }
    });
}
