//! SYN cookies (RFC 4987 section 3.6): answering SYNs at a full listener without remembering them.
//!
//! Owns what a SYN/ACK says so that its answer brings everything back: our sequence number holds the time, the peer's
//! MSS and a hash; the low bits of our timestamp the window scale and SACK, as in Linux; and the third ACK of
//! MP_CAPABLE brings both keys (RFC 8684 section 3.1), of which ours follows from the addresses. So Multipath
//! TCP needs no memory either. Version 0 goes on as TCP, and so does a peer whose option does not fit.

use mptcp_clock::{Duration, Instant};
use mptcp_wire::{Flags, MpCapable, MptcpOption, Segment, Seq, Timestamps};

use crate::Version;
use crate::config::{Config, Ecn};
use crate::connection::capable_option;
use crate::endpoint::replies::Answering;
use crate::endpoint::{Endpoint, Transmit};
use crate::ids::InterfaceId;
use crate::subflow::ecn::asks;
use crate::subflow::timestamp_clock;

/// How long a cookie counts at least; at most twice that.
const PERIOD: Duration = Duration::from_secs(64);
/// Segment sizes that a cookie can tell, bytes.
const SIZES: [u16; 8] = [536, 1024, 1220, 1360, 1440, 1460, 4312, 8960];
/// Window scale that means none.
const NO_SCALE: u32 = 15;
/// Bits of a timestamp that say what was agreed on: one of ECN, four of the window scale, one of SACK.
const TIMESTAMP_BITS: u32 = 6;
/// The one of ECN.
const MARKS: u32 = 1 << 5;

/// The period that a moment lies in.
fn period(now: Instant) -> u32 {
    (now.as_nanos() / PERIOD.as_nanos()) as u32
}

/// What a segment of nobody that we know is to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CookieAnswer {
    /// No answer to a cookie.
    None,
    /// One, and there is no room for its connection.
    Dropped,
    /// One that has got its connection.
    Accepted,
}

impl Endpoint {
    fn cookie(&self, segment: &Segment, first: Seq, period: u32, size: u32) -> u32 {
        let about = [1, first.value(), period, size];
        let hash = self.secret.number(segment.destination, segment.source, &about) as u32;
        (period % 32) << 27 | size << 24 | hash >> 8
    }

    fn cookie_key(&self, segment: &Segment, first: Seq, period: u32) -> u64 {
        self.secret.number(segment.destination, segment.source, &[2, first.value(), period])
    }

    /// Answers a SYN for which a listener has no place.
    pub(crate) fn answer_by_cookie(
        &mut self,
        now: Instant,
        interface: InterfaceId,
        syn: &Segment,
        config: &Config,
    ) {
        if !config.syn_cookies || self.stateless_replies.len() >= self.bounds.stray_answers {
            // Who asks again may find room.
            self.counters.unanswered += 1;
            return;
        }
        let period = period(now);
        let offered = syn.options.mss.unwrap_or(SIZES[0]);
        let size = SIZES.iter().rposition(|size| *size <= offered).unwrap_or(0) as u32;
        let mut answer = Segment::new(syn.destination, syn.source);
        answer.flags = Flags::SYN | Flags::ACK;
        answer.sequence = Seq::new(self.cookie(syn, syn.sequence, period, size));
        answer.acknowledgment = syn.sequence + 1;
        answer.window = config.receive_buffer.min(65_535) as u16;
        answer.options.mss = Some(config.mss);
        if let Some(timestamps) = syn.options.timestamps.filter(|_| config.timestamps) {
            let scale = syn.options.window_scale.map_or(NO_SCALE, |scale| u32::from(scale.min(14)));
            let sack = config.sack && syn.options.sack_permitted;
            let marks = asks(syn) && !matches!(config.ecn, None | Some(Ecn::Off));
            if marks {
                answer.flags |= Flags::ECE;
            }
            let negotiated = if marks { MARKS } else { 0 } | scale << 1 | u32::from(sack);
            let offset = self.secret.timestamp_offset(syn.destination, syn.source);
            let clock = timestamp_clock(now, offset);
            // Not later than now: what follows must not be older (RFC 7323 section 5.3).
            let before = clock.wrapping_sub(1 << TIMESTAMP_BITS) >> TIMESTAMP_BITS << TIMESTAMP_BITS;
            answer.options.timestamps =
                Some(Timestamps { value: before | negotiated, echo: timestamps.value });
            answer.options.sack_permitted = sack;
            let (buffer, tunes) = (config.receive_buffer, config.mechanisms.autotuning);
            let own = |_| config.linux_stack.window_scale(buffer, tunes);
            answer.options.window_scale = syn.options.window_scale.map(own);
        }
        let offer = capable_option(&syn.options)
            .filter(|offer| config.multipath && offer.version >= 1 && offer.flags & MpCapable::HMAC != 0)
            .filter(|offer| offer.flags & MpCapable::EXTENSIBILITY == 0);
        if let Some(offer) = offer {
            let checksum = config.checksum || offer.flags & MpCapable::CHECKSUM_REQUIRED != 0;
            let no_join = if config.join_initial_address { 0 } else { MpCapable::NO_JOIN_HERE };
            answer.options.mptcp.push(MptcpOption::Capable(MpCapable {
                version: Version::V1.number(),
                flags: MpCapable::HMAC | no_join | if checksum { MpCapable::CHECKSUM_REQUIRED } else { 0 },
                sender_key: Some(self.cookie_key(syn, syn.sequence, period)),
                receiver_key: None,
                data: None,
            }));
        }
        self.counters.cookies_sent += 1;
        if let Some(listener) = self.demux.listeners.get_mut(&syn.destination.port()) {
            listener.cookies_until = now + PERIOD * 2;
        }
        self.rare_work = true;
        self.stateless_replies.push_back(Transmit { interface, subflow: None, segment: answer });
    }

