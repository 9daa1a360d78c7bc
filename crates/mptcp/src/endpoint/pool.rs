//! Received payload in memory, over all connections of an endpoint: Linux's `tcp_mem`.
//!
//! Owns the total and the memory pressure state. Never drops data: each connection reacts to the pressure by
//! itself (`connection/stream/recv.rs`).

/// Total received payload in the buffers of all connections.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    bytes: u64,
    under_pressure: bool,
}

impl Pool {
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether the total has exceeded the limit and has not yet fallen to three quarters of it.
    pub(crate) fn is_under_memory_pressure(&self) -> bool {
        self.under_pressure
    }

    /// Replaces the `before` bytes of a connection by `now` bytes. Returns whether the pressure state
    /// changed; `limit` is in bytes.
    #[inline]
    pub(crate) fn change(&mut self, before: u64, now: u64, limit: u64) -> bool {
        self.bytes = self.bytes + now - before;
        self.update_pressure(limit)
    }

    /// Compares the total with `limit` bytes. Returns whether the pressure state changed.
    #[inline]
    pub(crate) fn update_pressure(&mut self, limit: u64) -> bool {
        let pressure = self.should_be_under_pressure(limit);
        std::mem::replace(&mut self.under_pressure, pressure) != pressure
    }

    /// Pressure ends at three quarters of the limit. This hysteresis keeps the state from changing with every
    /// segment.
    fn should_be_under_pressure(&self, limit: u64) -> bool {
        self.bytes > if self.under_pressure { limit / 4 * 3 } else { limit }
    }
}
