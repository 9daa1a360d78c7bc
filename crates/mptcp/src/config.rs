//! Settings that a driver or application gives to a connection before it starts.
//!
//! Owns the defaults. Never checks ranges: see `config_ends.rs`.

use std::net::IpAddr;

use mptcp_clock::Duration;
use mptcp_wire::crypto::Version;

use crate::congestion::{CongestionControl, CouplingScope, Lia, Reno, SendQueueRule, SlowStart};
use crate::ids::InterfaceId;
use crate::linux_compat::LinuxCompat;
use crate::linux_stack::LinuxStack;
use crate::mechanisms::{Mechanisms, OpportunisticRule};
use crate::path_manager::{FullMesh, PathManager};
use crate::policy::Factory;
use crate::scheduler::{MinRtt, OnTime, Scheduler};

/// An address to announce, as Linux's `ip mptcp endpoint add ADDRESS id ID signal`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Announced {
    /// Address ID, 1 to 255.
    pub id: u8,
    /// The address, IPv4 or IPv6.
    pub address: IpAddr,
}

/// Keepalive settings (RFC 9293 section 3.8.4): Linux's `TCP_KEEPIDLE`, `TCP_KEEPINTVL` and `TCP_KEEPCNT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keepalive {
    /// Idle time before the first probe.
    pub idle: Duration,
    /// Time between two probes.
    pub interval: Duration,
    /// Unanswered probes after which the subflow ends.
    pub probes: u32,
}

impl Default for Keepalive {
    /// Linux's defaults: two hours, 75 s, 9 probes.
    fn default() -> Self {
        Self { idle: Duration::from_secs(7200), interval: Duration::from_secs(75), probes: 9 }
    }
}

/// Detection of spurious losses, whose window reductions are undone. The switches are independent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpuriousLoss {
    /// Uses timestamps (RFC 3522) and duplicate SACKs (RFC 3708), and restores window and ssthresh (RFC 4015),
    /// as in Linux. Off: duplicate SACKs are ignored once all data is acknowledged. They then neither show that
    /// a tail loss probe was unnecessary nor widen the reordering window (RFC 8985 sections 6.2 and 7.4).
    pub undo: bool,
    /// Detects spurious timeouts by sending new data after the first retransmission: F-RTO (RFC 5682), Linux's
    /// `tcp_frto`.
    pub frto: bool,
}

impl SpuriousLoss {
    /// Both switches are on, as in Linux.
    pub const LINUX: Self = Self { undo: true, frto: true };
}

/// Explicit Congestion Notification (RFC 3168), as Linux's `tcp_ecn`. Negotiated per subflow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Ecn {
    /// Disabled: Linux's 0.
    #[default]
    Off,
    /// Accepts ECN when the peer requests it: Linux's 2, its default.
    Passive,
    /// Also requests ECN in SYNs: Linux's 1.
    On,
}

/// Packetization Layer Path MTU Discovery (RFC 4821), as Linux's `tcp_mtu_probing`. ICMP messages (RFC 1191,
/// RFC 8201) are used in every mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MtuProbing {
    /// Disabled: Linux's 0, its default.
    #[default]
    Off,
    /// Enabled after a blackhole is detected: segments shrink while nothing is acknowledged, then probes
    /// increase them. Linux's 1.
    BlackHole,
    /// Starts with small segments, and increases them by probes: Linux's 2.
    On,
}

/// TCP Fast Open settings of a listener (RFC 7413).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerFastOpen {
    /// SipHash key of the cookies.
    pub key: [u64; 2],
    /// Previous key, whose cookies are still accepted; `None` if there is none.
    pub old_key: Option<[u64; 2]>,
    /// Whether data in a SYN needs a valid cookie. Off: data is accepted from every SYN.
    pub cookies: bool,
}

/// Recommended [`Config::join_probation`] if the peer may be Linux.
///
/// When a join arrives while an application call holds the connection, Linux (including 6.18) adopts the
/// subflow only after that call. It then takes the first data on the subflow as the next data of the stream,
/// regardless of its mapping. Without DSS checksums, nobody detects the corruption. During probation, a new
/// subflow carries data only if no other subflow can. After the 20 ms, probation continues until the peer
/// has acknowledged data that was sent later.
pub const JOIN_PROBATION: Duration = Duration::from_millis(20);

