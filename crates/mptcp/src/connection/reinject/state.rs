//! Counters and pending work of reinjection: data that another subflow carries too.
//!
//! Owns how many bytes were reinjected and why, Linux's position in the retransmission queue, and the count of data-level timeouts.

/// Reinjection state of a connection.
#[derive(Debug, Default)]
pub(crate) struct ReinjectionState {
    /// Linux: everything in flight from this stream offset is to be reinjected.
    linux_from: Option<u64>,
    /// Consecutive data-level timeouts, at most 255, and the oldest unacknowledged offset at the first one.
    timeouts: (u64, u8),
    reinjected: u64,
    opportunistic: u64,
    speculative: u64,
}

impl ReinjectionState {
    /// `bytes` were given to a further subflow.
    pub(crate) fn on_reinjected(&mut self, bytes: u64) {
        self.reinjected += bytes;
    }

    /// M1 asked for `bytes` to be reinjected.
    pub(crate) fn on_opportunistic(&mut self, bytes: u64) {
        self.opportunistic += bytes;
    }

    /// M1 asked for `bytes` to be reinjected before they were late.
    pub(crate) fn on_speculative(&mut self, bytes: u64) {
        self.speculative += bytes;
    }

    /// Bytes that were given to a further subflow.
    pub(crate) fn reinjected(&self) -> u64 {
        self.reinjected
    }

    /// Bytes of M1 that were late or blocked a window.
    pub(crate) fn opportunistic(&self) -> u64 {
        self.opportunistic
    }

    /// Bytes of M1 that were not late yet.
    pub(crate) fn speculative(&self) -> u64 {
        self.speculative
    }

    /// Where Linux's reinjection goes on.
    pub(crate) fn linux_from(&self) -> Option<u64> {
        self.linux_from
    }

    pub(crate) fn set_linux_from(&mut self, from: Option<u64>) {
        self.linux_from = from;
    }

    /// Consecutive data-level timeouts without a DATA_ACK of new data.
    pub(crate) fn timeouts(&self) -> u8 {
        self.timeouts.1
    }

    /// A data-level timeout with `una` as the oldest unacknowledged offset.
    pub(crate) fn on_timeout(&mut self, una: u64) {
        let (first, count) = self.timeouts;
        self.timeouts = (una, if first == una { count.saturating_add(1) } else { 0 });
    }
}
