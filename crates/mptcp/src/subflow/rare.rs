//! Deadlines of a subflow that seldom change: of its handshake or its end, of a path that went silent, of a peer that may be gone.
//!
//! Owns them and the first of them, which is asked for with every segment. Never acts on one.

use mptcp_clock::Instant;

#[derive(Clone, Copy, Debug)]
pub(crate) struct RareDeadlines {
    opening: Instant,
    probe: Instant,
    keep: Instant,
    first: Instant,
}

impl Default for RareDeadlines {
    fn default() -> Self {
        let never = Instant::FAR_FUTURE;
        Self { opening: never, probe: never, keep: never, first: never }
    }
}

impl RareDeadlines {
    /// The first of them.
    #[inline]
    pub(crate) fn first(&self) -> Instant {
        self.first
    }

    /// When the handshake has to be over, or what is left of the end.
    pub(crate) fn opening(&self) -> Instant {
        self.opening
    }

    pub(crate) fn set_opening(&mut self, at: Instant) {
        self.opening = at;
        self.note();
    }

    /// When to ask whether a silent path is back.
    #[inline]
    pub(crate) fn probe(&self) -> Instant {
        self.probe
    }

    pub(crate) fn set_probe(&mut self, at: Instant) {
        self.probe = at;
        self.note();
    }

    /// When to ask whether the peer is alive.
    #[inline]
    pub(crate) fn keep(&self) -> Instant {
        self.keep
    }

    pub(crate) fn set_keep(&mut self, at: Instant) {
        self.keep = at;
        self.note();
    }

    /// One of them has changed.
    fn note(&mut self) {
        self.first = self.opening.min(self.probe).min(self.keep);
    }
}
