//! Random settings, paths and applications, which cover combinations that no list contains.

use mptcp::path_manager::NdiffPorts;
use mptcp::policy::Policies;
use mptcp::{
    Config, CouplingScope, Ecn, InterfaceChange, InterfaceId, Keepalive, LinuxCompat, LinuxStack, Mechanisms,
    MtuProbing, OpportunisticRule, PenaltyRule, SendQueueRule, SlowStart, SpuriousLoss, Version, WriteFlags,
};
use mptcp_clock::{Duration, Rng};

use super::check;
use super::controllers;
use super::link::Link;
use super::scenario::Scenario;
use super::world::{CLIENT, SERVER};

/// Number of scenarios.
const COUNT: u64 = 320;

fn one<T: Clone>(draws: &mut Rng, of: &[T]) -> T {
    of[draws.below(of.len() as u64) as usize].clone()
}

fn flags(draws: &mut Rng) -> LinuxCompat {
    LinuxCompat {
        early_announcements: draws.chance(0.5),
        quiet_after_handshake: draws.chance(0.5),
        echo_before_join: draws.chance(0.5),
        acknowledge_before_fin: draws.chance(0.5),
        plain_time_wait: draws.chance(0.5),
        data_fin_everywhere: draws.chance(0.5),
        quick_data_fin: draws.chance(0.5),
        minshall: draws.chance(0.5),
        push_where_writes_end: draws.chance(0.5),
        fin_with_data: draws.chance(0.5),
        steady_join_ack: draws.chance(0.5),
        cwnd_limited_per_round: draws.chance(0.5),
        // Another random value would change all later scenarios.
        pingpong: false,
    }
}

fn stack(draws: &mut Rng) -> LinuxStack {
    LinuxStack {
        subflow_queues: draws.chance(0.3),
        buffer_memory: draws.chance(0.3),
        data_level_timer: draws.chance(0.5),
        windows_by_subflow: draws.chance(0.5),
        failed_path_probe: draws.chance(0.5).then(|| Duration::from_millis(500)),
        blackhole_timeout: None,
    }
}

fn mechanisms(draws: &mut Rng) -> Mechanisms {
    Mechanisms {
        opportunistic_retransmission: draws.chance(0.7),
        opportunistic_rule: one(draws, &[OpportunisticRule::Original, OpportunisticRule::Speculative]),
        penalisation: draws.chance(0.4),
        autotuning: draws.chance(0.4),
        shrink_send_buffer: draws.chance(0.4),
        receive_buffer_per_path: true,
        cwnd_capping: draws.chance(0.3),
        penalty_rule: one(draws, &[PenaltyRule::Original, PenaltyRule::Later]),
    }
}

fn config(draws: &mut Rng) -> Config {
    let policies = Policies::default();
    // Without the experimental scheduler, which would change all scenarios.
    let names: Vec<_> = policies.schedulers.names().filter(|&name| name != "maxrtt").collect();
    let scheduler = policies.schedulers.find(one(draws, &names)).unwrap();
    let congestion = one(draws, &controllers::each()).1.congestion;
    let rules = [
        None,
        None,
        Some(SendQueueRule::Published),
        Some(SendQueueRule::Unacked),
        Some(SendQueueRule::Linked),
    ];
    let starts = [SlowStart::Standard, SlowStart::HyStart, SlowStart::HyStartPlusPlus];
    let mut config = Config {
        multipath: draws.chance(0.85),
        version: one(draws, &[Version::V0, Version::V1, Version::V1]),
        checksum: draws.chance(0.3),
        wide_data_acks: draws.chance(0.5),
        congestion,
        scheduler,
        coupling: one(draws, &[CouplingScope::All, CouplingScope::Shared]),
        send_queue_rule: one(draws, &rules),
        mechanisms: mechanisms(draws),
        receive_buffer: one(draws, &[20_000, 80_000, 300_000, 6 << 20]),
        receive_block: one(draws, &[0, 4096, 256 << 10]),
        send_buffer: one(draws, &[20_000, 80_000, 300_000, 4 << 20]),
        mss: one(draws, &[536, 1000, 1460, 1460, 4000]),
        sack: draws.chance(0.8),
        timestamps: draws.chance(0.8),
        rack: draws.chance(0.7),
        spurious_loss: one(
            draws,
            &[None, Some(SpuriousLoss::LINUX), Some(SpuriousLoss { undo: true, frto: false })],
        ),
        restart_after_idle: one(draws, &[None, Some(true)]),
        mtu_probing: one(draws, &[MtuProbing::Off, MtuProbing::BlackHole, MtuProbing::On]),
        ecn: one(draws, &[None, Some(Ecn::Passive), Some(Ecn::On)]),
        abe: draws.chance(0.3),
        byte_counting: draws.chance(0.7),
        delayed_ack: draws.chance(0.8),
        nagle: draws.chance(0.6),
        min_rto: Duration::from_millis(one(draws, &[10, 200, 400])),
        initial_window: one(draws, &[1, 4, 10]),
        initial_ssthresh: one(draws, &[None, None, Some(30_000)]),
        slow_start: one(draws, &starts),
        pacing: draws.chance(0.5),
        small_queues: one(draws, &[None, Some(5_000), Some(30_000)]),
        ..Config::default()
    };
    if draws.chance(0.2) {
        config.path_manager = NdiffPorts { subflows: 1 + draws.below(3) as u8 }.into();
    }
    config.backups = if draws.chance(0.2) { vec![InterfaceId(draws.below(2) as u32)] } else { Vec::new() };
    config.max_subflows = one(draws, &[1, 2, 8]);
    config.join_initial_address = draws.chance(0.9);
    config.join_probation = draws.chance(0.3).then_some(mptcp::JOIN_PROBATION);
    config.announce_timeout = Duration::from_millis(one(draws, &[100, 3000]));
    let (idle, interval) = (Duration::from_millis(300), Duration::from_millis(200));
    config.keepalive = draws.chance(0.2).then_some(Keepalive { idle, interval, probes: 100 });
    config.notsent_lowat = draws.chance(0.2).then_some(6_000);
    config.user_timeout = draws.chance(0.1).then_some(Duration::from_secs(60));
    config.interfaces = draws.chance(0.1).then(|| vec![InterfaceId(0), InterfaceId(1)]);
    config.linux_compat = flags(draws);
    config.linux_stack = stack(draws);
    config
}

