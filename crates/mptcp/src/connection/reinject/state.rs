//! Counters of reinjected bytes for results, and the progress of reinjection as in Linux.
//!
//! Owns the number of bytes by reason, the stream offset at which Linux's reinjection of all data continues,
//! and the count of data-level timeouts. Never chooses data.

/// Reinjection state of a connection.
#[derive(Debug, Default)]
pub(crate) struct ReinjectionState {
    /// Linux: everything in flight from this stream offset is to be reinjected.
    linux_from: Option<u64>,
    /// The oldest unacknowledged offset at the first of the consecutive data-level timeouts, and their number, at
    /// most 255.
    timeouts: (u64, u8),
    reinjected: u64,
    opportunistic: u64,
    speculative: u64,
}

impl ReinjectionState {
    /// Counts `bytes` that were reinjected on another subflow.
    pub(crate) fn on_reinjected(&mut self, bytes: u64) {
        self.reinjected += bytes;
    }

    /// Counts `bytes` that opportunistic retransmission (M1) reinjects because they are late or block a window.
    pub(crate) fn on_opportunistic(&mut self, bytes: u64) {
        self.opportunistic += bytes;
    }

    /// Counts `bytes` that M1 reinjects before they are late.
    pub(crate) fn on_speculative(&mut self, bytes: u64) {
        self.speculative += bytes;
    }

    pub(crate) fn reinjected(&self) -> u64 {
        self.reinjected
    }

    pub(crate) fn opportunistic(&self) -> u64 {
        self.opportunistic
    }

    pub(crate) fn speculative(&self) -> u64 {
        self.speculative
    }

    /// The offset at which Linux's reinjection continues. `None` if it is complete.
    pub(crate) fn linux_from(&self) -> Option<u64> {
        self.linux_from
    }

    pub(crate) fn set_linux_from(&mut self, from: Option<u64>) {
        self.linux_from = from;
    }

    pub(crate) fn timeouts(&self) -> u8 {
        self.timeouts.1
    }

    /// Counts a data-level timeout with `una` as the oldest unacknowledged offset.
    pub(crate) fn on_timeout(&mut self, una: u64) {
        let (first, count) = self.timeouts;
        self.timeouts = (una, if first == una { count.saturating_add(1) } else { 0 });
    }
}
