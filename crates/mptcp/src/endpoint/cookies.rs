//! SYN cookies (RFC 4987 section 3.6): SYN/ACKs of a full listener that need no memory.
//!
//! Owns the encoding. The sequence number holds a time period, the MSS of the peer and a hash. As in Linux,
//! the low bits of the timestamp hold the window scale, SACK and ECN. The third ACK of MP_CAPABLE returns
//! both keys (RFC 8684 section 3.1); the local key is a keyed hash of the four-tuple.
//!
//! Never keeps state for a SYN. Peers with MPTCP version 0 or unsupported MP_CAPABLE flags fall back to TCP.

use mptcp_clock::{Duration, Instant};
use mptcp_wire::{Flags, MpCapable, MptcpOption, Segment, Seq, Timestamps};

use crate::Version;
use crate::config::{Config, Ecn};
use crate::connection::capable_option;
use crate::endpoint::replies::ReplyParameters;
use crate::endpoint::{Endpoint, Transmit};
use crate::ids::InterfaceId;
use crate::subflow::ecn::asks;
use crate::subflow::timestamp_clock;

/// Minimum lifetime of a cookie. The maximum is twice as long.
const PERIOD: Duration = Duration::from_secs(64);
/// MSS values that a cookie can encode, bytes.
const SIZES: [u16; 8] = [536, 1024, 1220, 1360, 1440, 1460, 4312, 8960];
/// Value that encodes the absence of a window scale.
const NO_SCALE: u32 = 15;
/// Bits of a timestamp that encode the options: one for ECN, four for the window scale, one for SACK.
const TIMESTAMP_BITS: u32 = 6;
/// The ECN bit.
const ECN_BIT: u32 = 1 << 5;

/// Number of the period that contains `now`.
fn period(now: Instant) -> u32 {
    (now.as_nanos() / PERIOD.as_nanos()) as u32
}

/// Result of checking an unmatched segment for a cookie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CookieAnswer {
    /// The segment does not answer a cookie.
    None,
    /// The segment answers a cookie, but the accept queue is full.
    Dropped,
    /// The segment answers a cookie; its connection now exists.
    Accepted,
}

impl Endpoint {
    /// The initial sequence number that encodes `period` and the MSS index `size`.
    fn cookie(&self, segment: &Segment, first: Seq, period: u32, size: u32) -> u32 {
        let about = [1, first.value(), period, size];
        let hash = self.secret.number(segment.destination, segment.source, &about) as u32;
        (period % 32) << 27 | size << 24 | hash >> 8
    }

    fn cookie_key(&self, segment: &Segment, first: Seq, period: u32) -> u64 {
        self.secret.number(segment.destination, segment.source, &[2, first.value(), period])
    }

    /// Answers a SYN at a full listener with a cookie, or drops it if cookies are disabled.
    pub(crate) fn answer_by_cookie(
        &mut self,
        now: Instant,
        interface: InterfaceId,
        syn: &Segment,
        config: &Config,
    ) {
        if !config.syn_cookies || self.stateless_replies.len() >= self.bounds.stray_answers {
            // A retransmitted SYN may find space.
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
            let ecn = asks(syn) && !matches!(config.ecn, None | Some(Ecn::Off));
            if ecn {
                answer.flags |= Flags::ECE;
            }
            let negotiated = if ecn { ECN_BIT } else { 0 } | scale << 1 | u32::from(sack);
            let offset = self.secret.timestamp_offset(syn.destination, syn.source);
            let clock = timestamp_clock(now, offset);
            // Rounds down: the following timestamps must not be older (RFC 7323 section 5.3).
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

    /// Creates the connection if an unmatched segment answers a cookie.
    pub(crate) fn accept_cookie_answer(
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
        let Some(listener) = found.filter(|it| it.accepts_on(interface) && it.cookies_until > now) else {
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
            // As in Linux, the segment is dropped; a client with data retransmits it.
            self.counters.unanswered += 1;
            return CookieAnswer::Dropped;
        }
        let key = self.cookie_key(segment, first, period);
        let syn = rebuild_syn(segment, first, SIZES[size as usize], key);
        let reply = ReplyParameters { iss: cookie, key: Some(key) };
        let Some((mut connection, subflow)) = self.accept_syn(now, interface, &syn, &config, reply) else {
            return CookieAnswer::None;
        };
        connection.accept(now, subflow, &syn);
        connection.on_cookie_answer();
        self.counters.cookies_accepted += 1;
        let id = self.insert(now, connection);
        if let Some(slot) = self.slots.slot(id) {
            self.add_to_backlog(now, slot, port);
        }
        CookieAnswer::Accepted
    }
}

/// Rebuilds the SYN from the third ACK of its handshake.
fn rebuild_syn(ack: &Segment, first: Seq, mss: u16, key: u64) -> Segment {
    let mut syn = Segment::new(ack.source, ack.destination);
    syn.flags = Flags::SYN;
    syn.sequence = first;
    syn.window = ack.window;
    syn.options.mss = Some(mss);
    if let Some(timestamps) = ack.options.timestamps {
        let negotiated = timestamps.echo & ((1 << TIMESTAMP_BITS) - 1);
        let scale = negotiated >> 1 & 15;
        if negotiated & ECN_BIT != 0 {
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
