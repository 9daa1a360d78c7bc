//! Translates a flow of a scenario into the configuration of its connection. The simulator and runs on real
//! packets share it, so that a scenario means the same in both.

use mptcp::{Config, InterfaceId, SpuriousLoss};

use crate::scenario::names::{
    CouplingScope, Ecn, MtuProbing, OpportunisticRule, PenaltyRule, Reinjection, SendQueueRule, SlowStart,
    Transport, Version,
};
use crate::scenario::{Flow, MAX_SUBFLOWS, Scenario};

/// TCP and IPv4 headers without options, bytes: the difference between MTU and MSS.
const HEADERS: u32 = 40;

/// The configuration of the end that accepts the connection, from that of the other end. It has no interfaces and
/// backups, which are names at the other end.
#[must_use]
pub fn accepting_config(flow: &Flow, opening: &Config) -> Config {
    Config {
        interfaces: None,
        backups: Vec::new(),
        multipath: opening.multipath && flow.accept_mptcp,
        // At most 8.
        max_subflows: flow.accept_subflows.min(MAX_SUBFLOWS) as u8,
        ..opening.clone()
    }
}

/// The configuration of the end that opens the connection. `interface` maps a path to an interface of the
/// host, if there is one.
#[must_use]
pub fn flow_config(
    scenario: &Scenario,
    flow: &Flow,
    interface: impl Fn(&str) -> Option<InterfaceId>,
) -> Config {
    let mtu = scenario.links.iter().map(|link| link.mtu).min().unwrap_or(1500);
    let interfaces = flow.paths.iter().filter_map(|path| interface(path));
    let backups = flow.backup.iter().filter_map(|path| interface(path));
    Config {
        multipath: flow.transport == Transport::Mptcp,
        version: match flow.version {
            Version::V0 => mptcp::Version::V0,
            Version::V1 => mptcp::Version::V1,
        },
        checksum: flow.checksum,
        congestion: flow.congestion.make().clone(),
        coupling: match flow.coupling_scope {
            CouplingScope::All => mptcp::CouplingScope::All,
            CouplingScope::Shared => mptcp::CouplingScope::Shared,
        },
        send_queue_rule: match flow.send_queue_rule {
            SendQueueRule::Off => None,
            SendQueueRule::Published => Some(mptcp::SendQueueRule::Published),
            SendQueueRule::Unacked => Some(mptcp::SendQueueRule::Unacked),
            SendQueueRule::Linked => Some(mptcp::SendQueueRule::Linked),
        },
        scheduler: flow.scheduler.make().clone(),
        path_manager: flow.path_manager.make().clone(),
        mechanisms: mptcp::Mechanisms {
            opportunistic_retransmission: flow.mechanisms.opportunistic_retransmission,
            opportunistic_rule: match flow.mechanisms.opportunistic_rule {
                OpportunisticRule::Original => mptcp::OpportunisticRule::Original,
                OpportunisticRule::AllBeneficial => mptcp::OpportunisticRule::AllBeneficial,
                OpportunisticRule::Speculative => mptcp::OpportunisticRule::Speculative,
            },
            penalisation: flow.mechanisms.penalisation,
            penalty_rule: match flow.mechanisms.penalty_rule {
                PenaltyRule::Original => mptcp::PenaltyRule::Original,
                PenaltyRule::Kernel089 => mptcp::PenaltyRule::Later,
            },
            autotuning: flow.mechanisms.autotuning,
            shrink_send_buffer: flow.mechanisms.sndbuf_shrinks,
            receive_buffer_per_path: flow.mechanisms.rcvbuf_by_path,
            cwnd_capping: flow.mechanisms.cwnd_capping,
        },
        interfaces: Some(interfaces.collect()),
        backups: backups.collect(),
        receive_buffer: flow.tcp.rcvbuf,
        send_buffer: flow.tcp.sndbuf,
        mss: flow.tcp.mss.unwrap_or(mtu - HEADERS).min(mtu - HEADERS).min(65_495) as u16,
        slow_start: match flow.tcp.slow_start {
            SlowStart::Standard => mptcp::SlowStart::Standard,
            SlowStart::HyStartPlusPlus => mptcp::SlowStart::HyStartPlusPlus,
            SlowStart::HyStart => mptcp::SlowStart::HyStart,
        },
        pacing: flow.tcp.pacing,
        wide_data_acks: flow.waiting.wide_data_acks,
        announce_timeout: flow.waiting.add_addr_timeout,
        linux_stack: mptcp::LinuxStack {
            subflow_queues: flow.waiting.subflow_queues,
            buffer_memory: flow.waiting.buffer_memory,
            data_level_timer: flow.waiting.reinjection == Reinjection::DataLevel,
            windows_by_subflow: flow.waiting.windows_by_subflow,
            failed_path_probe: flow.waiting.failed_path_probe,
            blackhole_timeout: flow.waiting.blackhole_timeout,
        },
        linux_compat: mptcp::LinuxCompat {
            cwnd_limited_per_round: flow.tcp.cwnd_limited_per_round,
            minshall: flow.tcp.minshall,
            ..mptcp::LinuxCompat::default()
        },
        sack: flow.tcp.sack,
        timestamps: flow.tcp.timestamps,
        rack: flow.tcp.rack,
        spurious_loss: Some(SpuriousLoss { undo: flow.tcp.undo_spurious_loss, frto: flow.tcp.frto }),
        user_timeout: flow.tcp.user_timeout,
        notsent_lowat: flow.tcp.notsent_lowat,
        byte_counting: flow.tcp.byte_counting,
        ecn: match flow.tcp.ecn {
            Ecn::Off => None,
            Ecn::Passive => Some(mptcp::Ecn::Passive),
            Ecn::On => Some(mptcp::Ecn::On),
        },
        abe: flow.tcp.abe,
        restart_after_idle: Some(flow.tcp.restart_after_idle),
        mtu_probing: match flow.tcp.mtu_probing {
            MtuProbing::Off => mptcp::MtuProbing::Off,
            MtuProbing::BlackHole => mptcp::MtuProbing::BlackHole,
            MtuProbing::On => mptcp::MtuProbing::On,
        },
        delayed_ack: flow.tcp.delayed_ack,
        nagle: flow.tcp.nagle,
        min_rto: flow.tcp.min_rto,
        initial_window: flow.tcp.initial_window,
        initial_ssthresh: flow.tcp.ssthresh,
        small_queues: flow.tcp.small_queues,
        max_subflows: MAX_SUBFLOWS as u8,
        ..Config::default()
    }
}
