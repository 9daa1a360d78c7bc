//! The state of a path MTU probe (RFC 4821 section 7): a data segment larger than any that has arrived, sent
//! to find the largest size.
//!
//! Owns the value only: the sender sets it, and the connection acts on it.

/// The state of a probe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum MtuProbe {
    /// No probe is in flight.
    #[default]
    None,
    /// The probe is in flight: its offsets, and its size in the unit of the MSS option.
    Sent { start: u64, end: u64, size: u16 },
    /// The probe has arrived.
    Arrived { size: u16 },
    /// The probe was lost, without another loss.
    Lost { size: u16 },
}

impl MtuProbe {
    /// Cancels the probe if it is the segment at offset `start`, which is retransmitted.
    #[cold]
    pub(crate) fn on_retransmitted(&mut self, start: u64) {
        if matches!(self, Self::Sent { start: of, .. } if *of == start) {
            *self = Self::None;
        }
    }
}
