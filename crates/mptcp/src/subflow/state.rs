//! The words for what a subflow is, was and did.
//!
//! Owns no behaviour: transitions are the subflow's.
//!
//! Timers and limits of a subflow that change rarely: handshake, keepalive, probes of a failed path, answers to unexpected segments.
//!
//! Owns the deadlines and the rate limits. Never acts on one.

use std::net::SocketAddr;

use bytes::Bytes;
use mptcp_clock::{Duration, Instant};
use mptcp_wire::{Cookie, ResetReason, Seq};

use crate::event::SubflowCloseReason;
use crate::icmp_error::IcmpError;
use crate::ids::{InterfaceId, SubflowId};
use crate::path_manager::{LocalAddress, Pair, RemoteAddress};
use crate::rate_limiter::RateLimiter;
use crate::subflow::early_data::EarlyDataQueue;

/// RFC 9293 section 3.3.2.
///
/// ```text
///  SynSent --SYN/ACK--> Established --FIN out--> FinWait1 --ACK--> FinWait2 --FIN in--> TimeWait
///  SynReceived --ACK-->     |                      `----FIN in---> Closing --ACK--------^
///                        FIN in --> CloseWait --FIN out--> LastAck --ACK--> CloseReason
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Our SYN is out.
    SynSent,
    /// A SYN came, our SYN/ACK is out.
    SynReceived,
    /// Data flows.
    Established,
    /// Our FIN is out.
    FinWait1,
    /// Our FIN is acknowledged.
    FinWait2,
    /// The peer's FIN came.
    CloseWait,
    /// Both FINs are out, ours is not acknowledged.
    Closing,
    /// Our FIN followed the peer's.
    LastAck,
    /// Both FINs are acknowledged.
    TimeWait,
    /// Over.
    Closed,
}

/// How the subflow came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The first one: MP_CAPABLE or plain TCP.
    Initial,
    /// MP_JOIN with these nonces, ours and the peer's.
    Join { nonce: u32, peer_nonce: u32 },
}

/// Segments without data that wait to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Control {
    Syn,
    SynAck,
    /// An acknowledgement from SYN-RECEIVED, which says nothing of Multipath TCP.
    Acknowledge,
    /// An old sequence number, which the peer has to answer.
    Probe,
    /// A reset for a segment of another connection; this one goes on.
    Refuse {
        sequence: Seq,
    },
    Reset {
        reason: Option<ResetReason>,
        fast_close: bool,
        /// Data sequence number of data that failed its checksum.
        failed: Option<u64>,
    },
}

/// Counts over the life of a subflow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SubflowStats {
    /// Payload bytes sent, with retransmissions.
    pub bytes_sent: u64,
    /// Payload bytes acknowledged.
    pub bytes_acked: u64,
    /// Payload bytes received in segments, with duplicates.
    pub bytes_received: u64,
    /// Segments sent; a large one that the device cuts counts once, here and below.
    pub segments_sent: u64,
    /// Segments received.
    pub segments_received: u64,
    /// Data segments sent.
    pub data_segments_sent: u64,
    /// Data segments received.
    pub data_segments_received: u64,
    /// Payload bytes whose data another subflow carried first.
    pub bytes_reinjected: u64,
    /// Payload of the longest segment received, bytes.
    pub longest_received: u64,
}

impl SubflowStats {
    /// A segment with so many bytes of payload has come.
    #[inline]
    pub(crate) fn count_received(&mut self, length: u64) {
        self.segments_received += 1;
        self.data_segments_received += u64::from(length > 0);
        self.bytes_received += length;
        self.longest_received = self.longest_received.max(length);
    }

    /// It waits, and comes again: it counts then.
    #[cold]
    pub(crate) fn put_off(&mut self, length: u64) {
        self.segments_received -= 1;
        self.data_segments_received -= u64::from(length > 0);
        self.bytes_received -= length;
    }
}

/// How a new subflow waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Probation {
    /// For the time to come.
    Until(Instant),
    /// For an acknowledgement of more of the stream than this offset, which was sent after that time.
    Acknowledged(u64),
}

/// The MSS of a peer that sent none, by the version of IP (RFC 9293 section 3.7.1, MUST-15).
pub(crate) const DEFAULT_MSS: u16 = 536;

pub(crate) const DEFAULT_MSS_6: u16 = 1220;

