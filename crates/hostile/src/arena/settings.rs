//! Random settings of a case, one simulated attack: the host's configuration, its addresses, and the start time.
//!
//! Owns the choices; runs nothing.

use std::net::{IpAddr, Ipv6Addr};

use mptcp::congestion::CongestionControl;
use mptcp::path_manager::{FullMesh, NdiffPorts};
use mptcp::policy::{Factory, Policies};
use mptcp::scheduler::Scheduler;
use mptcp::{
    Announced, Config, CouplingScope, Ecn, InterfaceId, Keepalive, LinuxCompat, LinuxStack, Mechanisms,
    MtuProbing, OpportunisticRule, PenaltyRule, SendQueueRule, ServerFastOpen, SlowStart, SpuriousLoss,
    Version,
};
use mptcp_clock::{Duration, Instant};

use crate::draw::Draw;
use crate::peer::Offer;

const CONGESTION: [&str; 9] = ["lia", "reno", "cubic", "olia", "balia", "wvegas", "dctcp", "bbr", "bbr3"];
const SCHEDULERS: [&str; 4] = ["ontime", "minrtt", "roundrobin", "redundant"];

pub(super) fn congestion(draw: &mut Draw<'_>) -> Factory<dyn CongestionControl> {
    let name = draw.pick(&CONGESTION);
    Policies::default().congestion.find(name).unwrap_or_else(|error| panic!("{error}"))
}

pub(super) fn scheduler(draw: &mut Draw<'_>) -> Factory<dyn Scheduler> {
    let name = draw.pick(&SCHEDULERS);
    Policies::default().schedulers.find(name).unwrap_or_else(|error| panic!("{error}"))
}

/// Start time of the case; some choices let the timestamp clock wrap.
pub(super) fn start(draw: &mut Draw<'_>) -> Instant {
    let millis = [0, 1, 1_000, (1 << 31) - 3_000, (1 << 32) - 3_000, (1 << 32) + 1, 315_360_000_000];
    Instant::ZERO + Duration::from_millis(draw.pick(&millis))
}

/// An address of the host towards the peer.
pub(super) fn address(number: u8, wide: bool) -> IpAddr {
    if wide {
        Ipv6Addr::new(0xfd00, number.into(), 0, 0, 0, 0, 0, 1).into()
    } else {
        [10, 0, number, 1].into()
    }
}

pub(super) fn offer(draw: &mut Draw<'_>) -> Offer {
    let mss =
        [Some(1_460), None, Some(0), Some(1), Some(64), Some(100), Some(536), Some(8_960), Some(65_535)];
    Offer {
        multipath: !draw.chance(20),
        version: if draw.chance(70) { Version::V0 } else { Version::V1 },
        checksum: draw.chance(70),
        mss: draw.pick(&mss),
        scale: draw.pick(&[Some(7), None, Some(0), Some(14), Some(255)]),
        sack: !draw.chance(60),
        timestamps: draw.flag(),
        window: draw.pick(&[60_000, 65_535, 0, 1, 100, 2_000]),
    }
}

/// Random Linux behaviours, the width of data acknowledgements, and behaviours of Linux's send queues.
fn habits(draw: &mut Draw<'_>) -> (LinuxCompat, bool, LinuxStack) {
    match draw.byte() {
        0..128 => (LinuxCompat::default(), false, LinuxStack::default()),
        128..160 => (LinuxCompat::LINUX, true, LinuxStack::default()),
        160..192 => (LinuxCompat::LINUX, true, LinuxStack::LINUX),
        _ => {
            let bits = draw.u16();
            let bit = |at: u16| bits >> at & 1 != 0;
            let habits = LinuxCompat {
                early_announcements: bit(1),
                echo_before_join: bit(2),
                acknowledge_before_fin: bit(3),
                plain_time_wait: bit(4),
                data_fin_everywhere: bit(5),
                quick_data_fin: bit(6),
                steady_join_ack: bit(7),
                quiet_after_handshake: bit(8),
                minshall: bit(9),
                push_where_writes_end: bit(9),
                fin_with_data: bit(10),
                cwnd_limited_per_round: bit(7),
                pingpong: bit(9),
            };
            let stack = LinuxStack {
                subflow_queues: bit(11),
                buffer_memory: bit(12),
                data_level_timer: bit(13),
                windows_by_subflow: bit(15),
                failed_path_probe: bit(14).then_some(Duration::from_secs(1)),
                blackhole_timeout: bit(8).then_some(Duration::from_secs(1)),
            };
            (habits, bit(0), stack)
        }
    }
}

fn announce(draw: &mut Draw<'_>) -> Option<Vec<Announced>> {
    if !draw.chance(50) {
        return None;
    }
    let named = (0..draw.byte() % 4).map(|number| Announced {
        id: draw.byte().max(1),
        address: if draw.flag() { address(number, draw.flag()) } else { [10, 40, 0, number].into() },
    });
    Some(named.collect())
}

