//! Captures with arbitrary bytes: reading, tracking and the diagnosis must end without a panic.

#![no_main]

use std::io::Cursor;
use std::path::Path;

use libfuzzer_sys::fuzz_target;
use mptcp_doctor::capture::Merged;
use mptcp_doctor::{HostFacts, examine_merged};

fuzz_target!(|data: &[u8]| {
    // The first byte states where a second file ends and the first starts, as in captures of both ends; 0 for one file.
    let Some((&at, data)) = data.split_first() else { return };
    let (second, first) = data.split_at(data.len() * usize::from(at) / 256);
    let name = Path::new("fuzz");
    let sources: Vec<_> = [first, second]
        .into_iter()
        .filter(|part| !part.is_empty())
        .map(|part| (name, Cursor::new(part.to_vec())))
        .collect();
    if let Ok(merged) = Merged::from_readers(sources) {
        let report = examine_merged(merged, &HostFacts::default(), &mut |_| true);
        let _ = report.to_json();
    }
});
