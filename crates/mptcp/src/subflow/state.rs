//! The types of a subflow's state: TCP state, handshake, negotiated options, timestamps, peer window, statistics, slow
//! timers.
//!
//! `Subflow` consists of these types, and its methods change them. Slow timers are those that rarely change:
//! handshake, keepalive, probes of a failed path. During probation, a newly joined subflow carries data only
//! if no other subflow can (see [`crate::JOIN_PROBATION`]). Never acts on an expired timer.

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

/// The TCP state (RFC 9293 section 3.3.2).
///
/// ```text
///  SynSent --SYN/ACK--> Established --FIN out--> FinWait1 --ACK--> FinWait2 --FIN in--> TimeWait
///  SynReceived --ACK-->     |                      `----FIN in---> Closing --ACK--------^
///                        FIN in --> CloseWait --FIN out--> LastAck --ACK--> Closed
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// A SYN was sent.
    SynSent,
    /// A SYN was received, and a SYN/ACK sent.
    SynReceived,
    /// Data can be sent in both directions.
    Established,
    /// A FIN was sent.
    FinWait1,
    /// The FIN of this host is acknowledged.
    FinWait2,
    /// The peer's FIN was received.
    CloseWait,
    /// Both hosts sent a FIN, and the FIN of this host is not acknowledged.
    Closing,
    /// A FIN was sent after the peer's FIN.
    LastAck,
    /// Both FINs are acknowledged.
    TimeWait,
    /// The subflow has ended.
    Closed,
}

/// The type of handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The first subflow: MP_CAPABLE or TCP.
    Initial,
    /// MP_JOIN, with the nonces of this host and the peer.
    Join { nonce: u32, peer_nonce: u32 },
}

/// A segment without data that waits to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Control {
    Syn,
    SynAck,
    /// An acknowledgement from SYN-RECEIVED, without MPTCP options.
    Acknowledge,
    /// A segment with an old sequence number, which the peer has to answer.
    Probe,
    /// A reset for a segment of another connection. The subflow stays open.
    Refuse {
        sequence: Seq,
    },
    Reset {
        reason: Option<ResetReason>,
        fast_close: bool,
        /// The data sequence number of data with a wrong checksum.
        failed: Option<u64>,
    },
}

/// The counters of a subflow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SubflowStats {
    /// Payload bytes sent, including retransmissions.
    pub bytes_sent: u64,
    /// Payload bytes acknowledged.
    pub bytes_acked: u64,
    /// Payload bytes received in segments, including duplicates.
    pub bytes_received: u64,
    /// Segments sent. A segment that the device splits counts once, here and below.
    pub segments_sent: u64,
    /// Segments received.
    pub segments_received: u64,
    /// Data segments sent.
    pub data_segments_sent: u64,
    /// Data segments received.
    pub data_segments_received: u64,
    /// Payload bytes that another subflow carried first.
    pub bytes_reinjected: u64,
    /// The payload of the longest segment received, bytes.
    pub longest_received: u64,
}

impl SubflowStats {
    /// Counts a received segment with `length` bytes of payload.
    #[inline]
    pub(crate) fn count_received(&mut self, length: u64) {
        self.segments_received += 1;
        self.data_segments_received += u64::from(length > 0);
        self.bytes_received += length;
        self.longest_received = self.longest_received.max(length);
    }

    /// Removes a segment from the counters, because it will be processed and counted later.
    #[cold]
    pub(crate) fn on_early_data(&mut self, length: u64) {
        self.segments_received -= 1;
        self.data_segments_received -= u64::from(length > 0);
        self.bytes_received -= length;
    }
}

/// The two phases of the probation of a newly joined subflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Probation {
    /// Until this time; then [`Self::Acknowledged`] follows.
    Until(Instant),
    /// Until data beyond this offset is acknowledged: the offset of the next new data when `Until` ended.
    Acknowledged(u64),
}

