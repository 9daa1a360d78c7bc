//! Every setting of a connection separately, over lossy paths with data in both directions.

use mptcp::congestion::Cubic;
use mptcp::path_manager::NdiffPorts;
use mptcp::scheduler::RoundRobin;
use mptcp::{
    Announced, Config, CouplingScope, Ecn, InterfaceId, Keepalive, LinuxCompat, LinuxStack, Mechanisms,
    MtuProbing, SendQueueRule, ServerFastOpen, SlowStart, SpuriousLoss, Version,
};
use mptcp_clock::Duration;

use super::check;
use super::hosts::server_address;
use super::link::Link;
use super::scenario::Scenario;

/// Fails to compile if a setting is new; add it to the list below.
fn named(config: Config) {
    let Config {
        multipath: _,
        version: _,
        checksum: _,
        wide_data_acks: _,
        congestion: _,
        coupling: _,
        send_queue_rule: _,
        scheduler: _,
        path_manager: _,
        mechanisms: _,
        receive_buffer: _,
        receive_block: _,
        send_buffer: _,
        mss: _,
        sack: _,
        timestamps: _,
        rack: _,
        spurious_loss: _,
        restart_after_idle: _,
        mtu_probing: _,
        ecn: _,
        abe: _,
        byte_counting: _,
        delayed_ack: _,
        nagle: _,
        min_rto: _,
        initial_window: _,
        initial_ssthresh: _,
        slow_start: _,
        pacing: _,
        min_paced_rtt: _,
        small_queues: _,
        interfaces: _,
        backups: _,
        max_subflows: _,
        join_initial_address: _,
        join_probation: _,
        announce: _,
        announce_timeout: _,
        close_timeout: _,
        keepalive: _,
        user_timeout: _,
        notsent_lowat: _,
        syn_retries: _,
        syn_cookies: _,
        fast_open: _,
        linux_compat: _,
        linux_stack: _,
    } = config;
}

type Change = fn(&mut Config);

