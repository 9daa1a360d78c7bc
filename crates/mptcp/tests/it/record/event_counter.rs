//! An FNV-1a hash, and an observer that counts and hashes events.

use std::collections::BTreeMap;
use std::sync::Mutex;

use mptcp::observe::{Observer, Record};

/// FNV-1a.
#[derive(Clone, Copy, Debug)]
pub struct Hash(pub u64);

impl Default for Hash {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hash {
    pub fn bytes(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    pub fn number(&mut self, number: u64) {
        self.bytes(&number.to_le_bytes());
    }
}

#[derive(Debug, Default)]
struct Heard {
    counts: BTreeMap<(&'static str, &'static str), u64>,
    hash: Hash,
}

/// An observer of one end.
#[derive(Debug, Default)]
pub struct EventCounter(Mutex<Heard>);

impl Observer for EventCounter {
    fn observe(&self, record: &Record) {
        let Ok(mut heard) = self.0.lock() else { return };
        let (kind, values) = (record.event.kind().name(), record.event.values());
        *heard.counts.entry((kind, values.what)).or_default() += 1;
        heard.hash.bytes(kind.as_bytes());
        heard.hash.bytes(values.what.as_bytes());
        for number in values.numbers {
            heard.hash.number(number);
        }
        let subflow = |place: mptcp::observe::Place| place.subflow.number();
        heard.hash.number(record.at.as_nanos());
        heard.hash.number(subflow(record.place) << 1 | u64::from(record.whole));
        heard.hash.number(record.other.map_or(u64::MAX, subflow));
    }
}

impl EventCounter {
    /// Number of events by type, and a hash of all events.
    pub fn text(&self) -> Option<String> {
        let heard = self.0.lock().ok()?;
        let mut text = String::new();
        let mut last = "";
        for ((kind, what), count) in &heard.counts {
            let kind_then = if *kind == last { String::new() } else { format!("{kind}: ") };
            let gap = if text.is_empty() {
                ""
            } else if *kind == last {
                ", "
            } else {
                "; "
            };
            text += &format!("{gap}{kind_then}{what} {count}");
            last = kind;
        }
        Some(format!("{text}; all {:016x}", heard.hash.0))
    }
}
