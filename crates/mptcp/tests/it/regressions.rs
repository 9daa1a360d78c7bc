//! Minimal sequences of operations that once failed, found by random operations.

use crate::random_operations::{Gso, Operation, OperationRunner, Path, Settings, Side, Strip};
use mptcp::congestion::{Lia, Reno};
use mptcp::path_manager::NdiffPorts;
use mptcp::{Config, LinuxStack, Mechanisms};

pub(crate) fn path(delay_ms: u16) -> Path {
    Path { delay_ms, jitter_us: 0, loss_percent: 0, rate: 1_000_000_000, queue_ms: 10 }
}

pub(crate) fn plain_mechanisms() -> Mechanisms {
    Mechanisms {
        opportunistic_retransmission: false,
        penalisation: false,
        autotuning: false,
        cwnd_capping: false,
        ..Mechanisms::default()
    }
}

/// Settings without optional features.
pub(crate) fn bare() -> Config {
    Config {
        congestion: Reno.into(),
        mechanisms: plain_mechanisms(),
        sack: false,
        rack: false,
        delayed_ack: false,
        nagle: false,
        ..Config::default()
    }
}

/// Settings with small buffers.
fn small() -> Config {
    let config = Config { timestamps: false, initial_window: 1, max_subflows: 0, ..bare() };
    Config { receive_buffer: 2000, send_buffer: 2000, ..config }
}

/// A case of random operations.
pub(crate) struct Case<'a> {
    /// Seed of the keys, the sequence numbers and the random losses.
    pub(crate) seed: u64,
    /// Settings of the client and of the server.
    pub(crate) ends: [Config; 2],
    pub(crate) paths: Vec<Path>,
    pub(crate) operations: &'a [Operation],
}

impl Case<'_> {
    /// Executes the operations and checks all invariants.
    pub(crate) fn check(self) {
        let Self { seed, ends: [client, server], paths, operations } = self;
        let mut runner = OperationRunner::new(&Settings { seed, client, server, paths, gso: Gso::default() });
        operations.iter().for_each(|operation| runner.execute(operation));
        runner.finish();
    }
}

/// The same settings for both ends.
pub(crate) fn both(config: Config) -> [Config; 2] {
    [config.clone(), config]
}

pub(crate) fn write(bytes: u32) -> Operation {
    Operation::Write { side: Side::Client, bytes }
}

pub(crate) fn advance(ms: u32) -> Operation {
    Operation::Advance { ms }
}

fn dead() -> Path {
    Path { loss_percent: 100, ..path(0) }
}

pub(crate) fn drop_at(at: u16) -> Operation {
    Operation::Drop { at }
}

#[test]
fn fin_without_options_ends_the_stream_if_the_peer_fell_back() {
    let config = Config { checksum: true, sack: true, timestamps: false, initial_window: 4, ..bare() };
    Case {
        seed: 49_508_106,
        ends: both(Config { receive_buffer: 200_000, send_buffer: 25_960, ..config }),
        paths: vec![path(125)],
        operations: &[
            drop_at(0),
            Operation::Close { side: Side::Server },
            advance(0),
            drop_at(0),
            Operation::Step,
            advance(126),
            write(25_849),
            Operation::Step,
            Operation::Delay { at: 0, ms: 1 },
            Operation::Step,
            Operation::Delay { at: 0, ms: 0 },
            Operation::Corrupt { at: 4710, position: 41_742, bit: 0 },
        ],
    }
    .check();
}

#[test]
fn server_without_subflows_times_out_after_its_interface_returns() {
    let path = Path { jitter_us: 6055, ..path(9) };
    let server = Config { receive_buffer: 5531, ..small() };
    Case {
        seed: 0,
        ends: [small(), server],
        paths: vec![path],
        operations: &[
            Operation::Close { side: Side::Client },
            advance(38),
            Operation::Interface { side: Side::Server, path: 0, up: false },
            advance(0),
        ],
    }
    .check();
}

#[test]
fn no_reinjection_on_a_subflow_whose_peer_has_fallen_back() {
    let client = Config { send_buffer: 2848, initial_window: 2, timestamps: true, ..small() };
    let server = Config { checksum: true, receive_buffer: 2847, timestamps: true, ..small() };
    Case {
        seed: 9_092_389_636_094,
        ends: [client, server],
        paths: vec![Path { jitter_us: 12_189, ..path(127) }],
        operations: &[
            Operation::Path { path: 0, to: path(62) },
            write(1425),
            advance(196),
            Operation::Step,
            Operation::Corrupt { at: 29_472, position: 134, bit: 0 },
            Operation::Duplicate { at: 0 },
            Operation::Path { path: 0, to: dead() },
            advance(954),
            Operation::Path { path: 0, to: path(0) },
            advance(1000),
        ],
    }
    .check();
}

