//! Random settings, paths and operations of a test case.

use mptcp::congestion::{
    Balia, Bbr, Bbr3, CongestionControl, Cubic, Dctcp, Lia, LinuxCubic, Olia, Reno, WVegas,
};
use mptcp::path_manager::{FullMesh, NdiffPorts, PathManager};
use mptcp::policy::Factory;
use mptcp::scheduler::{Linux, MinRtt, OnTime, Redundant, RoundRobin, Scheduler};
use mptcp::{
    Config, CouplingScope, Ecn, LinuxCompat, LinuxStack, Mechanisms, OpportunisticRule, PenaltyRule,
    SlowStart, SpuriousLoss, Version,
};
use mptcp_clock::Duration;
use proptest::prelude::*;

/// A side of the connection; also the index of its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Client = 0,
    Server = 1,
}

impl Side {
    pub fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }
}

/// Properties of a path, in both directions.
#[derive(Clone, Debug)]
pub struct Path {
    pub delay_ms: u16,
    pub jitter_us: u32,
    pub loss_percent: u8,
    /// Bits per second.
    pub rate: u64,
    pub queue_ms: u16,
}

impl Path {
    pub fn loss(&self) -> f64 {
        f64::from(self.loss_percent) / 100.0
    }
}

/// An operation. `at` selects a segment in flight: the index in order of arrival, modulo their number.
#[derive(Clone, Debug)]
pub enum Operation {
    /// Advances the time.
    Advance {
        ms: u32,
    },
    /// Advances to the next arrival or timer.
    Step,
    /// The application writes.
    Write {
        side: Side,
        bytes: u32,
    },
    /// The application stops or resumes reading.
    Pause {
        side: Side,
        paused: bool,
    },
    Close {
        side: Side,
    },
    Abort {
        side: Side,
    },
    Drop {
        at: u16,
    },
    Duplicate {
        at: u16,
    },
    Delay {
        at: u16,
        ms: u16,
    },
    /// A bit of the segment is flipped.
    Corrupt {
        at: u16,
        position: u16,
        bit: u8,
    },
    Interface {
        side: Side,
        path: u8,
        up: bool,
    },
    Backup {
        side: Side,
        path: u8,
        backup: bool,
    },
    Path {
        path: u8,
        to: Path,
    },
    /// A middlebox splits a segment after `position` payload bytes; both parts keep the options.
    Split {
        at: u16,
        position: u16,
    },
    /// A middlebox joins a segment with the next one, and drops the options of the second.
    Join {
        at: u16,
    },
    /// A middlebox strips MPTCP options from now on.
    Strip {
        path: u8,
        what: Strip,
    },
}

/// Segments from which options are stripped, indexed by the sending side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Strip {
    pub syn: [bool; 2],
    pub other: [bool; 2],
}

#[derive(Clone, Debug)]
pub struct Settings {
    pub seed: u64,
    pub client: Config,
    pub server: Config,
    pub paths: Vec<Path>,
    /// Segmentation offload of both sides.
    pub gso: Gso,
}

/// Segmentation offload settings.
#[derive(Clone, Copy, Debug, Default)]
pub struct Gso {
    /// Maximum payload of a segment, bytes; 0 to disable.
    pub most: u16,
    /// Whether a segment arrives without being split, as between two programs of one host.
    pub whole: bool,
}

fn side() -> impl Strategy<Value = Side> {
    prop_oneof![3 => Just(Side::Client), 2 => Just(Side::Server)]
}

fn path() -> impl Strategy<Value = Path> {
    let loss = prop_oneof![6 => Just(0_u8), 3 => 1..10_u8, 1 => 10..60_u8, 1 => Just(100_u8)];
    let rate = prop_oneof![Just(1_000_000_000_u64), 100_000..20_000_000_u64];
    let jitter = prop_oneof![3 => Just(0_u32), 1 => 0..20_000_u32];
    (0..200_u16, jitter, loss, rate, 10..500_u16).prop_map(
        |(delay_ms, jitter_us, loss_percent, rate, queue_ms)| Path {
            delay_ms,
            jitter_us,
            loss_percent,
            rate,
            queue_ms,
        },
    )
}

fn strip() -> impl Strategy<Value = Strip> {
    let kinds = (any::<[bool; 2]>(), any::<[bool; 2]>()).prop_map(|(syn, other)| Strip { syn, other });
    prop_oneof![1 => Just(Strip::default()), 1 => kinds]
}

