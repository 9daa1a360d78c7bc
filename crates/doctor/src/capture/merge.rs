//! Segments of several files in the order of their times.

use std::io::Read;
use std::path::Path;

use super::file::{CaptureError, CaptureFile};
use super::segment::SeenSegment;
use super::skipped::Skipped;

/// Several files as one stream. Holds one segment of each.
#[derive(Debug)]
pub struct Merged {
    files: Vec<CaptureFile>,
    next: Vec<Option<Box<SeenSegment>>>,
}

impl Merged {
    /// Opens all files.
    ///
    /// # Errors
    /// A file cannot be read, or is no capture.
    pub fn open<P: AsRef<Path>>(paths: &[P]) -> Result<Self, CaptureError> {
        let open = |(number, path): (usize, &P)| {
            CaptureFile::open(path.as_ref(), u16::try_from(number).unwrap_or(u16::MAX))
        };
        Ok(Self::new(paths.iter().enumerate().map(open).collect::<Result<_, _>>()?))
    }

    /// Captures from memory or other sources, with their names.
    ///
    /// # Errors
    /// A source cannot be read, or is no capture.
    pub fn from_readers<R: Read + Send + 'static>(sources: Vec<(&Path, R)>) -> Result<Self, CaptureError> {
        let open = |(number, (name, source)): (usize, (&Path, R))| {
            CaptureFile::from_reader(source, name, u16::try_from(number).unwrap_or(u16::MAX))
        };
        Ok(Self::new(sources.into_iter().enumerate().map(open).collect::<Result<_, _>>()?))
    }

    fn new(mut files: Vec<CaptureFile>) -> Self {
        let next = files.iter_mut().map(CaptureFile::next_segment).collect();
        Self { files, next }
    }

    /// The files.
    #[must_use]
    pub fn files(&self) -> &[CaptureFile] {
        &self.files
    }

    /// Packets read so far, of all files.
    #[must_use]
    pub fn packets(&self) -> u64 {
        self.files.iter().map(CaptureFile::packets).sum()
    }

    /// Packets without a usable segment, of all files.
    #[must_use]
    pub fn skipped(&self) -> Skipped {
        let mut all = Skipped::default();
        self.files.iter().for_each(|file| all.add(file.skipped()));
        all
    }

    /// The reasons why files ended early, after the last segment.
    pub fn take_warnings(&mut self) -> Vec<CaptureError> {
        self.files.iter_mut().filter_map(CaptureFile::take_warning).collect()
    }

    /// The earliest segment that was not yet returned.
    pub fn next_segment(&mut self) -> Option<Box<SeenSegment>> {
        let at = match self.next.len() {
            1 => 0,
            _ => {
                let waiting = self.next.iter().enumerate();
                waiting.filter_map(|(at, one)| Some((one.as_ref()?.time, at))).min()?.1
            }
        };
        let following = self.files[at].next_segment();
        std::mem::replace(&mut self.next[at], following)
    }
}
