//! Explicit congestion notification on a subflow (RFC 3168): who speaks of it, and what may be marked.
//!
//! Owns the negotiation. What the peer is told is in `echo`, what marks do to the window in `sender/echoes.rs`; how packets are
//! marked is the network's affair.

use mptcp_wire::{Codepoint, Flags, Segment};

use crate::config::Ecn;
use crate::subflow::Subflow;
use crate::subflow::ecn_state::Agreement;

/// Both flags that ask for it.
const ASKS: u16 = Flags::ECE.bits() | Flags::CWR.bits();

impl Subflow {
    /// The flags of a SYN. One that has to be repeated asks for nothing: what carries it may drop what asks (RFC 3168 section
    /// 6.1.1.1). A host that has sent such a SYN is not capable (section 6.1.1), whatever the answer says.
    pub(crate) fn asking(&mut self, wanted: bool) -> Flags {
        let asks = wanted && self.handshake.attempts <= 1;
        self.echo.agreement = match self.echo.agreement {
            _ if asks => Agreement::Asked,
            Agreement::Asked | Agreement::AskedOnce => Agreement::AskedOnce,
            _ => Agreement::No,
        };
        if asks { Flags::from_bits(ASKS) } else { Flags::NONE }
    }

    /// The flag of a SYN/ACK.
    pub(crate) fn answering(&self) -> Flags {
        if self.echo.is_agreed() { Flags::ECE } else { Flags::NONE }
    }

    /// Takes what a SYN or a SYN/ACK says.
    pub(crate) fn agree_on_marks(&mut self, segment: &Segment, wanted: Ecn) {
        let before = self.echo.agreement;
        let asked = before == Agreement::Asked;
        self.echo.agreement = match segment.flags.ack() {
            false if asks(segment) && wanted != Ecn::Off && (asked || !self.handshake.opened_here) => {
                Agreement::Yes
            }
            true if asked && answers(segment) => Agreement::Yes,
            // The peer may have seen the first SYN, and mark: that is heeded (RFC 3168 section 6.1.1).
            true if before == Agreement::AskedOnce && answers(segment) => Agreement::Echoes,
            _ => Agreement::No,
        };
    }

    /// A SYN came again: without the flags, its sender is not capable any more (RFC 3168 section 6.1.1).
    pub(crate) fn reconsider_marks(&mut self, syn: &Segment) {
        if syn.flags.syn() && !syn.flags.ack() && !asks(syn) {
            self.echo.agreement = Agreement::No;
        }
    }

    /// A data segment came that is taken.
    #[inline(always)]
    pub(crate) fn note_mark(&mut self, segment: &Segment) {
        if !self.echo.heeds_marks() {
            return;
        }
        let (next, pending) = (self.receiver.next(), self.receiver.owes_acknowledgement());
        if self.echo.on_data(segment, next, pending) {
            self.receiver.acknowledge_now();
        }
    }

    /// The handshake is over.
    pub(crate) fn begin_marks(&mut self, precise: bool) {
        self.echo.precise = precise;
        self.sender.begin_marks(self.echo.is_agreed());
    }

    /// New data leaves, which the network may mark; nothing else is (RFC 3168 sections 6.1.1, 6.1.4, 6.1.5 and 6.1.6: no SYNs,
    /// no pure acknowledgements, nothing that goes again, no window probes; RFC 8311 section 4.3 would allow experiments).
    pub(crate) fn mark_capable(&mut self, segment: &mut Segment) {
        segment.ecn = Codepoint::Ect0;
        if self.sender.marks.take_reduced() {
            segment.flags |= Flags::CWR;
        }
    }
}

/// Whether a SYN asks (RFC 3168 section 6.1.1: both flags). One that came marked or capable was meddled with, and so would all
/// data be: as in Linux, nothing is agreed on then.
pub(crate) fn asks(syn: &Segment) -> bool {
    syn.flags.bits() & ASKS == ASKS && syn.ecn == Codepoint::NotEct
}

/// Whether a SYN/ACK agrees (RFC 3168 section 6.1.1: ECE alone; some hosts send both flags back as they came). One may be
/// capable (RFC 5562), but that one came marked where data has not begun yet tells of a path that marks all.
fn answers(answer: &Segment) -> bool {
    answer.flags.bits() & ASKS == Flags::ECE.bits() && answer.ecn != Codepoint::Ce
}