/// Random settings of the host's connections.
pub(super) fn config(draw: &mut Draw<'_>, interfaces: u8) -> Config {
    if draw.chance(60) {
        return Config { receive_buffer: 1 << 20, send_buffer: 1 << 20, ..Config::default() };
    }
    let switches = draw.u16();
    let on = |at: u16| switches >> at & 1 == 0;
    let rule =
        [None, Some(SendQueueRule::Published), Some(SendQueueRule::Unacked), Some(SendQueueRule::Linked)];
    let mechanisms = Mechanisms {
        opportunistic_retransmission: on(0),
        opportunistic_rule: if on(13) { OpportunisticRule::Speculative } else { OpportunisticRule::Original },
        penalisation: on(1),
        autotuning: !on(2),
        shrink_send_buffer: on(14),
        receive_buffer_per_path: on(15),
        cwnd_capping: !on(3),
        penalty_rule: if on(4) { PenaltyRule::Original } else { PenaltyRule::Later },
    };
    let fast_open = ServerFastOpen { key: [1, 2], old_key: on(5).then_some([3, 4]), cookies: draw.flag() };
    let mut config = Config {
        multipath: !draw.chance(20),
        version: if draw.chance(80) { Version::V0 } else { Version::V1 },
        checksum: draw.chance(60),
        congestion: congestion(draw),
        coupling: if on(14) { CouplingScope::Shared } else { CouplingScope::All },
        pacing: on(15),
        // Derived from other choices, too.
        min_paced_rtt: Duration::from_millis(if on(4) != on(9) { 20 } else { 0 }),
        send_queue_rule: draw.pick(&rule),
        scheduler: scheduler(draw),
        path_manager: match draw.byte() % 6 {
            0 => NdiffPorts { subflows: draw.byte() % 6 }.into(),
            _ => FullMesh.into(),
        },
        mechanisms,
        receive_buffer: draw.scaled(22).max(1_024),
        send_buffer: draw.scaled(22).max(1_024),
        mss: draw.pick(&[1_460, 64, 100, 536, 1_200, 9_000]),
        sack: on(6),
        timestamps: on(7),
        rack: on(8),
        // Derived from earlier choices: another draw would change the meaning of recorded cases.
        spurious_loss: Some(SpuriousLoss { undo: on(8) != on(11), frto: on(6) != on(10) }),
        restart_after_idle: Some(on(5)),
        mtu_probing: if on(4) { MtuProbing::Off } else { MtuProbing::On },
        ecn: match (on(6), on(9)) {
            (true, true) => None,
            (true, false) => Some(Ecn::Passive),
            (false, _) => Some(Ecn::On),
        },
        abe: on(7) != on(11),
        user_timeout: None,
        notsent_lowat: None,
        byte_counting: on(9),
        slow_start: match (on(9), on(8)) {
            (true, true) => SlowStart::Standard,
            (false, _) => SlowStart::HyStartPlusPlus,
            (true, false) => SlowStart::HyStart,
        },
        delayed_ack: on(10),
        nagle: on(11),
        min_rto: Duration::from_millis(draw.pick(&[200, 1, 20, 1_000])),
        initial_window: draw.pick(&[10, 1, 2, 50, 1_000]),
        initial_ssthresh: draw.pick(&[None, Some(0), Some(10_000)]),
        small_queues: draw.pick(&[None, Some(0), Some(3_000), Some(100_000)]),
        interfaces: None,
        backups: if on(12) {
            Vec::new()
        } else {
            vec![InterfaceId((draw.byte() % interfaces.max(1)).into())]
        },
        max_subflows: draw.pick(&[8, 0, 1, 2, 64, 255]),
        join_probation: draw.pick(&[None, Some(mptcp::JOIN_PROBATION)]),
        announce: announce(draw),
        announce_timeout: Duration::from_millis(draw.pick(&[3_000, 1, 120_000])),
        close_timeout: Duration::from_millis(draw.pick(&[60_000, 0, 1, 1_000])),
        syn_retries: draw.pick(&[6, 0, 1, 2]),
        syn_cookies: !draw.chance(60),
        join_initial_address: !draw.chance(30),
        keepalive: draw.chance(60).then_some(Keepalive {
            idle: Duration::from_secs(30),
            interval: Duration::from_secs(3),
            probes: 3,
        }),
        receive_block: 256 << 10,
        fast_open: draw.chance(90).then_some(fast_open),
        linux_compat: LinuxCompat::default(),
        wide_data_acks: false,
        linux_stack: LinuxStack::default(),
    };
    // Drawn last, so that the other settings of recorded cases stay the same.
    (config.linux_compat, config.wide_data_acks, config.linux_stack) = habits(draw);
    config
}
