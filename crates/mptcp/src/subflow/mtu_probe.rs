//! A segment that is larger than what is known to pass (RFC 4821 section 7).
//!
//! Only a value: the sender finds out what became of it, the connection acts on it.

/// Where it stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum MtuProbe {
    /// None is out.
    #[default]
    None,
    /// It is under way: where it begins and ends, and its size as the MSS counts.
    Sent { start: u64, end: u64, size: u16 },
    /// It has arrived.
    Arrived { size: u16 },
    /// It was lost, and nothing else was.
    Lost { size: u16 },
}

impl MtuProbe {
    /// The segment that begins at the subflow offset `start` is retransmitted. A probe in it proves nothing any more.
    #[cold]
    pub(crate) fn on_retransmitted(&mut self, start: u64) {
        if matches!(self, Self::Sent { start: of, .. } if *of == start) {
            *self = Self::None;
        }
    }
}
