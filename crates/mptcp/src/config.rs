//! What a connection is told before it starts.

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

/// An address that the peer is told of, as Linux's `ip mptcp endpoint add ADDRESS id ID signal`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Announced {
    /// Address id, 1 to 255.
    pub id: u8,
    /// The address; of either family.
    pub address: IpAddr,
}

/// Keepalive (RFC 9293 section 3.8.4), as Linux's TCP_KEEPIDLE, TCP_KEEPINTVL and TCP_KEEPCNT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keepalive {
    /// Silence after which the peer is asked.
    pub idle: Duration,
    /// Time from one question to the next.
    pub interval: Duration,
    /// Questions without an answer after which a subflow ends.
    pub probes: u32,
}

impl Default for Keepalive {
    /// Linux's: two hours, 75 s, 9.
    fn default() -> Self {
        Self { idle: Duration::from_secs(7200), interval: Duration::from_secs(75), probes: 9 }
    }
}

/// Which reductions of a window are taken back when it turns out that nothing was lost. Each is a switch of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpuriousLoss {
    /// Those that timestamps (RFC 3522) or reports of duplicates (RFC 3708) show to be wrong: window and threshold come back
    /// (RFC 4015), as in Linux. Without, reports that come when everything is acknowledged are not looked at, as the
    /// simulator has had it: neither do they show that a tail loss probe was needless, nor widen the reordering window (RFC
    /// 8985 sections 6.2 and 7.4).
    pub undo: bool,
    /// Timeouts that show themselves wrong when new data goes in place of what seems lost (F-RTO, RFC 5682): Linux's
    /// `tcp_frto`.
    pub frto: bool,
}

impl SpuriousLoss {
    /// As Linux has it: both.
    pub const LINUX: Self = Self { undo: true, frto: true };
}

/// Explicit congestion notification (RFC 3168), as Linux's `tcp_ecn`. Each subflow agrees on it by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Ecn {
    /// It is not spoken: Linux's 0.
    #[default]
    Off,
    /// Who asks gets it: 2, which is Linux's default.
    Passive,
    /// SYNs ask for it too: 1.
    On,
}

/// Whether segments find out by themselves what a path carries (RFC 4821), as Linux's `tcp_mtu_probing`. What routers say (RFC
/// 1191, RFC 8201) counts in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MtuProbing {
    /// They do not: 0, which is Linux's default.
    #[default]
    Off,
    /// They shrink when nothing arrives, again and again, and grow from there: 1.
    BlackHole,
    /// They begin small, and grow to what arrives: 2.
    On,
}

/// TCP Fast Open at a listener (RFC 7413).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerFastOpen {
    /// The SipHash key that cookies are made with.
    pub key: [u64; 2],
    /// The key before it, whose cookies still count.
    pub old_key: Option<[u64; 2]>,
    /// Take data from a SYN only with a valid cookie; without, from every SYN.
    pub cookies: bool,
}

/// For peers that may be Linux. When a join comes while an application's call holds the connection, kernels (6.18 among
/// them) adopt the subflow only when that call ends, and then take what came first on it for the next data of the stream,
/// whatever its mapping says: the stream is corrupt, and without DSS checksums nobody sees it. So new subflows carry data
/// only when nothing else does, for this time and until the peer has acknowledged data that was sent after it.
pub const JOIN_PROBATION: Duration = Duration::from_millis(20);

