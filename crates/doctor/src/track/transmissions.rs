//! The first transmissions of one direction of a subflow, each with its fate.
//!
//! A capture far from the sender has the segments that arrived, and gaps where others were lost.

/// A transmission of a segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transmission {
    /// Time, ns. That of a gap is the time of the segment before it.
    pub(crate) time: u64,
    /// Payload, bytes.
    pub(crate) bytes: u32,
    pub(crate) is_lost: bool,
    /// Time in queues of it, or of the last segment before a gap, s; NaN if unknown.
    pub(crate) queueing: f32,
}

/// The number of a transmission in its log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogIndex(u32);

/// The first transmissions of one direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Transmissions {
    entries: Vec<Transmission>,
    /// Transmissions that are remembered, at most.
    most: usize,
}

impl Transmissions {
    pub(super) const fn new(most: usize) -> Self {
        Self { entries: Vec::new(), most }
    }

    /// Adds a transmission. Returns its number, or None if the log is full.
    pub(super) fn add(&mut self, time: u64, bytes: u64, is_lost: bool) -> Option<LogIndex> {
        let index = u32::try_from(self.entries.len()).ok().filter(|_| self.entries.len() < self.most)?;
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        self.entries.push(Transmission { time, bytes, is_lost, queueing: f32::NAN });
        Some(LogIndex(index))
    }

    /// Notes the fate of a transmission.
    pub(super) fn set_lost(&mut self, index: Option<LogIndex>, is_lost: bool) {
        if let Some(LogIndex(index)) = index
            && let Some(one) = self.entries.get_mut(index as usize)
        {
            one.is_lost = is_lost;
        }
    }

    /// Notes the time in queues of a transmission, s.
    pub(super) fn set_queueing(&mut self, index: Option<LogIndex>, queueing: f64) {
        if let Some(LogIndex(index)) = index
            && let Some(one) = self.entries.get_mut(index as usize)
        {
            one.queueing = queueing as f32;
        }
    }

    /// Whether later transmissions are missing.
    pub(crate) const fn is_full(&self) -> bool {
        self.entries.len() >= self.most
    }

    /// The transmissions in the order of their times.
    pub(crate) fn all(&self) -> &[Transmission] {
        &self.entries
    }
}
