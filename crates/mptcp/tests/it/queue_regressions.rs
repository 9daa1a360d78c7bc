//! Minimal sequences of operations that once failed with Linux's subflow queues, found by random operations.

use crate::random_operations::{Operation, Path, Side, Strip};
use crate::regressions::{Case, advance, bare, both, drop_at, path, plain_mechanisms, write};
use mptcp::congestion::{Bbr, Reno};
use mptcp::path_manager::NdiffPorts;
use mptcp::scheduler::RoundRobin;
use mptcp::{Config, LinuxCompat, LinuxStack, Mechanisms, SpuriousLoss};

/// The subflow queues without the other features of Linux's stack.
fn queues() -> LinuxStack {
    LinuxStack { subflow_queues: true, ..LinuxStack::default() }
}

/// Settings without random features.
fn drawn() -> Config {
    Config { restart_after_idle: None, small_queues: None, byte_counting: false, ..bare() }
}

/// Data to be retransmitted after a DATA_FIN does not stop the retransmission of the DATA_FIN.
#[test]
fn lost_data_fin_is_retransmitted_after_retransmitted_data() {
    let side = Config {
        sack: true,
        timestamps: false,
        spurious_loss: Some(SpuriousLoss { undo: false, frto: true }),
        pacing: true,
        ..drawn()
    };
    let client = Config {
        congestion: Bbr::default().into(),
        linux_stack: queues(),
        receive_buffer: 25_632,
        send_buffer: 57_181,
        initial_window: 5,
        max_subflows: 2,
        ..side.clone()
    };
    let server = Config {
        congestion: Reno.into(),
        checksum: true,
        mechanisms: Mechanisms { opportunistic_retransmission: true, ..plain_mechanisms() },
        receive_buffer: 81_218,
        send_buffer: 40_755,
        initial_window: 12,
        max_subflows: 1,
        ..side
    };
    let from_server = |bytes| Operation::Write { side: Side::Server, bytes };
    Case {
        seed: 2_548_959_761_964_224_763,
        ends: [client, server],
        paths: vec![path(66), Path { loss_percent: 16, ..path(0) }, path(0)],
        operations: &[
            from_server(6990),
            Operation::Duplicate { at: 0 },
            advance(1),
            Operation::Step,
            Operation::Step,
            Operation::Delay { at: 42_056, ms: 68 },
            Operation::Delay { at: 0, ms: 68 },
            Operation::Duplicate { at: 0 },
            from_server(14_486),
            advance(1),
            Operation::Step,
            Operation::Step,
            drop_at(31_291),
            Operation::Backup { side: Side::Client, path: 34, backup: true },
            from_server(65),
            advance(0),
            Operation::Join { at: 12_360 },
            advance(0),
            advance(0),
            advance(0),
            advance(864),
            write(33_029),
            Operation::Step,
            Operation::Delay { at: 39_922, ms: 201 },
            advance(1),
            Operation::Close { side: Side::Client },
        ],
    }
    .check();
}

/// After a failed join, data is not reinjected to a peer that has fallen back, which would read it twice.
#[test]
fn nothing_is_reinjected_if_options_are_stripped() {
    let side = Config {
        max_subflows: 1,
        linux_compat: LinuxCompat { data_fin_everywhere: true, ..LinuxCompat::default() },
        linux_stack: LinuxStack { data_level_timer: true, ..queues() },
        initial_window: 2,
        receive_buffer: 2000,
        send_buffer: 2000,
        ..bare()
    };
    Case {
        seed: 5_903_132_965_631_100,
        ends: both(side),
        paths: vec![path(79), path(143)],
        operations: &[
            advance(500),
            drop_at(0),
            write(1),
            write(1),
            Operation::Join { at: 6206 },
            advance(144),
        ],
    }
    .check();
}