/// The MSS of an IPv4 peer that sends no MSS option (RFC 9293 section 3.7.1, MUST-15).
pub(crate) const DEFAULT_MSS: u16 = 536;
/// The MSS of an IPv6 peer that sends no MSS option (RFC 9293 section 3.7.1, MUST-15).
pub(crate) const DEFAULT_MSS_6: u16 = 1220;

/// The interface and the addresses of a subflow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathAddresses {
    pub(crate) interface: InterfaceId,
    pub(crate) local: SocketAddr,
    pub(crate) remote: SocketAddr,
    pub(crate) local_id: u8,
    pub(crate) remote_id: u8,
    /// This host asked the peer to use the subflow as backup.
    pub(crate) backup: bool,
    /// The peer asked this host to use the subflow as backup.
    pub(crate) peer_backup: bool,
}

impl PathAddresses {
    pub(crate) fn new(interface: InterfaceId, local: SocketAddr, remote: SocketAddr) -> Self {
        Self { interface, local, remote, local_id: 0, remote_id: 0, backup: false, peer_backup: false }
    }

    /// The address pair, as path managers see it.
    pub(crate) fn pair(&self) -> Pair {
        let (id, interface, backup) = (self.local_id, self.interface, self.backup);
        Pair {
            local: LocalAddress { id, interface, address: self.local.ip(), backup },
            remote: RemoteAddress { id: self.remote_id, address: self.remote },
        }
    }
}

/// The state of the handshake, including its results.
#[derive(Debug)]
pub(crate) struct HandshakeState {
    pub(crate) origin: Origin,
    /// This host sent the first SYN.
    pub(crate) is_active_open: bool,
    /// The handshake was completed.
    pub(crate) was_established: bool,
    /// The peer has not confirmed the HMAC of this host's join, so no data may be sent (RFC 8684 section 3.2).
    pub(crate) awaits_join_confirmation: bool,
    pub(crate) iss: Seq,
    pub(crate) irs: Seq,
    /// Data of a SYN from either host that is not yet in the stream (RFC 7413).
    pub(crate) syn_data: Bytes,
    /// The Fast Open option of this host's SYN or SYN/ACK.
    pub(crate) cookie: Option<Cookie>,
    /// The option has the experimental form from before RFC 7413, because the peer's option has it.
    pub(crate) cookie_experimental: bool,
    /// The offsets after the SYNs and their data, sent and received.
    pub(crate) first_sent: u64,
    pub(crate) first_received: u64,
    pub(crate) attempts: u32,
    pub(crate) sent_at: Instant,
    /// Data that arrived before the peer's keys.
    pub(crate) early_data: EarlyDataQueue,
}

