//! The ECN state of a subflow: feedback to the peer (RFC 3168 section 6.1.3, RFC 8257 section 3.2), and feedback from
//! the peer.
//!
//! Owns the ECE flag of acknowledgements, and the CWR flag and counters of the sender. Never negotiates ECN (`ecn.rs`),
//! and never reduces the window.

use mptcp_wire::{Codepoint, Flags, Segment};

/// The state of the negotiation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Agreement {
    /// ECN is not used.
    #[default]
    No,
    /// This host's SYN requested ECN.
    Asked,
    /// This host's SYN requested ECN, and was retransmitted without the request.
    AskedOnce,
    /// The peer accepted nevertheless: its marks are reported, and no ECN-capable packets are sent.
    Echoes,
    /// Both hosts use ECN.
    Yes,
}

/// The feedback that the receiver of marks sends.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Echo {
    pub(crate) agreement: Agreement,
    /// ECE states for each acknowledged segment whether it was marked (RFC 8257 section 3.2). Otherwise ECE is set
    /// until the peer has reduced its window (RFC 3168 section 6.1.3).
    pub(crate) precise: bool,
    /// Acknowledgements have ECE.
    on: bool,
    /// Data up to this offset needs an acknowledgement of its own with the former ECE flag (RFC 8257 section 3.2).
    before: Option<u64>,
    /// Data segments received with a CE mark.
    pub(crate) received: u64,
}

impl Echo {
    /// Whether both hosts use ECN.
    #[inline]
    pub(crate) fn is_agreed(&self) -> bool {
        self.agreement == Agreement::Yes
    }

    /// Whether the peer's marks are reported.
    #[inline]
    pub(crate) fn reacts_to_marks(&self) -> bool {
        matches!(self.agreement, Agreement::Yes | Agreement::Echoes)
    }

    /// Whether acknowledgements have ECE.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.on
    }

    /// Takes the acknowledgement that has to be sent first: its offset, and whether it has ECE.
    pub(crate) fn take_before(&mut self) -> Option<(u64, bool)> {
        self.before.take().map(|before| (before, !self.on))
    }

    /// Notes an acknowledgement of all received data.
    #[inline]
    pub(crate) fn acknowledged(&mut self) {
        self.before = None;
    }

    /// Processes the mark of a data segment. `next` is the next expected offset. `pending` means that data before it is
    /// not acknowledged. Returns whether to acknowledge at once.
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
        let before = self.on;
        if self.precise {
            // RFC 8257 section 3.2: each change of the mark is acknowledged at once. Segments before and
            // after the change get separate acknowledgements.
            if marked != before {
                self.before = pending.then_some(next);
                self.on = marked;
            }
            return marked != before;
        }
        if reduced {
            // RFC 3168 section 6.1.3: the peer has reduced its window. Only marks from this segment on are new.
            self.on = false;
        }
        self.on |= marked;
        // As in Linux, the acknowledgement is not delayed, because the peer's window may be small.
        reduced || self.on != before
    }
}

/// The feedback that the sender has received.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EcnSender {
    /// Data is sent ECN-capable, and ECE is processed.
    on: bool,
    /// The next new data has CWR.
    reduced: bool,
    /// An acknowledgement of new data without ECE has arrived.
    pub(crate) clean: bool,
    /// Reductions at the smallest window before the first acknowledgement without ECE.
    pub(crate) in_vain: u8,
    /// Bytes acknowledged with ECE.
    pub(crate) delivered: u64,
    /// Reductions after marks.
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

    /// Whether new data needs CWR, once per reduction; clears the flag.
    #[inline]
    pub(crate) fn take_reduced(&mut self) -> bool {
        std::mem::take(&mut self.reduced)
    }

    /// Stops the use of ECN.
    pub(crate) fn end(&mut self) {
        self.on = false;
    }

    /// Notes a reduction of the window, which CWR will report (RFC 3168 section 6.1.2).
    pub(crate) fn on_reduced(&mut self) {
        self.reduced = self.on;
    }

    /// Notes that the reduction was undone.
    pub(crate) fn on_undone(&mut self) {
        self.reduced = false;
    }
}
