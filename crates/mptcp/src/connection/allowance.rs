//! How much a connection may hold: less while no application has accepted it, and while its endpoint is short of memory.
//!
//! Owns what the buffer is then, and who makes space. Knows neither bytes nor offsets.

/// Receive buffer at the start when it tunes itself, and while nobody reads: Linux's `tcp_rmem` default.
pub(super) const INITIAL_BUFFER: u64 = 131_072;
/// What an accepted connection may always hold: the largest window without scaling (RFC 9293 section 3.1).
const LEAST: u64 = 65_536;
/// Refusals of what is next on a subflow after which the pieces out of order are let go of: the first retransmission timeout
/// and two doublings of it (RFC 6298 section 5.5).
const MOST_REFUSALS: u32 = 3;

#[derive(Debug)]
pub(super) struct Allowance {
    /// The buffer that the settings and the application's reading give, bytes.
    wanted: u64,
    /// It waits at a listener: nobody reads yet.
    pub(super) waits: bool,
    /// The endpoint has too little memory for all its connections.
    short: bool,
    /// How often what is next on a subflow found no space, since something that is next in the stream did.
    refusals: u32,
}

impl Allowance {
    pub(super) fn new(wanted: u64) -> Self {
        Self { wanted, waits: false, short: false, refusals: 0 }
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
        (self.short, self.refusals) = (short, 0);
    }

    /// Whether a payload may make a connection hold `used` bytes while the endpoint is short of memory: of those unread if it
    /// continues the stream, of all otherwise.
    pub(super) fn has_space(&mut self, continues: bool, used: u64) -> bool {
        let space = used <= LEAST && !self.waits;
        if space && continues {
            self.refusals = 0;
        }
        space
    }

    /// Notes that what is next on a subflow and not in the stream found no space. Returns whether that has happened so often
    /// that what is missing may wait behind it.
    pub(super) fn note_refusal(&mut self) -> bool {
        self.refusals = if self.waits { 0 } else { (self.refusals + 1) % MOST_REFUSALS };
        self.refusals == 0 && !self.waits
    }
}