const SETTINGS: &[(&str, Change)] = &[
    ("nothing", |_| ()),
    ("multipath", |c| c.multipath = false),
    ("version", |c| c.version = Version::V0),
    ("checksum", |c| c.checksum = true),
    ("version and checksum", |c| (c.version, c.checksum) = (Version::V0, true)),
    ("wide_data_acks", |c| c.wide_data_acks = false),
    ("congestion", |c| c.congestion = Cubic::default().into()),
    ("coupling", |c| c.coupling = CouplingScope::All),
    ("send_queue_rule", |c| c.send_queue_rule = Some(SendQueueRule::Linked)),
    ("scheduler", |c| c.scheduler = RoundRobin::default().into()),
    ("path_manager", |c| c.path_manager = NdiffPorts { subflows: 3 }.into()),
    ("mechanisms", |c| c.mechanisms = Mechanisms { autotuning: true, ..c.mechanisms }),
    ("receive_buffer", |c| c.receive_buffer = 30_000),
    ("receive_block", |c| c.receive_block = 0),
    ("receive_block, small", |c| (c.receive_block, c.receive_buffer) = (4 << 10, 60_000)),
    ("send_buffer", |c| c.send_buffer = 30_000),
    ("mss", |c| c.mss = 700),
    ("mss, tiny", |c| c.mss = 100),
    ("mss, jumbo", |c| c.mss = 8960),
    ("sack", |c| c.sack = false),
    ("timestamps", |c| c.timestamps = false),
    ("rack", |c| c.rack = false),
    ("spurious_loss", |c| c.spurious_loss = Some(SpuriousLoss::LINUX)),
    ("restart_after_idle", |c| c.restart_after_idle = Some(true)),
    ("mtu_probing", |c| c.mtu_probing = MtuProbing::On),
    ("ecn", |c| c.ecn = Some(Ecn::On)),
    ("ecn, passive", |c| c.ecn = Some(Ecn::Passive)),
    ("abe", |c| (c.ecn, c.abe) = (Some(Ecn::On), true)),
    ("byte_counting", |c| c.byte_counting = false),
    ("delayed_ack", |c| c.delayed_ack = false),
    ("nagle", |c| c.nagle = false),
    ("min_rto", |c| c.min_rto = Duration::from_millis(5)),
    ("initial_window", |c| c.initial_window = 3),
    ("initial_window, one", |c| c.initial_window = 1),
    ("initial_ssthresh", |c| c.initial_ssthresh = Some(20_000)),
    ("slow_start", |c| c.slow_start = SlowStart::HyStartPlusPlus),
    ("pacing", |c| c.pacing = false),
    ("small_queues", |c| c.small_queues = Some(6000)),
    ("interfaces", |c| c.interfaces = Some(vec![InterfaceId(0)])),
    ("backups", |c| c.backups = vec![InterfaceId(1)]),
    ("backups, the first", |c| c.backups = vec![InterfaceId(0)]),
    ("max_subflows", |c| c.max_subflows = 0),
    ("join_initial_address", |c| c.join_initial_address = false),
    ("join_probation", |c| c.join_probation = Some(mptcp::JOIN_PROBATION)),
    ("announce, nothing", |c| c.announce = Some(Vec::new())),
    ("announce", |c| c.announce = Some(vec![Announced { id: 9, address: server_address(0, false) }])),
    ("announce_timeout", |c| c.announce_timeout = Duration::from_millis(50)),
    ("close_timeout", |c| c.close_timeout = Duration::from_secs(2)),
    ("keepalive", |c| {
        let (idle, interval) = (Duration::from_millis(30), Duration::from_millis(20));
        c.keepalive = Some(Keepalive { idle, interval, probes: 40 });
    }),
    ("user_timeout", |c| c.user_timeout = Some(Duration::from_secs(5))),
    ("notsent_lowat", |c| c.notsent_lowat = Some(10_000)),
    ("syn_retries", |c| c.syn_retries = 1),
    ("syn_cookies", |c| c.syn_cookies = false),
    ("fast_open", |c| {
        c.fast_open = Some(ServerFastOpen { key: [1, 2], old_key: None, cookies: true });
    }),
    ("early_announcements", |c| c.linux_compat.early_announcements = true),
    ("quiet_after_handshake", |c| c.linux_compat.quiet_after_handshake = true),
    ("echo_before_join", |c| c.linux_compat.echo_before_join = true),
    ("acknowledge_before_fin", |c| c.linux_compat.acknowledge_before_fin = true),
    ("plain_time_wait", |c| c.linux_compat.plain_time_wait = true),
    ("data_fin_everywhere", |c| c.linux_compat.data_fin_everywhere = true),
    ("quick_data_fin", |c| c.linux_compat.quick_data_fin = true),
    ("minshall", |c| c.linux_compat.minshall = true),
    ("push_where_writes_end", |c| c.linux_compat.push_where_writes_end = true),
    ("fin_with_data", |c| (c.linux_compat.fin_with_data, c.multipath) = (true, false)),
    ("steady_join_ack", |c| c.linux_compat.steady_join_ack = true),
    ("window_use_by_round", |c| c.linux_compat.cwnd_limited_per_round = true),
    ("linux_compat", |c| c.linux_compat = LinuxCompat::LINUX),
    ("subflow_queues", |c| c.linux_stack.subflow_queues = true),
    ("buffer_memory", |c| c.linux_stack.buffer_memory = true),
    ("data_level_timer", |c| (c.linux_stack.subflow_queues, c.linux_stack.data_level_timer) = (true, true)),
    ("silent_path_probe", |c| c.linux_stack.failed_path_probe = None),
    ("blackhole_timeout", |c| c.linux_stack.blackhole_timeout = Some(Duration::from_secs(5))),
    ("linux_stack", |c| c.linux_stack = LinuxStack::LINUX),
    ("min_paced_rtt", |c| c.min_paced_rtt = Duration::from_secs(3600)),
];

#[test]
fn settings_match_the_record() {
    named(Config::default());
    let mut all = Vec::new();
    for (name, change) in SETTINGS {
        let mut config = Config::default();
        change(&mut config);
        let near = Link::new(10, 1000, 30).loss(0.01);
        let links = [near.clone(), Link { departures: true, ..Link::new(25, 1000, 60) }];
        let client = || Scenario::new(format!("{name}, both"), config.clone(), &links);
        all.push(client().up(180_000).down(90_000).servers(&[false, false]).seed(3));
        let mixed = Scenario::new(format!("{name}, the client's, blocks and a rest"), config.clone(), &links);
        let mixed = mixed.server(Config::default()).up(120_000).blocks(9_000, 35).down(20_000);
        all.push(mixed.at(150, |w| w.links[0].dead = true).at(900, |w| w.links[0].dead = false));
        let marking = [near.marks(6), Link::new(25, 1000, 60).marks(10).reorder(0.02, 9).duplicate(0.02)];
        let there = Scenario::new(format!("{name}, the server's"), Config::default(), &marking);
        all.push(there.server(config).up(40_000).down(200_000).servers(&[false, false]).unobserved());
    }
    check("settings", all);
}