#[test]
fn fallback_counts_data_acknowledged_on_the_subflow() {
    let config =
        Config { checksum: true, receive_buffer: 6964, send_buffer: 2873, initial_window: 3, ..small() };
    Case {
        seed: 3_421_457_357_307_949_107,
        ends: both(Config { congestion: Lia.into(), max_subflows: 1, ..config }),
        paths: vec![path(3), path(53)],
        operations: &[
            Operation::Path { path: 14, to: path(160) },
            advance(4),
            Operation::Corrupt { at: 0, position: 0, bit: 0 },
            Operation::Step,
            advance(4),
            Operation::Path { path: 30, to: Path { jitter_us: 14_690, ..path(105) } },
            Operation::Write { side: Side::Server, bytes: 2874 },
            Operation::Delay { at: 6325, ms: 266 },
            write(2873),
            Operation::Step,
            advance(220),
            Operation::Interface { side: Side::Client, path: 103, up: false },
            Operation::Step,
            Operation::Step,
            Operation::Path { path: 20, to: dead() },
            Operation::Corrupt { at: 7599, position: 11_136, bit: 0 },
            advance(106),
        ],
    }
    .check();
}

#[test]
fn pending_join_does_not_lose_the_end_of_stream_in_a_fallback() {
    let config =
        Config { receive_buffer: 8544, send_buffer: 7121, sack: true, rack: true, nagle: true, ..bare() };
    let lossy = |ms| Path { loss_percent: 1, ..path(ms) };
    Case {
        seed: 7_218_272_347_132_686_661,
        ends: both(Config { timestamps: true, initial_window: 4, max_subflows: 2, ..config }),
        paths: vec![Path { jitter_us: 15_606, ..lossy(88) }, lossy(179), path(0)],
        operations: &[
            Operation::Path { path: 2, to: lossy(98) },
            Operation::Delay { at: 0, ms: 185 },
            write(8545),
            advance(637),
            Operation::Interface { side: Side::Client, path: 140, up: false },
            drop_at(13_645),
            Operation::Close { side: Side::Server },
            advance(32),
            Operation::Duplicate { at: 78 },
            Operation::Duplicate { at: 259 },
            Operation::Join { at: 39 },
            advance(63),
            advance(1),
            advance(0),
        ],
    }
    .check();
}

#[test]
fn data_fin_with_a_stripped_acknowledgement_becomes_a_fin() {
    let what = Strip { syn: [false, false], other: [false, true] };
    Case {
        seed: 0,
        ends: both(small()),
        paths: vec![path(0)],
        operations: &[advance(1), Operation::Strip { path: 0, what }],
    }
    .check();
}

#[test]
fn old_segment_with_options_does_not_hide_stripping() {
    let what = Strip { syn: [false, false], other: [true, false] };
    Case {
        seed: 0,
        ends: both(Config { receive_buffer: 2039, ..small() }),
        paths: vec![path(0)],
        operations: &[
            Operation::Split { at: 0, position: 0 },
            advance(1),
            drop_at(0),
            write(1437),
            Operation::Step,
            Operation::Strip { path: 0, what },
            Operation::Step,
            Operation::Duplicate { at: 2465 },
            advance(0),
            advance(400),
            advance(1),
        ],
    }
    .check();
}

#[test]
fn subflow_with_stripped_acknowledgements_ends_if_others_exist() {
    let config = Config { max_subflows: 1, ..small() };
    let server = Config { receive_buffer: 3999, ..config.clone() };
    let what = Strip { syn: [false, false], other: [false, true] };
    Case {
        seed: 217_458_874_454_041,
        ends: [config, server],
        paths: vec![path(0), path(0)],
        operations: &[
            write(1),
            advance(1),
            Operation::Strip { path: 0, what },
            Operation::Step,
            write(28_001),
        ],
    }
    .check();
}

#[test]
fn data_acks_stripped_on_all_subflows_end_the_connection() {
    let client = Config { path_manager: NdiffPorts { subflows: 2 }.into(), max_subflows: 1, ..small() };
    let server = Config { initial_window: 2, max_subflows: 1, ..small() };
    let what = Strip { syn: [false, false], other: [false, true] };
    Case {
        seed: 0,
        ends: [client, server],
        paths: vec![path(0)],
        operations: &[
            Operation::Close { side: Side::Server },
            advance(1),
            Operation::Strip { path: 0, what },
            write(2001),
        ],
    }
    .check();
}

#[test]
fn no_fallback_after_a_second_subflow_was_open() {
    let config = Config { receive_buffer: 35_600, send_buffer: 200_000, initial_window: 3, ..bare() };
    Case {
        seed: 0,
        ends: both(Config { timestamps: true, max_subflows: 2, ..config }),
        paths: vec![path(40), dead(), path(41)],
        operations: &[
            write(1),
            advance(1000),
            Operation::Write { side: Side::Server, bytes: 20_000 },
            Operation::Close { side: Side::Client },
            Operation::Interface { side: Side::Client, path: 80, up: false },
            Operation::Join { at: 36_522 },
            advance(0),
        ],
    }
    .check();
}

#[test]
fn impossible_fallback_resets_before_data_is_repeated() {
    let config = Config { receive_buffer: 4308, send_buffer: 2873, sack: true, rack: true, ..bare() };
    let what = Strip { syn: [false, false], other: [true, false] };
    Case {
        seed: 3_446_917_926_863_056_891,
        ends: both(Config { timestamps: false, initial_window: 3, max_subflows: 2, ..config }),
        paths: vec![path(3), path(56), path(56)],
        operations: &[
            write(5747),
            advance(7),
            Operation::Path { path: 33, to: path(56) },
            Operation::Strip { path: 189, what },
            advance(0),
        ],
    }
    .check();
}