/// Settings of one connection. [`Config::within_limits`] corrects values outside of their ranges.
///
/// [`Config::default`] aims never to be slower than TCP on the best path. [`Config::historical`] reproduces
/// the MPTCP of the early papers.
#[derive(Clone, Debug)]
pub struct Config {
    /// Offers and accepts MPTCP. Off: plain TCP.
    pub multipath: bool,
    /// Version in the SYN of a new connection. A listener with [`Version::V0`] accepts both versions, one
    /// with [`Version::V1`] only version 1 (RFC 8684 section 3.1).
    pub version: Version,
    /// Requires DSS checksums (RFC 8684 section 3.3).
    pub checksum: bool,
    /// Acknowledges 8-byte data sequence numbers with 8-byte numbers, as Linux (RFC 8684 section 3.3.2). Off:
    /// always with 4 bytes, which leaves more option space for SACK blocks.
    pub wide_data_acks: bool,
    /// Congestion control over all subflows.
    pub congestion: Factory<dyn CongestionControl>,
    /// Which paths a coupled controller couples.
    pub coupling: CouplingScope,
    /// Limit on the queue of the local interface, in addition to congestion control; `None` for no limit.
    pub send_queue_rule: Option<SendQueueRule>,
    /// Scheduler.
    pub scheduler: Factory<dyn Scheduler>,
    /// Path manager.
    pub path_manager: Factory<dyn PathManager>,
    /// Opportunistic retransmission, penalisation, buffer autotuning and cwnd capping (M1 to M4).
    pub mechanisms: Mechanisms,
    /// Receive buffer of the connection, bytes; also the maximum receive window.
    pub receive_buffer: u64,
    /// Size of the memory blocks into which the driver reads packets, bytes. Payload is a slice of a block,
    /// and keeps the whole block in memory. A small payload that stays long is therefore copied. 0: each
    /// payload has its own memory, and nothing is copied.
    pub receive_block: u64,
    /// Send buffer: the maximum of bytes written but not acknowledged at the data level.
    pub send_buffer: u64,
    /// Value of the MSS option: maximum TCP payload without options, bytes.
    pub mss: u16,
    /// Selective acknowledgements (RFC 2018). Off: NewReno (RFC 6582).
    pub sack: bool,
    /// Timestamps and PAWS (RFC 7323).
    pub timestamps: bool,
    /// RACK-TLP (RFC 8985); needs `sack`. Off: three duplicate acknowledgements mark a loss.
    pub rack: bool,
    /// Undoing of window reductions after spurious losses. `None` disables it; crate `live` then uses
    /// [`SpuriousLoss::LINUX`].
    pub spurious_loss: Option<SpuriousLoss>,
    /// Resets the congestion window after an idle RTO (RFC 5681 section 4.1): Linux's
    /// `tcp_slow_start_after_idle`. `None` disables it; crate `live` then enables it.
    pub restart_after_idle: Option<bool>,
    /// Path MTU probing.
    pub mtu_probing: MtuProbing,
    /// ECN mode. `None` is off; crate `live` then uses [`Ecn::Passive`]. A controller with
    /// [`crate::congestion::CongestionControl::needs_marks`] always enables ECN.
    pub ecn: Option<Ecn>,
    /// Reduces the window of NewReno and CUBIC less after an ECN mark than after a loss: Alternative Backoff
    /// with ECN (RFC 8511).
    pub abe: bool,
    /// Increases the window by the acknowledged bytes (RFC 3465, Linux since 4.0). Off: by at most one
    /// segment per acknowledgement (RFC 5681 section 3.1, earlier Linux), so delayed acknowledgements halve
    /// the growth.
    pub byte_counting: bool,
    /// Acknowledges every second segment (RFC 9293 section 3.8.6.3).
    pub delayed_ack: bool,
    /// Nagle's algorithm: waits for a full segment while data is in flight (RFC 9293 section 3.7.4).
    pub nagle: bool,
    /// Minimum of the variance term of the RTO: Linux's `tcp_rto_min`.
    pub min_rto: Duration,
    /// Initial congestion window, segments (RFC 6928).
    pub initial_window: u32,
    /// Initial ssthresh, bytes: the metric of a route or of an earlier connection, as Linux's `ip route ...
    /// ssthresh` and tcp_metrics. `None` for no limit.
    pub initial_ssthresh: Option<u64>,
    /// Exit condition of slow start.
    pub slow_start: SlowStart,
    /// Paces data that a full receive window or send buffer had delayed. If the congestion window has space
    /// for more than ten segments, they are sent at Linux's internal pacing rate. This rate is two windows
    /// per RTT in slow start, later 1.2 windows. Data clocked by acknowledgements is not paced.
    pub pacing: bool,
    /// Minimum RTT below which `pacing` has no effect: the acknowledgements alone clock such a path.
    pub min_paced_rtt: Duration,
    /// TCP small queues: Linux's `tcp_limit_output_bytes`. A subflow sends no new data while this many bytes
    /// of its packets are queued in the interface, except that two packets are always allowed. `None` for no
    /// limit. No effect if the driver reports no departures.
    pub small_queues: Option<u64>,
    /// Allowed interfaces; `None` for all.
    pub interfaces: Option<Vec<InterfaceId>>,
    /// Interfaces whose subflows are backups (RFC 8684 section 3.3.8).
    pub backups: Vec<InterfaceId>,
    /// Maximum number of additional subflows, for both sides together; limited to 48.
    pub max_subflows: u8,
    /// Allows the peer to join to the address and port of the initial subflow. Off: flag C of MP_CAPABLE
    /// forbids it (RFC 8684 section 3.1), as Linux's `net.mptcp.allow_join_initial_addr_port` = 0.
    pub join_initial_address: bool,
    /// Time during which a joined subflow carries data only if no other subflow can. `None` for no probation;
    /// crate `live` then uses [`JOIN_PROBATION`].
    pub join_probation: Option<Duration>,
    /// Addresses to announce; `None` announces the addresses of the other allowed interfaces.
    pub announce: Option<Vec<Announced>>,
    /// Retransmission interval of an announcement without echo: Linux's `net.mptcp.add_addr_timeout` (120 s
    /// there). The default is shorter, for lossy paths.
    pub announce_timeout: Duration,
    /// Lifetime of a connection without a subflow: Linux's `net.mptcp.close_timeout`.
    pub close_timeout: Duration,
    /// Keepalive probes on each idle subflow; `None` disables them, as Linux does by default.
    pub keepalive: Option<Keepalive>,
    /// Maximum time that data stays unacknowledged, or unsent with a closed window, before the subflow ends:
    /// Linux's `TCP_USER_TIMEOUT` (RFC 9293 section 3.9.1.8). `None`: until the retransmissions are used up.
    pub user_timeout: Option<Duration>,
    /// Maximum of unsent bytes: Linux's `TCP_NOTSENT_LOWAT`. At this limit, writes are refused. At half of
    /// the limit, the application is notified. `None`: only the send buffer limits unsent bytes.
    pub notsent_lowat: Option<u64>,
    /// Maximum number of retransmissions of a SYN: Linux's `tcp_syn_retries`. Also applies to SYN/ACKs and to
    /// the third ACK of a join. The default of 6, as in Linux, lasts 127 s; the 180 s of RFC 9293 section
    /// 3.8.3 (MUST-23) need 7.
    pub syn_retries: u32,
    /// Answers SYNs at a full listener with SYN cookies (RFC 4987 section 3.6): Linux's `tcp_syncookies`.
    pub syn_cookies: bool,
    /// TCP Fast Open of a listener; `None` ignores data in SYNs.
    pub fast_open: Option<ServerFastOpen>,
    /// Linux's behaviour where the RFCs leave a choice.
    pub linux_compat: LinuxCompat,
    /// Linux's queues and memory accounting, for simulations of Linux.
    pub linux_stack: LinuxStack,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            multipath: true,
            version: Version::V1,
            checksum: false,
            wide_data_acks: true,
            congestion: Lia.into(),
            coupling: CouplingScope::default(),
            send_queue_rule: None,
            scheduler: OnTime::default().into(),
            path_manager: FullMesh.into(),
            mechanisms: Mechanisms::default(),
            receive_buffer: 6 << 20,
            receive_block: 256 << 10,
            send_buffer: 4 << 20,
            mss: 1460,
            sack: true,
            timestamps: true,
            rack: true,
            spurious_loss: None,
            restart_after_idle: None,
            mtu_probing: MtuProbing::Off,
            ecn: None,
            abe: false,
            byte_counting: true,
            delayed_ack: true,
            nagle: true,
            min_rto: Duration::from_millis(200),
            initial_window: 10,
            initial_ssthresh: None,
            slow_start: SlowStart::default(),
            pacing: true,
            min_paced_rtt: Duration::ZERO,
            small_queues: None,
            interfaces: None,
            backups: Vec::new(),
            max_subflows: 8,
            join_initial_address: true,
            join_probation: None,
            announce: None,
            announce_timeout: Duration::from_secs(3),
            close_timeout: Duration::from_secs(60),
            keepalive: None,
            user_timeout: None,
            notsent_lowat: None,
            syn_retries: 6,
            syn_cookies: true,
            fast_open: None,
            linux_compat: LinuxCompat::default(),
            linux_stack: LinuxStack::default(),
        }
    }
}

impl Config {
    /// Whether the connection may use an interface.
    #[must_use]
    pub fn allows(&self, interface: InterfaceId) -> bool {
        self.interfaces.as_ref().is_none_or(|allowed| allowed.contains(&interface))
    }

    /// The MPTCP of the early kernels: minimum RTT scheduler, original rules for opportunistic retransmission
    /// and penalisation, coupling of all paths, no pacing.
    #[must_use]
    pub fn historical() -> Self {
        let mechanisms = Mechanisms {
            opportunistic_rule: OpportunisticRule::Original,
            penalisation: true,
            receive_buffer_per_path: false,
            ..Mechanisms::default()
        };
        Self {
            scheduler: MinRtt.into(),
            coupling: CouplingScope::All,
            mechanisms,
            slow_start: SlowStart::Standard,
            pacing: false,
            ..Self::default()
        }
    }

    /// Plain TCP with Reno.
    #[must_use]
    pub fn tcp() -> Self {
        Self { multipath: false, pacing: false, congestion: Reno.into(), ..Self::default() }
    }
}
