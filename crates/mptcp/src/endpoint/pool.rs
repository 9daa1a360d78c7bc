//! The memory of received payload, over all connections: Linux's `tcp_mem`.
//!
//! Owns the sum, and whether it is too much. What a connection then refuses is its own affair (`connection/stream/recv.rs`).

/// Received payload that waits in all connections.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    bytes: u64,
    short: bool,
}

impl Pool {
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether connections hold too much.
    pub(crate) fn is_under_memory_pressure(&self) -> bool {
        self.short
    }

    /// A connection holds `now` bytes, and held `before`. Returns whether the shortage begins or ends with that.
    #[inline]
    pub(crate) fn change(&mut self, before: u64, now: u64, most: u64) -> bool {
        self.bytes = self.bytes + now - before;
        self.reconsider(most)
    }

    /// Whether the shortage begins or ends where `most` bytes are the bound.
    #[inline]
    pub(crate) fn reconsider(&mut self, most: u64) -> bool {
        let ought = self.should_be_under_pressure(most);
        std::mem::replace(&mut self.short, ought) != ought
    }

    /// The shortage ends at three quarters of the bound: each change of mind takes a quarter of it to be received or read.
    fn should_be_under_pressure(&self, most: u64) -> bool {
        self.bytes > if self.short { most / 4 * 3 } else { most }
    }
}