fn link(draws: &mut Rng) -> Link {
    let delay = one(draws, &[2, 10, 30, 100]);
    let rate = one(draws, &[200, 800, 2000, 6000]);
    let mut link = Link::new(delay, rate, one(draws, &[8, 30, 120]));
    link.loss = one(draws, &[0.0, 0.0, 0.003, 0.03]);
    if draws.chance(0.3) {
        link = link.reorder(0.03, delay / 2 + 1);
    }
    if draws.chance(0.3) {
        link = link.jitter(delay / 3 + 1);
    }
    link.duplicate = one(draws, &[0.0, 0.0, 0.02]);
    if draws.chance(0.4) {
        link = link.marks(5);
        link.lenient = draws.chance(0.5);
    }
    link.departures = draws.chance(0.5);
    link.gso = one(draws, &[0, 0, 0, 12_000, 60_000]);
    link
}

fn scenario(number: u64) -> Scenario {
    let mut draws = Rng::new(number, "scenario");
    let draws = &mut draws;
    let (near, far) = (config(draws), config(draws));
    // TCP ends with its interface, and ndiffports does not retry from an address added later.
    let spreads = format!("{:?}", near.path_manager).starts_with("Ndiff");
    let joins = |config: &Config| config.multipath && config.join_initial_address;
    let moves = joins(&near) && joins(&far) && near.version == far.version && !spreads;
    let links: Vec<Link> = (0..=draws.below(3)).map(|_| link(draws)).collect();
    let servers = vec![false; 1 + draws.below(2) as usize];
    let paths = links.len();
    let mut scenario = Scenario::new(format!("{number}"), near, &links)
        .server(far)
        .servers(&servers)
        .seed(number)
        .up(20_000 + draws.below(200_000))
        .down(one(draws, &[0, 0, 10_000, 100_000]));
    if draws.chance(0.3) {
        scenario = scenario.blocks(500 + draws.below(20_000), 1 + draws.below(100));
    }
    if draws.chance(0.3) {
        let flags = WriteFlags { more: draws.chance(0.5), end_of_record: draws.chance(0.5) };
        scenario = scenario.app(CLIENT, |app| app.flags = flags);
    }
    if draws.chance(0.3) {
        scenario = scenario.slow(1_000 + draws.below(20_000), 1 + draws.below(40));
    }
    if draws.chance(0.1) {
        let late = mptcp_clock::Instant::ZERO + Duration::from_millis(500 + draws.below(2_000));
        scenario = scenario.app(SERVER, |app| app.reads_from = late);
    }
    for _ in 0..draws.below(3) {
        let (at, path) = (30 + draws.below(800), draws.below(paths as u64) as usize);
        let back = at + 20 + draws.below(2_000);
        scenario = match draws.below(9) {
            0 => {
                let down = scenario.at(at, move |w| w.links[path].dead = true);
                down.at(back, move |w| w.links[path].dead = false)
            }
            1 if paths > 1 && moves => {
                // Not before the connection is open.
                let (at, back) = (at + 300, back + 300);
                let down = scenario.at(at, move |w| w.interface(CLIENT, path, InterfaceChange::Down));
                down.at(back, move |w| w.interface(CLIENT, path, InterfaceChange::Up))
            }
            2 => scenario.at(at, move |w| w.interface(CLIENT, path, InterfaceChange::Backup(true))),
            3 => scenario.at(at, move |w| w.links[path].rate = 100_000 + 1_000 * back),
            4 => {
                let lossy = scenario.at(at, move |w| w.links[path].loss = 0.3);
                lossy.at(back, move |w| w.links[path].loss = 0.0)
            }
            5 => scenario.at(at, move |w| w.links[path].mtu = Some((1_100, true))),
            6 => scenario
                .at(at, move |w| w.interface(SERVER, 0, InterfaceChange::Backup(back.is_multiple_of(2)))),
            7 if paths > 1 => scenario.at(at, move |w| {
                let id = w.id(CLIENT);
                let last = w.ends[CLIENT].info(w.now, id).and_then(|info| info.subflows.last().map(|s| s.id));
                if let Some(last) = last.filter(|last| last.number() > 0) {
                    w.ends[CLIENT].close_subflow(w.now, id, last);
                }
            }),
            _ => scenario.at(at, move |w| w.links[path].delay = Duration::from_millis(back % 90)),
        };
    }
    scenario
}

#[test]
fn random_settings_match_the_record() {
    check("random_settings", (0..COUNT).map(scenario).collect());
}

#[test]
fn observer_does_not_change_behaviour() {
    for number in 0..COUNT / 4 {
        let run = |scenario: Scenario| scenario.brief().run().lines.pop();
        let (seen, unseen) = (run(scenario(number)), run(scenario(number).unobserved()));
        // Without the hashes of observer events and of limiting factors.
        let said =
            |line: Option<String>| line.and_then(|line| Some(line.rsplitn(3, ' ').last()?.to_string()));
        assert_eq!(said(seen), said(unseen), "{number}");
    }
}
