//! Says why a connection is slow, from captures of its packets.
//!
//! `capture` reads files, `track` follows connections, `diagnosis` draws conclusions, and `report` is their form for
//! people and programs. Nothing here simulates; the laboratory does.
#![forbid(unsafe_code)]

pub mod capture;
mod diagnosis;
mod report;
mod summary;
mod track;

use std::path::Path;

pub use diagnosis::HostFacts;
pub use report::*;

use capture::{CaptureError, Merged};
use track::Tracker;

/// Segments between two calls of `progress` in [`examine`].
const PROGRESS: u64 = 100_000;

/// Reads captures of the same connections, and reports on each connection.
///
/// Holds a bounded amount of memory, which does not depend on the size of the files. `progress` is called from time to time with the
/// number of packets read; it returns false to stop early.
///
/// # Errors
/// A file cannot be opened, or is no capture. A file that is damaged later gives a warning in the report.
pub fn examine<P: AsRef<Path>>(
    files: &[P],
    host: &HostFacts,
    mut progress: impl FnMut(u64) -> bool,
) -> Result<Report, CaptureError> {
    Ok(examine_merged(Merged::open(files)?, host, &mut progress))
}

/// As [`examine`], for captures that are open already.
pub fn examine_merged(mut merged: Merged, host: &HostFacts, progress: &mut dyn FnMut(u64) -> bool) -> Report {
    let mut tracker = Tracker::default();
    let mut count = 0;
    while let Some(segment) = merged.next_segment() {
        tracker.take(*segment);
        count += 1;
        if count % PROGRESS == 0 && !progress(merged.packets()) {
            break;
        }
    }
    tracker.finish();
    let mut report = Report {
        files: merged.files().iter().map(|file| file.path().display().to_string()).collect(),
        packets: merged.packets(),
        skipped: merged.skipped(),
        warnings: merged.take_warnings().iter().map(ToString::to_string).collect(),
        ..Report::default()
    };
    summary::fill(&mut report, &tracker, host);
    report
}