/// Settings of one connection; what cannot work counts as [`Config::within_limits`] says. [`Config::default`] is meant never to be slower than its best path (docs/never-slower.md);
/// [`Config::historical`] is Multipath TCP as its papers ran it.
#[derive(Clone, Debug)]
pub struct Config {
    /// Offer and accept Multipath TCP; plain TCP otherwise.
    pub multipath: bool,
    /// The version that connections are opened with. [`Version::V0`] also accepts both, [`Version::V1`]
    /// only itself (RFC 8684 section 3.1).
    pub version: Version,
    /// Require the DSS checksum (RFC 8684 section 3.3).
    pub checksum: bool,
    /// Acknowledge data with 8-byte numbers by 8-byte numbers (RFC 8684 section 3.3.2), as Linux does. Without, four bytes
    /// answer in any case: between hosts that read both they are enough, and leave room for segments and SACK blocks; so the
    /// simulator's studies have had it.
    pub wide_data_acks: bool,
    /// Congestion control over all subflows.
    pub congestion: Factory<dyn CongestionControl>,
    /// Which paths it sees as one, where it couples them.
    pub coupling: CouplingScope,
    /// A rule about this host's own queue around it; None for none.
    pub send_queue_rule: Option<SendQueueRule>,
    /// Which subflow sends next.
    pub scheduler: Factory<dyn Scheduler>,
    /// Which subflows there are.
    pub path_manager: Factory<dyn PathManager>,
    /// M1 to M4.
    pub mechanisms: Mechanisms,
    /// Receive buffer shared by all subflows, bytes; its size is the largest window.
    pub receive_buffer: u64,
    /// Payload that is handed to the endpoint is slices of blocks of this many bytes, as a driver makes them that reads
    /// packets one behind the other; what waits longer is copied before it holds more memory than it is worth. 0 only where
    /// each payload has memory of its own: then nothing is copied.
    pub receive_block: u64,
    /// Send buffer: bytes written and not yet acknowledged at the data level.
    pub send_buffer: u64,
    /// The MSS option we send: largest TCP payload with no options, bytes.
    pub mss: u16,
    /// Selective acknowledgements (RFC 2018); NewReno (RFC 6582) without.
    pub sack: bool,
    /// Timestamps and PAWS (RFC 7323).
    pub timestamps: bool,
    /// RACK-TLP (RFC 8985); three duplicates decide without. Needs `sack`.
    pub rack: bool,
    /// Reductions of the window that are taken back. None takes none back, and becomes [`SpuriousLoss::LINUX`] on real packets
    /// (crate `live`).
    pub spurious_loss: Option<SpuriousLoss>,
    /// A window that was not used for a timeout begins anew (RFC 5681 section 4.1), as Linux's `tcp_slow_start_after_idle`. None is
    /// no, and becomes yes on real packets (crate `live`).
    pub restart_after_idle: Option<bool>,
    /// Whether segments find out what a path carries.
    pub mtu_probing: MtuProbing,
    /// Marks in place of losses. None is off, and becomes [`Ecn::Passive`] on real packets (crate `live`); with a controller that
    /// works by marks ([`crate::congestion::CongestionControl::needs_marks`]) it is on.
    pub ecn: Option<Ecn>,
    /// NewReno and CUBIC give less way to marks than to losses (Alternative Backoff with ECN, RFC 8511).
    pub abe: bool,
    /// Grow the window by the bytes an acknowledgement covers (RFC 3465, and Linux since 4.0); by at most
    /// one segment's worth without (RFC 5681 section 3.1, and Linux before), so that delayed
    /// acknowledgements halve the growth.
    pub byte_counting: bool,
    /// Acknowledge every second segment (RFC 9293 section 3.8.6.3).
    pub delayed_ack: bool,
    /// Wait for a full segment while data is in flight (RFC 9293 section 3.7.4).
    pub nagle: bool,
    /// Smallest variance term of the retransmission timeout, as Linux's `tcp_rto_min`.
    pub min_rto: Duration,
    /// Initial congestion window, segments (RFC 6928).
    pub initial_window: u32,
    /// Slow start threshold at the start, bytes: a route's metric, or what an earlier connection left, as
    /// Linux's `ip route ... ssthresh` and tcp_metrics. None for none.
    pub initial_ssthresh: Option<u64>,
    /// When slow start ends.
    pub slow_start: SlowStart,
    /// Spread what a full window of the peer or a full send buffer held back: where the congestion window has room for more than
    /// ten segments they leave at Linux's internal pace, 2 windows a round trip in slow start, 1.2 after it. What
    /// acknowledgements clock is not paced.
    pub pacing: bool,
    /// Small queues, as Linux's `tcp_limit_output_bytes`: a subflow sends no new data while this many bytes
    /// of its packets wait in the interface, beyond the two packets that it always may. None for no
    /// limit; without effect on interfaces whose driver reports no departures.
    pub small_queues: Option<u64>,
    /// Interfaces the connection may use; None is all.
    pub interfaces: Option<Vec<InterfaceId>>,
    /// Interfaces whose subflows are used only when no other works (RFC 8684 section 3.3.8).
    pub backups: Vec<InterfaceId>,
    /// Most subflows beside the first, on both sides; above 48 it counts as 48.
    pub max_subflows: u8,
    /// The peer may open further subflows to the address and port of the first one; without, flag C of MP_CAPABLE tells it
    /// not to (RFC 8684 section 3.1), as Linux's `net.mptcp.allow_join_initial_addr_port` = 0.
    pub join_initial_address: bool,
    /// How long a subflow that we joined carries data only when no other can: see [`JOIN_PROBATION`]. None is no
    /// probation, and becomes that constant on real packets (crate `live`).
    pub join_probation: Option<Duration>,
    /// Addresses to announce; None is those of the other interfaces that the connection may use.
    pub announce: Option<Vec<Announced>>,
    /// When an announcement that was not echoed goes again: Linux's `net.mptcp.add_addr_timeout`, which has 120 s;
    /// ours is what a lossy path needs.
    pub announce_timeout: Duration,
    /// How long a connection lives without a subflow: Linux's `net.mptcp.close_timeout`.
    pub close_timeout: Duration,
    /// Ask peers that say nothing whether they are there, on each subflow; None does not, as is Linux's default.
    pub keepalive: Option<Keepalive>,
    /// How long data may stay unacknowledged, or unsent while the peer's window is closed, before a subflow ends (RFC 9293
    /// section 3.9.1.8, Linux's TCP_USER_TIMEOUT); None for as long as there are retransmissions.
    pub user_timeout: Option<Duration>,
    /// Bytes that may wait unsent: beyond it nothing more is taken, and the application is woken when half of it is left
    /// (Linux's TCP_NOTSENT_LOWAT). None for what the send buffer holds.
    pub notsent_lowat: Option<u64>,
    /// How often a SYN without an answer goes again: Linux's `tcp_syn_retries`, with its default of 6, which is 127 s; RFC 9293
    /// section 3.8.3 wants three minutes at least (MUST-23), which are 7. It holds for SYN/ACKs and the third ACK of joins too.
    pub syn_retries: u32,
    /// A listener whose places are taken answers SYNs by cookies (RFC 4987 section 3.6), as Linux's `tcp_syncookies`.
    pub syn_cookies: bool,
    /// A listener takes data from SYNs; None does not.
    pub fast_open: Option<ServerFastOpen>,
    /// What Linux does where the RFCs leave a choice.
    pub linux_compat: LinuxCompat,
    /// How Linux handles data that waits, for simulations of it.
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

    /// What the kernels of the papers did: the lowest round-trip time first, M1 and M2 by their first rules, all paths coupled,
    /// no pacing.
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
