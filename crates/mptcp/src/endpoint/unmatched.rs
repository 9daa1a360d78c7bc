//! Segments that belong to no subflow: SYNs for listeners, joins, answers to cookies, and errors.

use mptcp_clock::Instant;
use mptcp_wire::{Flags, MpJoin, MpTcpRst, MptcpOption, ResetReason, Segment};

use crate::connection::join_option;
use crate::endpoint::cookies::CookieAnswer;
use crate::endpoint::fast_open::read_syn;
use crate::endpoint::replies::Answering;
use crate::endpoint::{Endpoint, Transmit};
use crate::ids::InterfaceId;

impl Endpoint {
    /// A segment that belongs to no subflow: a SYN for a listener, a join, the answer to a cookie, or an error. Returns whether
    /// there is a subflow for it now.
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
        let opens = segment.flags.syn() && !segment.flags.ack() && !segment.flags.fin();
        if self.interfaces.get(interface).is_none() {
            self.refuse(now, interface, segment, None);
            return false;
        }
        if opens {
            self.handle_first(now, interface, segment, None);
            return false;
        }
        if self.take_join_answer(now, interface, segment) {
            return true;
        }
        match self.take_cookie_answer(now, interface, segment) {
            CookieAnswer::Accepted => true,
            CookieAnswer::Dropped => false,
            // RFC 9293 section 3.10.7.2: LISTEN drops what has neither SYN nor ACK.
            CookieAnswer::None if !segment.flags.ack() && self.is_heard(interface, segment) => false,
            CookieAnswer::None => {
                self.refuse(now, interface, segment, None);
                false
            }
        }
    }

    /// Whether somebody listens where a segment wants to go.
    fn is_heard(&self, interface: InterfaceId, segment: &Segment) -> bool {
        self.demux
            .listeners
            .get(&segment.destination.port())
            .is_some_and(|it| it.accepts_announcement(interface))
    }

    /// A SYN from nobody that we know; our own sequence numbers begin at `iss` where that is given.
    #[cold]
    pub(crate) fn handle_first(
        &mut self,
        now: Instant,
        interface: InterfaceId,
        segment: &Segment,
        iss: Option<u32>,
    ) {
        if let Some(&MpJoin::Syn { token, .. }) = join_option(&segment.options) {
            if let Some(reason) = self.handle_join(now, interface, segment, token) {
                self.refuse(
                    now,
                    interface,
                    segment,
                    Some(reason).filter(|_| reason != ResetReason::UNSPECIFIED),
                );
            }
            return;
        }
        let port = segment.destination.port();
        let Some(listener) = self.demux.listeners.get(&port).filter(|it| it.accepts_announcement(interface))
        else {
            return self.refuse(now, interface, segment, None);
        };
        if listener.accept_queue_is_full() {
            // Nobody takes them: who asks again may find room, as in Linux.
            self.counters.unanswered += 1;
            return;
        }
        let config = listener.config.clone();
        if !self.evict_half_open(now, port) {
            return self.answer_by_cookie(now, interface, segment, &config);
        }
        let iss = iss.unwrap_or_else(|| self.random.next_u32());
        let Some((mut connection, mut subflow)) =
            self.answering(now, interface, segment, &config, Answering { iss, key: None })
        else {
            return;
        };
        if let Some(settings) = config.fast_open {
            read_syn(&mut subflow, segment, settings);
        }
        connection.accept(now, subflow, segment);
        self.counters.capable_syns_received += u64::from(connection.is_negotiating());
        let id = self.insert(now, connection);
        if let Some(place) = self.slots.place(id) {
            self.add_to_backlog(now, place, port);
        }
    }

    /// RFC 9293 section 3.5.2: a reset that the sender of `segment` will believe. Rationed: whoever sends to closed ports
    /// gets no more answers than the endpoint's bounds say.
    pub(crate) fn refuse(
        &mut self,
        now: Instant,
        interface: InterfaceId,
        segment: &Segment,
        reason: Option<ResetReason>,
    ) {
        if self.stateless_replies.len() >= self.bounds.stray_answers || !self.refusals.take(now) {
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
