//! Reads TCP segments from captures.
//!
//! Owns files, link types and IP headers. A file may be damaged or hostile: a reader holds one block, and no length is
//! trusted before the bytes are there. `track` interprets the segments.

mod file;
mod ip;
mod link;
mod merge;
mod segment;
mod skipped;

pub use file::{CaptureError, CaptureFile};
pub use link::LinkType;
pub use merge::Merged;
pub use segment::{PacketRef, SeenSegment, SourceId};
pub use skipped::Skipped;
