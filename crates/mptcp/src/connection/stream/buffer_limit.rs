//! The limit of a connection's receive buffer: smaller before an application accepts the connection, and while the endpoint is short of
//! memory.
//!
//! Owns the size that the limit gives. Knows neither stream offsets nor received bytes.

/// Receive buffer at the start when it tunes itself, and while nobody reads: Linux's `tcp_rmem` default.
pub(crate) const INITIAL_BUFFER: u64 = 131_072;
/// What an accepted connection may always keep beyond the last byte read: the largest window without scaling (RFC 9293 section
/// 3.1). Linux's `tcp_rmem` minimum is 4 KB.
pub(crate) const LEAST: u64 = 65_536;

#[derive(Debug)]
pub(crate) struct BufferLimit {
    /// The buffer that the settings and the application's reading give, bytes.
    wanted: u64,
    /// No application has accepted the connection yet.
    is_unaccepted: bool,
    /// The endpoint has too little memory for all its connections.
    is_under_pressure: bool,
}

impl BufferLimit {
    pub(crate) fn new(wanted: u64) -> Self {
        Self { wanted, is_unaccepted: false, is_under_pressure: false }
    }

    #[inline]
    pub(crate) fn wanted(&self) -> u64 {
        self.wanted
    }

    /// Takes a buffer that is wanted; returns the one that there is, bytes.
    pub(crate) fn want(&mut self, wanted: u64) -> u64 {
        self.wanted = wanted;
        self.buffer()
    }

    /// The buffer, bytes.
    pub(crate) fn buffer(&self) -> u64 {
        self.wanted.min(match (self.is_under_pressure, self.is_unaccepted) {
            (false, false) => u64::MAX,
            (false, true) => INITIAL_BUFFER,
            (true, false) => LEAST,
            (true, true) => 0,
        })
    }

    #[inline]
    pub(crate) fn is_under_memory_pressure(&self) -> bool {
        self.is_under_pressure
    }

    pub(crate) fn set_memory_pressure(&mut self, short: bool) {
        self.is_under_pressure = short;
    }

    pub(crate) fn is_unaccepted(&self) -> bool {
        self.is_unaccepted
    }

    pub(crate) fn set_unaccepted(&mut self) {
        self.is_unaccepted = true;
    }

    /// An application has accepted the connection. Returns whether it had to be accepted.
    pub(crate) fn take_unaccepted(&mut self) -> bool {
        std::mem::take(&mut self.is_unaccepted)
    }
}
