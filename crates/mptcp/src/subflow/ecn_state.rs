//! Marks, as the one who receives them: what the peer is to be told (RFC 3168 section 6.1.3, RFC 8257 section 3.2).
//!
//! Owns what is told and until when. Who speaks of marks at all is agreed on in `ecn`.

use mptcp_wire::{Codepoint, Flags, Segment};

/// Where the negotiation stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Agreement {
    /// It is not spoken, and will not be.
    #[default]
    No,
    /// Our SYN asks.
    Asked,
    /// It did, and was repeated without asking.
    AskedOnce,
    /// Then the peer agreed all the same: its marks are told, and we send none.
    Echoes,
    /// Both sides speak it.
    Yes,
}

/// What a subflow knows of marks, as the one who receives them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Echo {
    pub(crate) agreement: Agreement,
    /// Acknowledgements say of which segments they are whether these were marked (RFC 8257 section 3.2); without, they say it
    /// until the peer has reduced its window (RFC 3168 section 6.1.3).
    pub(crate) precise: bool,
    /// Marks are to be told.
    on: bool,
    /// What was received up to this offset is to be acknowledged by itself, with the opposite of `on` (RFC 8257 section 3.2).
    before: Option<u64>,
    /// Data segments that came marked.
    pub(crate) received: u64,
}

impl Echo {
    /// Whether both sides speak it.
    #[inline]
    pub(crate) fn is_agreed(&self) -> bool {
        self.agreement == Agreement::Yes
    }

    /// Whether marks of the peer's packets are told.
    #[inline]
    pub(crate) fn heeds_marks(&self) -> bool {
        matches!(self.agreement, Agreement::Yes | Agreement::Echoes)
    }

    /// Whether acknowledgements that leave now say that marks came.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.on
    }

    /// An acknowledgement that has to leave before all others: up to which offset, and whether it says that marks came.
    pub(crate) fn take_before(&mut self) -> Option<(u64, bool)> {
        self.before.take().map(|before| (before, !self.on))
    }

    /// An acknowledgement of all that is here leaves.
    #[inline]
    pub(crate) fn acknowledged(&mut self) {
        self.before = None;
    }

    /// A data segment came. `next` is what is expected, and `pending` whether something was received up to there that is not
    /// acknowledged yet. Returns whether an acknowledgement should leave at once.
    #[inline]
    pub(crate) fn on_data(&mut self, segment: &Segment, next: u64, pending: bool) -> bool {
        let marked = segment.ecn == Codepoint::Ce;
        if !(marked || self.on || segment.flags.contains(Flags::CWR)) {
            return false;
        }
        self.on_marked_data(marked, segment.flags.contains(Flags::CWR), next, pending)
    }

    #[inline(never)]
    fn on_marked_data(&mut self, marked: bool, reduced: bool, next: u64, pending: bool) -> bool {
        self.received += u64::from(marked);
        let was = self.on;
        if self.precise {
            // RFC 8257 section 3.2: at each change at once, and by two acknowledgements, so that none speaks of both kinds.
            if marked != was {
                self.before = pending.then_some(next);
                self.on = marked;
            }
            return marked != was;
        }
        if reduced {
            // RFC 3168 section 6.1.3: the peer knows; marks count from here on, that of this segment too.
            self.on = false;
        }
        self.on |= marked;
        // The peer's window may be small now: it is not kept waiting, as in Linux.
        reduced || self.on != was
    }
}

/// Marks, as the one who is told of them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EcnSender {
    /// What is sent may be marked, and what the peer says of it counts.
    on: bool,
    /// The next new data says that the window was reduced.
    reduced: bool,
    /// An acknowledgement of new data spoke of no mark.
    pub(crate) clean: bool,
    /// Reductions at the smallest window before that.
    pub(crate) in_vain: u8,
    /// Bytes that were acknowledged by segments that spoke of marks.
    pub(crate) delivered: u64,
    /// Reductions because of marks.
    pub(crate) reductions: u64,
}

impl EcnSender {
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
    pub(crate) fn end(&mut self) {
        self.on = false;
    }

    /// The window was reduced, for whatever reason: the peer hears of it (RFC 3168 section 6.1.2).
    pub(crate) fn on_reduced(&mut self) {
        self.reduced = self.on;
    }

    /// It was not.
    pub(crate) fn on_undone(&mut self) {
        self.reduced = false;
    }
}
