//! What a subflow consists of beside its two halves.
//!
//! Owns the groups that change together. Decides nothing.
//!
//! Deadlines of a subflow that seldom change: of its handshake or its end, of a path that went silent, of a peer that may be gone.
//!
//! Owns them and the first of them, which is asked for with every segment. Never acts on one.
//!
//! How many answers a subflow gives that are not owed.

use std::net::SocketAddr;

use bytes::Bytes;
use mptcp_clock::{Duration, Instant};
use mptcp_wire::{Cookie, Seq};

use crate::icmp_error::IcmpError;
use crate::ids::{InterfaceId, SubflowId};
use crate::path_manager::{LocalAddress, Pair, RemoteAddress};
use crate::rate_limiter::RateLimiter;
use crate::subflow::early_data::EarlyDataQueue;
use crate::subflow::state::{Control, Origin, Probation, SubflowCloseReason, SubflowStats};

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

/// What is to be said beside data, and how much of it others may cause.
#[derive(Debug, Default)]
pub(crate) struct PendingControl {
    pub(crate) control: Option<Control>,
    /// The application or the connection wants a FIN after what was sent.
    pub(crate) fin: bool,
    pub(crate) reply_limits: ReplyLimits,
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

/// Whether the peer, or the path, is there.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Liveness {
    pub(crate) slow_timers: SlowTimers,
    /// How often the peer was asked whether it is alive since it was heard.
    pub(crate) kept: u32,
    /// How long data may stay unacknowledged.
    pub(crate) user_timeout: Option<Duration>,
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

/// How far M1 has looked for what would come sooner on a subflow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScanPosition {
    /// All under way up to this offset of the stream, and when.
    pub(crate) to: u64,
    pub(crate) at: Instant,
    /// When the first of it counts as lost.
    pub(crate) overdue: Instant,
    /// When the last of it is expected.
    pub(crate) latest: Instant,
}

/// Data-level timeouts that found data on a subflow.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StaleState {
    /// How many in a row, while nothing was heard: `stale_count`.
    pub(crate) count: u32,
    /// Segments that had come by then.
    pub(crate) heard: u64,
    /// New data passes it over until it is heard.
    pub(crate) stale: bool,
}

/// Its part among the others: what it may carry, and when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SchedulingState {
    /// Its outstanding data was given to the others.
    pub(crate) reinjected: bool,
    /// Joined from here lately, so that the peer may not be ready for data: see [`crate::JOIN_PROBATION`].
    pub(crate) probation: Option<Probation>,
    /// Up to this offset of the stream it has carried all: where the redundant scheduler goes on.
    pub(crate) duplicated: u64,
    /// What M1 has looked at for it.
    pub(crate) reinjection_scan: ScanPosition,
    /// When what was sent so far would have left at the path's pace.
    pub(crate) next_send: Instant,
    /// No new data before.
    pub(crate) held_until: Instant,
    /// The earliest time for M4 to look again.
    pub(crate) next_cwnd_cap: Instant,
    /// When M2 last penalised this subflow, or another one on its behalf: see `PenaltyRule`.
    pub(crate) last_penalty: Option<Instant>,
    /// How often the data level has found it silent.
    pub(crate) stale_state: StaleState,
    /// A segment without MPTCP options was accepted, and none with them has acknowledged news since.
    pub(crate) options_stripped: bool,
}

impl Default for SchedulingState {
    fn default() -> Self {
        Self {
            reinjected: false,
            probation: None,
            duplicated: 0,
            reinjection_scan: ScanPosition {
                to: 0,
                at: Instant::ZERO,
                overdue: Instant::FAR_FUTURE,
                latest: Instant::ZERO,
            },
            next_send: Instant::ZERO,
            held_until: Instant::ZERO,
            next_cwnd_cap: Instant::ZERO,
            last_penalty: None,
            stale_state: StaleState::default(),
            options_stripped: false,
        }
    }
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
