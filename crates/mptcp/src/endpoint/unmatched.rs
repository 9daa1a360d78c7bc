//! Segments with an unknown four-tuple: SYNs, joins, answers to cookies, and invalid segments.
//!
//! Any host can send such segments, so each gets a check and at most one reply. Owns the resets to unknown
//! hosts. Never handles a segment of an existing subflow.

use mptcp_clock::Instant;
use mptcp_wire::{Flags, MpJoin, MpTcpRst, MptcpOption, ResetReason, Segment};

use crate::connection::join_option;
use crate::endpoint::cookies::CookieAnswer;
use crate::endpoint::fast_open::read_syn;
use crate::endpoint::replies::ReplyParameters;
use crate::endpoint::{Endpoint, Transmit};
use crate::ids::InterfaceId;

impl Endpoint {
    /// Handles a segment with an unknown four-tuple. Returns whether a subflow for it now exists.
    #[cold]
    pub(crate) fn handle_unmatched(
        &mut self,
        now: Instant,
        interface: InterfaceId,
        segment: &Segment,
    ) -> bool {
        if segment.flags.rst() {
            return false;
        }
        let is_initial_syn = segment.flags.syn() && !segment.flags.ack() && !segment.flags.fin();
        if self.interfaces.get(interface).is_none() {
            self.send_reset(now, interface, segment, None);
            return false;
        }
        if is_initial_syn {
            self.handle_syn(now, interface, segment, None);
            return false;
        }
        if self.accept_join_answer(now, interface, segment) {
            return true;
        }
        match self.accept_cookie_answer(now, interface, segment) {
            CookieAnswer::Accepted => true,
            CookieAnswer::Dropped => false,
            // RFC 9293 section 3.10.7.2: LISTEN drops segments with neither SYN nor ACK.
            CookieAnswer::None if !segment.flags.ack() && self.has_listener(interface, segment) => false,
            CookieAnswer::None => {
                self.send_reset(now, interface, segment, None);
                false
            }
        }
    }

    /// Whether a listener accepts on the destination port and `interface`.
    fn has_listener(&self, interface: InterfaceId, segment: &Segment) -> bool {
        self.demux.listeners.get(&segment.destination.port()).is_some_and(|it| it.accepts_on(interface))
    }

    /// Handles a SYN with an unknown four-tuple. `iss` is the local initial sequence number, random if
    /// `None`.
    #[cold]
    pub(crate) fn handle_syn(
        &mut self,
        now: Instant,
        interface: InterfaceId,
        segment: &Segment,
        iss: Option<u32>,
    ) {
        if let Some(&MpJoin::Syn { token, .. }) = join_option(&segment.options) {
            if let Some(reason) = self.handle_join(now, interface, segment, token) {
                self.send_reset(
                    now,
                    interface,
                    segment,
                    Some(reason).filter(|_| reason != ResetReason::UNSPECIFIED),
                );
            }
            return;
        }
        let port = segment.destination.port();
        let Some(listener) = self.demux.listeners.get(&port).filter(|it| it.accepts_on(interface)) else {
            return self.send_reset(now, interface, segment, None);
        };
        if listener.accept_queue_is_full() {
            // As in Linux, a retransmitted SYN may find space.
            self.counters.unanswered += 1;
            return;
        }
        let config = listener.config.clone();
        if !self.evict_half_open(now, port) {
            return self.answer_by_cookie(now, interface, segment, &config);
        }
        let iss = iss.unwrap_or_else(|| self.random.next_u32());
        let Some((mut connection, mut subflow)) =
            self.accept_syn(now, interface, segment, &config, ReplyParameters { iss, key: None })
        else {
            return;
        };
        if let Some(settings) = config.fast_open {
            read_syn(&mut subflow, segment, settings);
        }
        connection.accept(now, subflow, segment);
        self.counters.capable_syns_received += u64::from(connection.is_negotiating());
        let id = self.insert(now, connection);
        if let Some(slot) = self.slots.slot(id) {
            self.add_to_backlog(now, slot, port);
        }
    }

    /// Sends a reset that the sender of `segment` accepts (RFC 9293 section 3.5.2). A rate limit bounds the
    /// resets to unknown hosts.
    pub(crate) fn send_reset(
        &mut self,
        now: Instant,
        interface: InterfaceId,
        segment: &Segment,
        reason: Option<ResetReason>,
    ) {
        if self.stateless_replies.len() >= self.bounds.stray_answers || !self.reset_limit.take(now) {
            self.counters.unanswered += 1;
            return;
        }
        let mut reset = Segment::new(segment.destination, segment.source);
        if segment.flags.ack() {
            reset.flags = Flags::RST;
            reset.sequence = segment.acknowledgment;
        } else {
            reset.flags = Flags::RST | Flags::ACK;
            reset.acknowledgment = segment.sequence + segment.sequence_length();
        }
        if let Some(reason) = reason {
            reset.options.mptcp.push(MptcpOption::TcpRst(MpTcpRst { flags: 0, reason }));
        }
        self.rare_work = true;
        self.stateless_replies.push_back(Transmit { interface, subflow: None, segment: reset });
    }
}
