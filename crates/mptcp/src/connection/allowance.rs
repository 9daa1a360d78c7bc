//! How much a connection may hold: less while no application has accepted it, and while its endpoint is short of memory.
//!
//! Owns the size of the buffer then. Knows neither bytes nor offsets.

/// Receive buffer at the start when it tunes itself, and while nobody reads: Linux's `tcp_rmem` default.
pub(super) const INITIAL_BUFFER: u64 = 131_072;
/// What an accepted connection may always keep beyond the last byte read: the largest window without scaling (RFC 9293 section
/// 3.1). Linux's `tcp_rmem` minimum is 4 KB.
pub(super) const LEAST: u64 = 65_536;

#[derive(Debug)]
pub(super) struct Allowance {
    /// The buffer that the settings and the application's reading give, bytes.
    wanted: u64,
    /// It waits at a listener: nobody reads yet.
    pub(super) waits: bool,
    /// The endpoint has too little memory for all its connections.
    short: bool,
}

impl Allowance {
    pub(super) fn new(wanted: u64) -> Self {
        Self { wanted, waits: false, short: false }
    }

    #[inline]
    pub(super) fn wanted(&self) -> u64 {
        self.wanted
    }

    /// Takes a buffer that is wanted; returns the one that there is, bytes.
    pub(super) fn want(&mut self, wanted: u64) -> u64 {
        self.wanted = wanted;
        self.buffer()
    }

    /// The buffer, bytes.
    pub(super) fn buffer(&self) -> u64 {
        self.wanted.min(match (self.short, self.waits) {
            (false, false) => u64::MAX,
            (false, true) => INITIAL_BUFFER,
            (true, false) => LEAST,
            (true, true) => 0,
        })
    }

    #[inline]
    pub(super) fn is_short(&self) -> bool {
        self.short
    }

    pub(super) fn set_short(&mut self, short: bool) {
        self.short = short;
    }
}