#[test]
fn partially_acknowledged_chunk_stays_in_flight() {
    let client = Config { receive_buffer: 20_000, ..small() };
    let server = Config { receive_buffer: 2564, send_buffer: 20_000, ..small() };
    Case {
        seed: 0,
        ends: [client, server],
        paths: vec![path(0), path(0)],
        operations: &[
            Operation::Path { path: 92, to: path(10) },
            Operation::Write { side: Side::Server, bytes: 14_361 },
            advance(101),
            Operation::Write { side: Side::Server, bytes: 10_053 },
            write(1),
            advance(10),
            Operation::Split { at: 37_901, position: 0 },
            Operation::Close { side: Side::Server },
            Operation::Duplicate { at: 0 },
            Operation::Corrupt { at: 507, position: 0, bit: 0 },
            Operation::Join { at: 15_887 },
            advance(12),
            drop_at(24_565),
            Operation::Path { path: 62, to: Path { rate: 100_000, ..path(104) } },
        ],
    }
    .check();
}

#[test]
fn late_window_without_a_data_ack_is_not_applied_to_the_latest_one() {
    let config = Config { checksum: true, receive_buffer: 2824, nagle: true, ..small() };
    Case {
        seed: 197_905_874_136,
        ends: both(config),
        paths: vec![path(0), path(0), path(0)],
        operations: &[
            Operation::Path { path: 120, to: Path { rate: 100_000, ..path(62) } },
            advance(134),
            Operation::Write { side: Side::Server, bytes: 1 },
            Operation::Duplicate { at: 0 },
            write(1),
            Operation::Interface { side: Side::Client, path: 4, up: false },
            Operation::Path { path: 189, to: path(0) },
            advance(72),
            write(1),
            Operation::Corrupt { at: 0, position: 43_934, bit: 0 },
            Operation::Write { side: Side::Server, bytes: 2824 },
            advance(1),
        ],
    }
    .check();
}

#[test]
fn closed_window_opens_although_updates_lose_their_options() {
    let config = Config { receive_buffer: 7120, send_buffer: 5696, delayed_ack: true, ..bare() };
    let what = Strip { syn: [false, false], other: [false, true] };
    Case {
        seed: 0,
        ends: both(Config { timestamps: true, initial_window: 3, max_subflows: 0, ..config }),
        paths: vec![path(13)],
        operations: &[
            Operation::Write { side: Side::Server, bytes: 7121 },
            Operation::Step,
            Operation::Pause { side: Side::Client, paused: true },
            Operation::Step,
            advance(40),
            Operation::Strip { path: 0, what },
            write(1),
            advance(453),
        ],
    }
    .check();
}

/// A low pacing rate must not persist after the path has become faster.
#[test]
fn pacing_rate_recovers_after_a_decrease() {
    let config = Config {
        multipath: false,
        congestion: mptcp::congestion::Bbr3::default().into(),
        receive_buffer: 31_856,
        send_buffer: 20_000,
        timestamps: false,
        max_subflows: 0,
        ..bare()
    };
    Case {
        seed: 0,
        ends: both(config),
        paths: vec![path(88)],
        operations: &[
            advance(265),
            Operation::Path { path: 0, to: path(16) },
            write(20_441),
            Operation::Drop { at: 0 },
            Operation::Step,
            Operation::Step,
            Operation::Step,
            Operation::Split { at: 3443, position: 0 },
            Operation::Step,
            Operation::Step,
            Operation::Corrupt { at: 126, position: 0, bit: 0 },
            advance(0),
            Operation::Drop { at: 54_950 },
            Operation::Step,
            Operation::Step,
            Operation::Join { at: 48_573 },
            Operation::Drop { at: 1732 },
            Operation::Split { at: 0, position: 0 },
            advance(0),
            advance(0),
        ],
    }
    .check();
}

/// The window of a SYN/ACK is not scaled.
#[test]
fn window_of_a_retransmitted_syn_ack_is_not_used_after_a_fallback() {
    let client = Config {
        receive_buffer: 20_000,
        linux_stack: LinuxStack { buffer_memory: true, ..LinuxStack::default() },
        initial_window: 2,
        ..small()
    };
    let server = Config {
        receive_buffer: 2871,
        send_buffer: 7161,
        initial_window: 6,
        wide_data_acks: true,
        ..small()
    };
    Case {
        seed: 0,
        ends: [client, server],
        paths: vec![path(62)],
        operations: &[
            Operation::Write { side: Side::Server, bytes: 7161 },
            Operation::Step,
            write(4308),
            Operation::Step,
            Operation::Step,
            Operation::Join { at: 22_938 },
            Operation::Duplicate { at: 0 },
            Operation::Step,
            Operation::Delay { at: 2121, ms: 63 },
            Operation::Duplicate { at: 49_022 },
            drop_at(462),
            advance(0),
            advance(0),
        ],
    }
    .check();
}
