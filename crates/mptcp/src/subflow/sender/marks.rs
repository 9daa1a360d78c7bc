//! Marks, as the one who is told of them (RFC 3168 section 6.1.2).
//!
//! Owns what was told so far, and what the peer is still to be told.

/// Marks, as the one who is told of them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Marks {
    /// What is sent may be marked, and what the peer says of it counts.
    on: bool,
    /// The next new data says that the window was reduced.
    reduced: bool,
    /// An acknowledgement of new data spoke of no mark.
    pub(super) clean: bool,
    /// Reductions at the smallest window before that.
    pub(super) in_vain: u8,
    /// Bytes that were acknowledged by segments that spoke of marks.
    pub(crate) delivered: u64,
    /// Reductions because of marks.
    pub(crate) reductions: u64,
}

impl Marks {
    pub(crate) fn begin(&mut self, on: bool) {
        self.on = on;
    }

    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.on
    }

    /// Whether new data that leaves now is to say that the window was reduced; once for each time that it was.
    #[inline]
    pub(crate) fn take_reduced(&mut self) -> bool {
        std::mem::take(&mut self.reduced)
    }

    /// What is sent is marked no more, and what the peer says counts no more.
    pub(super) fn end(&mut self) {
        self.on = false;
    }

    /// The window was reduced, for whatever reason: the peer hears of it (RFC 3168 section 6.1.2).
    pub(super) fn on_reduced(&mut self) {
        self.reduced = self.on;
    }

    /// It was not.
    pub(super) fn on_undone(&mut self) {
        self.reduced = false;
    }
}
