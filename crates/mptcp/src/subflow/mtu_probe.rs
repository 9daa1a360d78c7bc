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
    SentSegment { start: u64, end: u64, size: u16 },
    /// It has arrived.
    Arrived { size: u16 },
    /// It was lost, and nothing else was.
    Lost { size: u16 },
}