fn operation() -> impl Strategy<Value = Operation> {
    let span = prop_oneof![4 => 0..50_u32, 4 => 50..1_000_u32, 1 => 1_000..20_000_u32];
    let size = prop_oneof![2 => 1..100_u32, 4 => 100..20_000_u32, 1 => 20_000..300_000_u32];
    prop_oneof![
        12 => span.prop_map(|ms| Operation::Advance { ms }),
        12 => Just(Operation::Step),
        10 => (side(), size).prop_map(|(side, bytes)| Operation::Write { side, bytes }),
        3 => (side(), any::<bool>()).prop_map(|(side, paused)| Operation::Pause { side, paused }),
        1 => side().prop_map(|side| Operation::Close { side }),
        1 => prop_oneof![9 => Just(None), 1 => side().prop_map(Some)]
            .prop_map(|side| side.map_or(Operation::Step, |side| Operation::Abort { side })),
        6 => any::<u16>().prop_map(|at| Operation::Drop { at }),
        4 => any::<u16>().prop_map(|at| Operation::Duplicate { at }),
        5 => (any::<u16>(), 0..400_u16).prop_map(|(at, ms)| Operation::Delay { at, ms }),
        2 => (any::<u16>(), any::<u16>(), any::<u8>())
            .prop_map(|(at, position, bit)| Operation::Corrupt { at, position, bit }),
        3 => (prop_oneof![5 => Just(Side::Client), 1 => Just(Side::Server)], any::<u8>(), any::<bool>())
            .prop_map(|(side, path, up)| Operation::Interface { side, path, up }),
        1 => (side(), any::<u8>(), any::<bool>())
            .prop_map(|(side, path, backup)| Operation::Backup { side, path, backup }),
        2 => (any::<u8>(), path()).prop_map(|(path, to)| Operation::Path { path, to }),
        2 => (any::<u16>(), any::<u16>()).prop_map(|(at, position)| Operation::Split { at, position }),
        2 => any::<u16>().prop_map(|at| Operation::Join { at }),
        1 => prop_oneof![3 => Just(None), 1 => (any::<u8>(), strip()).prop_map(Some)]
            .prop_map(|drawn| drawn.map_or(Operation::Step, |(path, what)| Operation::Strip { path, what })),
    ]
}