/// Where it goes from and to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathAddresses {
    pub(crate) interface: InterfaceId,
    pub(crate) local: SocketAddr,
    pub(crate) remote: SocketAddr,
    pub(crate) local_id: u8,
    pub(crate) remote_id: u8,
    /// We asked the peer not to use it while others work.
    pub(crate) backup: bool,
    /// The peer asked the same of us.
    pub(crate) peer_backup: bool,
}

impl PathAddresses {
    pub(crate) fn new(interface: InterfaceId, local: SocketAddr, remote: SocketAddr) -> Self {
        Self { interface, local, remote, local_id: 0, remote_id: 0, backup: false, peer_backup: false }
    }

    /// Both sides as path managers see them.
    pub(crate) fn pair(&self) -> Pair {
        let (id, interface, backup) = (self.local_id, self.interface, self.backup);
        Pair {
            local: LocalAddress { id, interface, address: self.local.ip(), backup },
            remote: RemoteAddress { id: self.remote_id, address: self.remote },
        }
    }
}

/// The handshake, and what it has left behind.
#[derive(Debug)]
pub(crate) struct HandshakeState {
    pub(crate) origin: Origin,
    /// We sent the first SYN.
    pub(crate) opened_here: bool,
    /// It was completed.
    pub(crate) was_open: bool,
    /// Joined from here, and the peer has not confirmed our HMAC: no data yet (RFC 8684 section 3.2).
    pub(crate) unconfirmed: bool,
    pub(crate) iss: Seq,
    pub(crate) irs: Seq,
    /// Data of TCP Fast Open, in our SYN or in the peer's, that the stream has not taken yet (RFC 7413).
    pub(crate) syn_data: Bytes,
    /// The Fast Open option of our SYN or SYN/ACK.
    pub(crate) cookie: Option<Cookie>,
    /// In the form that it had before RFC 7413, as the peer has it.
    pub(crate) cookie_experimental: bool,
    /// Offsets of the first bytes after the SYNs and what they carried, ours and the peer's.
    pub(crate) first_sent: u64,
    pub(crate) first_received: u64,
    pub(crate) attempts: u32,
    pub(crate) sent_at: Instant,
    /// Data that overtook the peer's keys.
    pub(crate) early_data: EarlyDataQueue,
}

impl HandshakeState {
    pub(crate) fn new(origin: Origin, iss: Seq) -> Self {
        Self {
            origin,
            opened_here: false,
            was_open: false,
            unconfirmed: false,
            iss,
            irs: Seq::default(),
            syn_data: Bytes::new(),
            cookie: None,
            cookie_experimental: false,
            first_sent: 1,
            first_received: 1,
            attempts: 0,
            sent_at: Instant::ZERO,
            early_data: EarlyDataQueue::default(),
        }
    }
}

/// What both sides agreed on, and what the device can.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Negotiated {
    pub(crate) send_scale: u8,
    pub(crate) receive_scale: u8,
    pub(crate) sack: bool,
    pub(crate) peer_mss: u16,
    /// Most payload of one segment that the device cuts into frames, bytes; 0 where it cuts none.
    pub(crate) gso_max: u64,
    pub(crate) timestamps: TimestampClock,
}

impl Default for Negotiated {
    fn default() -> Self {
        Self {
            send_scale: 0,
            receive_scale: 0,
            sack: false,
            peer_mss: DEFAULT_MSS,
            gso_max: 0,
            timestamps: TimestampClock::default(),
        }
    }
}

/// Timestamps (RFC 7323).
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimestampClock {
    pub(crate) on: bool,
    /// The peer's, to be echoed.
    pub(crate) recent: u32,
    pub(crate) recent_at: Instant,
    /// Where ours begin.
    pub(crate) offset: u32,
}

impl Default for TimestampClock {
    fn default() -> Self {
        Self { on: false, recent: 0, recent_at: Instant::ZERO, offset: 0 }
    }
}

/// What the peer's window fields said.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PeerWindow {
    /// The one last received.
    pub(crate) last: u16,
    /// Bytes beyond what is acknowledged, as a segment with the last acknowledgement said it.
    pub(crate) heard: u64,
    /// Sequence number and acknowledgement of the segment that the window was taken from: SND.WL1 and SND.WL2.
    pub(crate) from: (u64, u64),
    /// SND.WND, where windows go by subflow.
    pub(crate) kept: u64,
    /// The highest acknowledgement sent.
    pub(crate) last_ack_sent: u64,
    /// The window that we said last.
    pub(crate) advertised: u64,
}