/// Data is not reinjected on its own subflow because of late acknowledgements.
#[test]
fn slow_subflow_does_not_get_its_own_data_again() {
    let side = Config {
        congestion: mptcp::congestion::LinuxCubic::default().into(),
        scheduler: mptcp::scheduler::Linux::default().into(),
        max_subflows: 0,
        mechanisms: Mechanisms { autotuning: true, ..plain_mechanisms() },
        linux_compat: LinuxCompat {
            plain_time_wait: true,
            minshall: true,
            fin_with_data: true,
            ..LinuxCompat::default()
        },
        linux_stack: queues(),
        wide_data_acks: true,
        receive_buffer: 84_872,
        send_buffer: 71_279,
        mss: 1329,
        rack: true,
        delayed_ack: true,
        nagle: true,
        initial_window: 16,
        pacing: true,
        spurious_loss: Some(SpuriousLoss { undo: false, frto: false }),
        ..drawn()
    };
    Case {
        seed: 15_855_678_494_473_720_331,
        ends: both(side),
        paths: vec![Path { loss_percent: 9, rate: 11_545_733, queue_ms: 15, ..path(49) }],
        operations: &[
            write(123_735),
            Operation::Step,
            Operation::Step,
            write(17_650),
            advance(30),
            advance(4336),
            Operation::Write { side: Side::Server, bytes: 2579 },
            Operation::Join { at: 29_795 },
        ],
    }
    .check();
}
/// The peer fell back, and its notification is slower than the reset of a join.
#[test]
fn failed_join_causes_no_reinjection() {
    let side = Config {
        max_subflows: 1,
        linux_compat: LinuxCompat { data_fin_everywhere: true, ..LinuxCompat::default() },
        linux_stack: LinuxStack { data_level_timer: true, buffer_memory: true, ..queues() },
        receive_buffer: 6433,
        send_buffer: 3984,
        mss: 638,
        sack: true,
        timestamps: false,
        initial_window: 11,
        pacing: true,
        spurious_loss: Some(SpuriousLoss { undo: false, frto: true }),
        ..drawn()
    };
    Case {
        seed: 9_520_013_407_421_030_665,
        ends: both(side),
        paths: vec![Path { loss_percent: 6, ..path(152) }, Path { jitter_us: 13_963, ..path(94) }],
        operations: &[
            drop_at(0),
            advance(1497),
            write(6141),
            Operation::Delay { at: 45, ms: 153 },
            Operation::Write { side: Side::Server, bytes: 1 },
            Operation::Join { at: 807 },
            Operation::Corrupt { at: 900, position: 0, bit: 0 },
            advance(0),
        ],
    }
    .check();
}

/// Options of joins and data are stripped: a SYN/ACK without options must not cause reinjection.
#[test]
fn join_answered_as_tcp_causes_no_reinjection() {
    let small = Config { receive_buffer: 2000, send_buffer: 2000, initial_window: 1, ..bare() };
    let client = Config {
        path_manager: NdiffPorts { subflows: 3 }.into(),
        max_subflows: 2,
        linux_stack: LinuxStack { data_level_timer: true, ..queues() },
        ..small.clone()
    };
    let what = Strip { syn: [true, false], other: [true, false] };
    Case {
        seed: 263_978_622_165_919_099,
        ends: [client, Config { max_subflows: 0, ..small }],
        paths: vec![path(0)],
        operations: &[
            write(719),
            advance(1),
            advance(0),
            Operation::Strip { path: 0, what },
            Operation::Interface { side: Side::Client, path: 0, up: true },
            write(1),
            advance(0),
        ],
    }
    .check();
}
/// No other subflow existed when the subflow ended.
#[test]
fn data_of_a_dead_subflow_is_reinjected_on_the_next() {
    let side = Config {
        congestion: mptcp::congestion::Bbr3::default().into(),
        scheduler: mptcp::scheduler::Linux::default().into(),
        max_subflows: 1,
        wide_data_acks: true,
        linux_compat: LinuxCompat { push_where_writes_end: true, ..LinuxCompat::default() },
        linux_stack: LinuxStack { failed_path_probe: Some(mptcp_clock::Duration::from_secs(1)), ..queues() },
        restart_after_idle: None,
        small_queues: None,
        receive_buffer: 20_000,
        send_buffer: 20_000,
        mss: 253,
        sack: true,
        rack: true,
        nagle: true,
        ecn: Some(mptcp::Ecn::On),
        initial_window: 6,
        pacing: true,
        byte_counting: false,
        spurious_loss: Some(SpuriousLoss { undo: true, frto: true }),
        ..Config::default()
    };
    let side = Config { mechanisms: plain_mechanisms(), delayed_ack: false, ..side };
    let server = |bytes| Operation::Write { side: Side::Server, bytes };
    Case {
        seed: 13_755_085_771_306_007_135,
        ends: both(side),
        paths: vec![
            Path { loss_percent: 1, ..path(121) },
            Path { jitter_us: 1, loss_percent: 36, ..path(72) },
        ],
        operations: &[
            advance(1),
            advance(121),
            write(1),
            Operation::Step,
            Operation::Duplicate { at: 0 },
            advance(1),
            server(1),
            Operation::Delay { at: 0, ms: 0 },
            write(20_000),
            server(9271),
            Operation::Interface { side: Side::Client, path: 36, up: false },
            server(315),
            advance(15_145),
            Operation::Step,
            Operation::Step,
            advance(62),
            advance(11),
            Operation::Step,
            server(1),
            Operation::Backup { side: Side::Client, path: 187, backup: true },
        ],
    }
    .check();
}