    /// Whether a segment of nobody that we know answers a cookie of ours; the connection is there then, and goes on with it.
    pub(crate) fn take_cookie_answer(
        &mut self,
        now: Instant,
        interface: InterfaceId,
        segment: &Segment,
    ) -> CookieAnswer {
        let flags = segment.flags;
        if !flags.ack() || flags.syn() {
            return CookieAnswer::None;
        }
        let port = segment.destination.port();
        let found = self.demux.listeners.get(&port);
        let Some(listener) = found.filter(|it| it.accepts_announcement(interface) && it.cookies_until > now)
        else {
            return CookieAnswer::None;
        };
        let config = listener.config.clone();
        let (cookie, first) = ((segment.acknowledgment - 1).value(), segment.sequence - 1);
        let size = cookie >> 24 & 7;
        let current = period(now);
        let periods = [current, current.wrapping_sub(1)];
        let Some(period) = periods.into_iter().find(|&p| self.cookie(segment, first, p, size) == cookie)
        else {
            return CookieAnswer::None;
        };
        if self.demux.listeners.get(&port).is_some_and(|listener| listener.accept_queue_is_full()) {
            // Linux's way: who has data to send sends it again.
            self.counters.unanswered += 1;
            return CookieAnswer::Dropped;
        }
        let key = self.cookie_key(segment, first, period);
        let syn = remembered_syn(segment, first, SIZES[size as usize], key);
        let answering = Answering { iss: cookie, key: Some(key) };
        let Some((mut connection, subflow)) = self.answering(now, interface, &syn, &config, answering) else {
            return CookieAnswer::None;
        };
        connection.accept(now, subflow, &syn);
        connection.on_cookie_answer();
        self.counters.cookies_accepted += 1;
        let id = self.insert(now, connection);
        if let Some(place) = self.slots.place(id) {
            self.add_to_backlog(now, place, port);
        }
        CookieAnswer::Accepted
    }
}

/// The SYN that a third ACK follows from.
fn remembered_syn(ack: &Segment, first: Seq, mss: u16, key: u64) -> Segment {
    let mut syn = Segment::new(ack.source, ack.destination);
    syn.flags = Flags::SYN;
    syn.sequence = first;
    syn.window = ack.window;
    syn.options.mss = Some(mss);
    if let Some(timestamps) = ack.options.timestamps {
        let negotiated = timestamps.echo & ((1 << TIMESTAMP_BITS) - 1);
        let scale = negotiated >> 1 & 15;
        if negotiated & MARKS != 0 {
            syn.flags |= Flags::ECE | Flags::CWR;
        }
        syn.options.timestamps = Some(Timestamps { value: timestamps.value, echo: 0 });
        syn.options.sack_permitted = negotiated & 1 != 0;
        syn.options.window_scale = (scale != NO_SCALE).then_some(scale as u8);
    }
    let keys = capable_option(&ack.options).filter(|keys| keys.receiver_key == Some(key));
    syn.options.mptcp.extend(keys.map(|keys| {
        MptcpOption::Capable(MpCapable { sender_key: None, receiver_key: None, data: None, ..*keys })
    }));
    syn
}
