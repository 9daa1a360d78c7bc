//! Lengths of buffers and series of a subflow or a connection: shorter, the more there are, so that the total is
//! bounded.

/// Entries that one subflow or connection may remember.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Capacity {
    /// Time steps of each series.
    pub(crate) steps: usize,
    /// Segments in flight and first transmissions of each direction of a subflow, and pieces of data in flight of a connection.
    pub(crate) in_flight: usize,
}

impl Capacity {
    /// The capacity of the next subflow or connection after `count` others. All of 20,000 together take about 250 MB.
    pub(crate) const fn after(count: usize) -> Self {
        match count {
            0..32 => Self { steps: 256, in_flight: 1 << 14 },
            32..256 => Self { steps: 256, in_flight: 1 << 10 },
            256..2048 => Self { steps: 64, in_flight: 1 << 7 },
            _ => Self { steps: 8, in_flight: 1 << 5 },
        }
    }
}