impl HandshakeState {
    pub(crate) fn new(origin: Origin, iss: Seq) -> Self {
        Self {
            origin,
            is_active_open: false,
            was_established: false,
            awaits_join_confirmation: false,
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

/// The negotiated options, and the segmentation offload of the device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Negotiated {
    pub(crate) send_scale: u8,
    pub(crate) receive_scale: u8,
    pub(crate) sack: bool,
    pub(crate) peer_mss: u16,
    /// The maximum payload of a segment that the device splits into frames, bytes; 0 without segmentation offload.
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

/// The state of timestamps (RFC 7323).
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimestampClock {
    pub(crate) on: bool,
    /// The peer's timestamp to echo.
    pub(crate) recent: u32,
    pub(crate) ts_recent_at: Instant,
    /// The start of this host's timestamps.
    pub(crate) offset: u32,
}

impl Default for TimestampClock {
    fn default() -> Self {
        Self { on: false, recent: 0, ts_recent_at: Instant::ZERO, offset: 0 }
    }
}

/// The windows that both hosts have advertised.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PeerWindow {
    /// The window field of the last segment.
    pub(crate) last: u16,
    /// The window in the peer's last acknowledgement, bytes.
    pub(crate) heard: u64,
    /// Sequence number and acknowledgement of the last window update: SND.WL1 and SND.WL2.
    pub(crate) from: (u64, u64),
    /// SND.WND, if each subflow has its own window instead of the connection's.
    pub(crate) kept: u64,
    /// The highest acknowledgement sent.
    pub(crate) last_ack_sent: u64,
    /// The window that this host advertised last.
    pub(crate) advertised: u64,
}

/// The history of a subflow, for reports.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    pub(crate) stats: SubflowStats,
    pub(crate) closed_by: Option<SubflowCloseReason>,
    /// The last ICMP error for a segment of the subflow; `None` without an error.
    pub(crate) icmp: Option<IcmpError>,
    /// The time of the subflow's first SYN.
    pub(crate) opened_at: Instant,
    pub(crate) closed_at: Option<Instant>,
    /// The identifier, assigned with the slot.
    pub(crate) id: SubflowId,
    /// The endpoint was notified that the subflow has ended.
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

/// An echoed timestamp of this host. Its send time is computed on demand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimestampEcho {
    pub value: u32,
    /// The start of this host's timestamps.
    pub offset: u32,
}

impl TimestampEcho {
    /// The send time of the segment with the timestamp, rounded to milliseconds. `None` if the echo is invalid.
    pub(crate) fn sent_at(self, now: Instant) -> Option<Instant> {
        let age = timestamp_clock(now, self.offset).wrapping_sub(self.value);
        (self.value != 0 && age < 1 << 31).then(|| now - Duration::from_millis(u64::from(age)))
    }
}

/// The timestamp clock: milliseconds from the connection's own offset (RFC 7323 section 7.1).
pub(crate) fn timestamp_clock(now: Instant, offset: u32) -> u32 {
    (now.as_millis() as u32).wrapping_add(1).wrapping_add(offset)
}

/// The waiting control segment, and the limits of replies that the peer can cause.
#[derive(Debug, Default)]
pub(crate) struct PendingControl {
    pub(crate) control: Option<Control>,
    /// A FIN has to follow the data sent so far.
    pub(crate) fin: bool,
    pub(crate) reply_limits: ReplyLimits,
}

/// The supervision of the peer and the path.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Liveness {
    pub(crate) slow_timers: SlowTimers,
    /// Keepalive probes since the last segment from the peer.
    pub(crate) kept: u32,
    /// The maximum time that data may stay unacknowledged; `None` is unlimited.
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
    /// The earliest deadline.
    #[inline]
    pub(crate) fn first(&self) -> Instant {
        self.first
    }

    /// The deadline of the handshake, of TIME-WAIT or of the wait for the peer's FIN.
    pub(crate) fn handshake(&self) -> Instant {
        self.handshake
    }

    pub(crate) fn set_handshake(&mut self, at: Instant) {
        self.handshake = at;
        self.note();
    }

    /// The time of the next probe of a failed path.
    #[inline]
    pub(crate) fn path_probe(&self) -> Instant {
        self.path_probe
    }

    pub(crate) fn set_path_probe(&mut self, at: Instant) {
        self.path_probe = at;
        self.note();
    }

    /// The time of the next keepalive probe.
    #[inline]
    pub(crate) fn keepalive(&self) -> Instant {
        self.keepalive
    }

    pub(crate) fn set_keepalive(&mut self, at: Instant) {
        self.keepalive = at;
        self.note();
    }

    /// Updates the earliest deadline.
    fn note(&mut self) {
        self.first = self.handshake.min(self.path_probe).min(self.keepalive);
    }
}

/// The limit of challenge acknowledgements (RFC 5961 section 7). Linux permits one per 500 ms.
const CHALLENGES: RateLimiter = RateLimiter::new(1, Duration::from_millis(500));
/// The limit of answers to repeated data and to probes. A correct peer that retransmits a window needs
/// several answers.
const REPETITIONS: RateLimiter = RateLimiter::new(64, Duration::from_millis(5));

/// The state of the limits of challenge acknowledgements and of answers to repeated data.
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