/// A scheduler that prefers to wait while nothing is in flight must not stop window probes.
#[test]
fn closed_window_is_probed_regardless_of_the_scheduler() {
    let side = Config {
        initial_window: 2,
        pacing: false,
        timestamps: false,
        spurious_loss: Some(SpuriousLoss { undo: false, frto: false }),
        ..drawn()
    };
    let client = Config {
        receive_buffer: 2000,
        send_buffer: 2324,
        max_subflows: 2,
        linux_stack: queues(),
        ..side.clone()
    };
    let server = Config {
        receive_buffer: 2272,
        send_buffer: 2000,
        max_subflows: 1,
        scheduler: RoundRobin::default().into(),
        ..side
    };
    Case {
        seed: 141_970_801_837_978_274,
        ends: [client, server],
        paths: vec![
            Path { jitter_us: 15_156, rate: 10_869_408, ..path(21) },
            Path { rate: 2_185_426, ..path(24) },
            path(27),
        ],
        operations: &[
            Operation::Step,
            Operation::Duplicate { at: 0 },
            advance(1),
            write(9153),
            advance(289),
            write(13_161),
            Operation::Duplicate { at: 877 },
            Operation::Step,
            advance(412),
            advance(8),
            Operation::Step,
            Operation::Corrupt { at: 5830, position: 0, bit: 0 },
            drop_at(9637),
            advance(0),
        ],
    }
    .check();
}

/// Data queued under the window of the data level is sent only within TCP's window.
#[test]
fn data_queued_before_a_fallback_waits_for_the_tcp_window() {
    let side = Config {
        congestion: Bbr::default().into(),
        linux_compat: LinuxCompat {
            plain_time_wait: true,
            cwnd_limited_per_round: true,
            ..LinuxCompat::default()
        },
        linux_stack: LinuxStack {
            buffer_memory: true,
            failed_path_probe: Some(mptcp_clock::Duration::from_secs(1)),
            ..queues()
        },
        spurious_loss: Some(SpuriousLoss { undo: false, frto: false }),
        receive_buffer: 4277,
        send_buffer: 2000,
        initial_window: 7,
        max_subflows: 0,
        pacing: false,
        mechanisms: Mechanisms { autotuning: true, ..plain_mechanisms() },
        ..drawn()
    };
    Case {
        seed: 0,
        ends: both(side),
        paths: vec![Path { rate: 727_112, queue_ms: 31, ..path(93) }],
        operations: &[
            Operation::Duplicate { at: 0 },
            write(4273),
            drop_at(4406),
            advance(297),
            Operation::Write { side: Side::Server, bytes: 4277 },
            Operation::Join { at: 4135 },
            advance(0),
        ],
    }
    .check();
}