fn config() -> impl Strategy<Value = Config> {
    let congestion = prop_oneof![
        Just(Factory::<dyn CongestionControl>::from(Reno)),
        Just(Factory::<dyn CongestionControl>::from(Cubic::default())),
        Just(Factory::<dyn CongestionControl>::from(Lia)),
        Just(Factory::<dyn CongestionControl>::from(Olia::default())),
        Just(Factory::<dyn CongestionControl>::from(Balia)),
        Just(Factory::<dyn CongestionControl>::from(WVegas::default())),
        Just(Factory::<dyn CongestionControl>::from(LinuxCubic::default())),
        Just(Factory::<dyn CongestionControl>::from(Dctcp::default())),
        Just(Factory::<dyn CongestionControl>::from(Bbr::default())),
        Just(Factory::<dyn CongestionControl>::from(Bbr3::default()))
    ];
    let version = prop_oneof![3 => Just(Version::V1), 1 => Just(Version::V0)];
    let scheduler = prop_oneof![
        3 => Just(Factory::<dyn Scheduler>::from(OnTime::default())),
        2 => Just(Factory::<dyn Scheduler>::from(MinRtt)),
        1 => Just(Factory::<dyn Scheduler>::from(RoundRobin::default())),
        1 => Just(Factory::<dyn Scheduler>::from(Redundant))
    ];
    let manager = prop_oneof![
        4 => Just(Factory::<dyn PathManager>::from(FullMesh)),
        1 => (1..4_u8).prop_map(|subflows| NdiffPorts { subflows }.into())
    ];
    let buffer =
        || prop_oneof![1 => 2_000..20_000_u64, 2 => 20_000..200_000_u64, 2 => 200_000..4_000_000_u64];
    let mss = prop_oneof![4 => Just(1460_u16), 1 => 100..1460_u16];
    (
        (prop::bool::weighted(0.8), prop::bool::weighted(0.3), congestion, scheduler, manager, version),
        prop::array::uniform6(any::<bool>()),
        (buffer(), buffer(), mss),
        (prop::array::uniform5(prop::bool::weighted(0.75)), 0..5_u8, 1..20_u32),
        (prop::array::uniform10(prop::bool::weighted(0.3)), prop::option::weighted(0.3, 0..300_u64)),
    )
        .prop_map(|(kinds, mechanisms, sizes, rest, (linux_compat, probation))| {
            let (multipath, checksum, congestion, scheduler, path_manager, version) = kinds;
            let [
                opportunistic_retransmission,
                penalisation,
                autotuning,
                cwnd_capping,
                original,
                byte_counting,
            ] = mechanisms;
            let ([sack, rack, timestamps, delayed_ack, nagle], max_subflows, initial_window) = rest;
            let [
                wide_data_acks,
                early_announcements,
                quiet_after_handshake,
                echo_before_join,
                acknowledge_before_fin,
                plain_time_wait,
                data_fin_everywhere,
                quick_data_fin,
                minshall,
                steady_join_ack,
            ] = linux_compat;
            Config {
                multipath,
                version,
                checksum,
                congestion,
                scheduler: if plain_time_wait && nagle { Linux::default().into() } else { scheduler },
                path_manager,
                mechanisms: Mechanisms {
                    opportunistic_retransmission,
                    opportunistic_rule: if original {
                        OpportunisticRule::Original
                    } else {
                        OpportunisticRule::Speculative
                    },
                    penalisation,
                    autotuning,
                    shrink_send_buffer: original,
                    receive_buffer_per_path: !original,
                    cwnd_capping,
                    penalty_rule: if original { PenaltyRule::Original } else { PenaltyRule::Later },
                },
                byte_counting,
                slow_start: match (byte_counting, original) {
                    (true, true) => SlowStart::Standard,
                    (false, _) => SlowStart::HyStartPlusPlus,
                    (true, false) => SlowStart::HyStart,
                },
                coupling: if original { CouplingScope::All } else { CouplingScope::Shared },
                pacing: minshall != sack,
                receive_buffer: sizes.0,
                send_buffer: sizes.1,
                mss: sizes.2,
                sack,
                rack,
                // Derived from other random values, so that older regressions stay reproducible.
                spurious_loss: Some(SpuriousLoss { undo: minshall != nagle, frto: quick_data_fin != sack }),
                ecn: Some(if rack != sack { Ecn::Passive } else { Ecn::On }).filter(|_| minshall != rack),
                abe: quick_data_fin,
                timestamps,
                delayed_ack,
                nagle,
                min_rto: Duration::from_millis(200),
                initial_window,
                max_subflows,
                join_probation: probation.map(Duration::from_millis),
                wide_data_acks,
                linux_compat: LinuxCompat {
                    early_announcements,
                    quiet_after_handshake,
                    echo_before_join,
                    acknowledge_before_fin,
                    plain_time_wait,
                    data_fin_everywhere,
                    quick_data_fin,
                    minshall,
                    push_where_writes_end: wide_data_acks != minshall,
                    fin_with_data: quick_data_fin != minshall,
                    steady_join_ack,
                    cwnd_limited_per_round: minshall != timestamps,
                    pingpong: wide_data_acks != timestamps,
                },
                linux_stack: LinuxStack {
                    subflow_queues: plain_time_wait,
                    buffer_memory: echo_before_join,
                    data_level_timer: data_fin_everywhere,
                    windows_by_subflow: steady_join_ack,
                    failed_path_probe: Some(Duration::from_secs(1)).filter(|_| !minshall),
                    blackhole_timeout: Some(Duration::from_secs(30)).filter(|_| minshall),
                },
                ..Config::default()
            }
        })
}

/// Strategy for settings and operations.
pub fn random_case() -> impl Strategy<Value = (Settings, Vec<Operation>)> {
    let paths = prop::collection::vec(path(), 1..4);
    let most = prop_oneof![2 => Just(0_u16), 1 => 1_000..=u16::MAX];
    let gso = (most, any::<bool>()).prop_map(|(most, whole)| Gso { most, whole });
    let settings = (any::<u64>(), config(), config(), any::<bool>(), paths, gso);
    let settings = settings.prop_map(|(seed, client, server, alike, paths, gso)| {
        let server = if alike { client.clone() } else { server };
        Settings { seed, client, server, paths, gso }
    });
    (settings, prop::collection::vec(operation(), 1..120))
}
