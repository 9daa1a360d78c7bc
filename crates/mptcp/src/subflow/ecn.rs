//! ECN on a subflow (RFC 3168): its negotiation, and the marking of segments.
//!
//! Owns the negotiation and the ECT codepoint of data. Never reports marks (`ecn_state.rs`) and never reduces the
//! window (`sender/mod.rs`).

use mptcp_wire::{Codepoint, Flags, Segment};

use crate::config::Ecn;
use crate::subflow::Subflow;
use crate::subflow::ecn_state::Agreement;

/// The flags of a SYN that requests ECN.
const ASKS: u16 = Flags::ECE.bits() | Flags::CWR.bits();

impl Subflow {
    /// The ECN flags of a SYN. A retransmitted SYN has none, because a middlebox may drop SYNs with them (RFC
    /// 3168 section 6.1.1.1). This host then sends no ECN-capable data, whatever the peer answers (section
    /// 6.1.1).
    pub(crate) fn asking(&mut self, wanted: bool) -> Flags {
        let requests = wanted && self.handshake.attempts <= 1;
        self.echo.agreement = match self.echo.agreement {
            _ if requests => Agreement::Asked,
            Agreement::Asked | Agreement::AskedOnce => Agreement::AskedOnce,
            _ => Agreement::No,
        };
        if requests { Flags::from_bits(ASKS) } else { Flags::NONE }
    }

    /// The ECN flag of a SYN/ACK.
    pub(crate) fn answering(&self) -> Flags {
        if self.echo.is_agreed() { Flags::ECE } else { Flags::NONE }
    }

    /// Processes the ECN flags of a SYN or SYN/ACK.
    pub(crate) fn negotiate_ecn(&mut self, segment: &Segment, wanted: Ecn) {
        let before = self.echo.agreement;
        let asked = before == Agreement::Asked;
        self.echo.agreement = match segment.flags.ack() {
            false if asks(segment) && wanted != Ecn::Off && (asked || !self.handshake.is_active_open) => {
                Agreement::Yes
            }
            true if asked && answers(segment) => Agreement::Yes,
            // The peer may have seen the first SYN, and may send ECN-capable packets, so their marks are
            // reported (RFC 3168 section 6.1.1).
            true if before == Agreement::AskedOnce && answers(segment) => Agreement::Echoes,
            _ => Agreement::No,
        };
    }

    /// Processes a repeated SYN. Without the flags, the peer no longer supports ECN (RFC 3168 section 6.1.1).
    pub(crate) fn reconsider_marks(&mut self, syn: &Segment) {
        if syn.flags.syn() && !syn.flags.ack() && !asks(syn) {
            self.echo.agreement = Agreement::No;
        }
    }

    /// Notes the CE mark of an accepted data segment.
    #[inline(always)]
    pub(crate) fn note_mark(&mut self, segment: &Segment) {
        if !self.echo.reacts_to_marks() {
            return;
        }
        let (next, pending) = (self.receiver.next(), self.receiver.has_delayed_ack());
        if self.echo.on_data(segment, next, pending) {
            self.receiver.acknowledge_now();
        }
    }

    /// Starts ECN after the handshake. `precise` selects the feedback of RFC 8257.
    pub(crate) fn begin_marks(&mut self, precise: bool) {
        self.echo.precise = precise;
        self.sender.begin_marks(self.echo.is_agreed());
    }

    /// Marks new data as ECN-capable. SYNs, pure acknowledgements, retransmissions and window probes are
    /// never marked (RFC 3168 sections 6.1.1, 6.1.4, 6.1.5 and 6.1.6). RFC 8311 section 4.3 permits
    /// experiments.
    pub(crate) fn mark_capable(&mut self, segment: &mut Segment) {
        segment.ecn = Codepoint::Ect0;
        if self.sender.marks.take_reduced() {
            segment.flags |= Flags::CWR;
        }
    }
}

/// Whether a SYN requests ECN (RFC 3168 section 6.1.1: both flags). As in Linux, a SYN with an ECN codepoint
/// in its IP header does not count: a middlebox then sets the codepoint on all packets.
pub(crate) fn asks(syn: &Segment) -> bool {
    syn.flags.bits() & ASKS == ASKS && syn.ecn == Codepoint::NotEct
}

/// Whether a SYN/ACK accepts ECN (RFC 3168 section 6.1.1: ECE alone, because some hosts reflect both flags).
/// The SYN/ACK may be ECN-capable (RFC 5562). A CE mark before any data means that the path marks every
/// packet.
fn answers(answer: &Segment) -> bool {
    answer.flags.bits() & ASKS == Flags::ECE.bits() && answer.ecn != Codepoint::Ce
}