/// What is told of it afterwards.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    pub(crate) stats: SubflowStats,
    pub(crate) closed_by: Option<SubflowCloseReason>,
    /// What an ICMP error said last of its segments.
    pub(crate) icmp: Option<IcmpError>,
    /// When its first SYN left or came.
    pub(crate) opened_at: Instant,
    pub(crate) closed_at: Option<Instant>,
    /// Given with its place.
    pub(crate) id: SubflowId,
    /// The endpoint has heard that it is over.
    pub(crate) close_notified: bool,
}

impl Default for Record {
    fn default() -> Self {
        Self {
            stats: SubflowStats::default(),
            closed_by: None,
            icmp: None,
            opened_at: Instant::ZERO,
            closed_at: None,
            id: SubflowId::new(0, 0),
            close_notified: false,
        }
    }
}

/// A timestamp of ours that came back. When that was is seldom asked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimestampEcho {
    pub value: u32,
    /// That of our clock.
    pub offset: u32,
}

impl TimestampEcho {
    /// When the segment left that bore it, in whole milliseconds from `now`.
    pub(crate) fn sent_at(self, now: Instant) -> Option<Instant> {
        let age = timestamp_clock(now, self.offset).wrapping_sub(self.value);
        (self.value != 0 && age < 1 << 31).then(|| now - Duration::from_millis(u64::from(age)))
    }
}

/// Milliseconds from an offset of the connection's own (RFC 7323 section 7.1).
pub(crate) fn timestamp_clock(now: Instant, offset: u32) -> u32 {
    (now.as_millis() as u32).wrapping_add(1).wrapping_add(offset)
}

/// What is to be said beside data, and how much of it others may cause.
#[derive(Debug, Default)]
pub(crate) struct PendingControl {
    pub(crate) control: Option<Control>,
    /// The application or the connection wants a FIN after what was sent.
    pub(crate) fin: bool,
    pub(crate) reply_limits: ReplyLimits,
}

/// Whether the peer, or the path, is there.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Liveness {
    pub(crate) slow_timers: SlowTimers,
    /// How often the peer was asked whether it is alive since it was heard.
    pub(crate) kept: u32,
    /// How long data may stay unacknowledged.
    pub(crate) user_timeout: Option<Duration>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct SlowTimers {
    handshake: Instant,
    path_probe: Instant,
    keepalive: Instant,
    first: Instant,
}

impl Default for SlowTimers {
    fn default() -> Self {
        let never = Instant::FAR_FUTURE;
        Self { handshake: never, path_probe: never, keepalive: never, first: never }
    }
}

impl SlowTimers {
    /// The first of them.
    #[inline]
    pub(crate) fn first(&self) -> Instant {
        self.first
    }

    /// When the handshake has to be over, or what is left of the end.
    pub(crate) fn handshake(&self) -> Instant {
        self.handshake
    }

    pub(crate) fn set_handshake(&mut self, at: Instant) {
        self.handshake = at;
        self.note();
    }

    /// When to ask whether a silent path is back.
    #[inline]
    pub(crate) fn path_probe(&self) -> Instant {
        self.path_probe
    }

    pub(crate) fn set_path_probe(&mut self, at: Instant) {
        self.path_probe = at;
        self.note();
    }

    /// When to ask whether the peer is alive.
    #[inline]
    pub(crate) fn keepalive(&self) -> Instant {
        self.keepalive
    }

    pub(crate) fn set_keepalive(&mut self, at: Instant) {
        self.keepalive = at;
        self.note();
    }

    /// One of them has changed.
    fn note(&mut self) {
        self.first = self.handshake.min(self.path_probe).min(self.keepalive);
    }
}

/// RFC 5961 section 7: challenge acknowledgements are rationed; Linux allows one in half a second.
const CHALLENGES: RateLimiter = RateLimiter::new(1, Duration::from_millis(500));
/// Answers to data that was here before and to probes: a peer that repeats a window needs some, a stranger gets no more.
const REPETITIONS: RateLimiter = RateLimiter::new(64, Duration::from_millis(5));

/// What is left of both.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReplyLimits {
    pub(crate) challenges: RateLimiter,
    pub(crate) repetitions: RateLimiter,
}

impl Default for ReplyLimits {
    fn default() -> Self {
        Self { challenges: CHALLENGES, repetitions: REPETITIONS }
    }
}
