//! What an application writes as it goes, on a path that carries all of it and loses now and then: more of `never_slower`.

use mptcp_lab::scenario::Scenario;
use mptcp_lab::world::World;

use crate::never_slower::{Path, latest_blocks_of, network};

/// The 99th percentile of blocks over that of TCP on a path, and the same with `keys`.
fn of_tcp(paths: &[Path], buffer: u64, rate: &str, best: &str, keys: &str, seeds: u64) -> (f64, f64) {
    let of = |keys: &str| latest_blocks_of(paths, buffer, rate, keys, seeds);
    let tcp = of(&format!("transport = \"tcp\"\npaths = [\"{best}\"]"));
    (of("") / tcp, of(keys) / tcp)
}

#[test]
fn an_answer_that_waits_for_a_second_segment_is_no_loss() {
    // Of six segments in 4 ms the last is answered with the next block; that was longer than answers take, and it went again on three far
    // paths, two bytes for each five.
    let paths: [Path; 4] = [
        (28_317, 40_231, "43p", "loss = \"0.227%\""),
        (3_091, 125_955, "54p", ""),
        (2_932, 205_874, "22p", ""),
        (46_185, 7_818, "10p", "loss = \"0.125%\""),
    ];
    let text = network("duration = \"20s\"\n", &paths)
        + "[flows.f]\nblocks = \"8KiB\"\nrate = \"16Mbit\"\nautotuning = true\n";
    let scenario = Scenario::parse(&text, "network").unwrap_or_else(|e| panic!("{e}"));
    let run = World::new(&scenario, 1).expect("a network").run().expect("it comes to its end");
    let (again, all) = (run.flows[0].opportunistic, 20 * 2_000_000);
    assert!(again < all / 20, "{again} of {all} bytes went again");
}

#[test]
fn a_path_that_carries_all_of_a_stream_grows_as_tcp_s_does() {
    // It loses one in 160. Two others have windows that they hardly use, and it grew by what all of them come to: 1.4 times as long.
    let paths = [
        (5_064, 177_611, "139p", ""),
        (83_039, 5_933, "189p", "loss = \"1.513%\""),
        (76_911, 5_058, "20p", "loss = \"0.628%\""),
        (2_162, 7_877, "10p", ""),
    ];
    let (took, as_in_the_rfc) = of_tcp(&paths, 703_851, "16Mbit", "p2", "coupled = \"all\"", 12);
    assert!(took < 1.02 && as_in_the_rfc > 1.2, "{took:.2}, {as_in_the_rfc:.2}");
}

#[test]
fn what_losses_cost_is_no_reason_to_bring_a_part_of_it_late() {
    // The line of 1.2 Mb/s got as much as came no later than a repair would, block after block: 1.25 and 1.3 times as long.
    let paths = [(1_171, 8_299, "10p", ""), (21_685, 16_434, "93p", "loss = \"0.573%\"")];
    let (took, _) = of_tcp(&paths, 1_571_767, "4Mbit", "p1", "", 20);
    assert!(took < 0.95, "{took:.2}");
}

#[test]
fn three_losses_in_a_row_are_chance() {
    // Then it seemed to carry no more than others leave, and parts of a block went on a path of 51 ms: 1.15 times as long.
    let paths = [
        (97_798, 6_749, "175p", "loss = \"0.224%\""),
        (4_299, 51_043, "33p", "loss = \"0.153%\""),
        (3_994, 132_847, "96p", ""),
    ];
    let (took, _) = of_tcp(&paths, 1_868_136, "16Mbit", "p0", "", 20);
    assert!(took < 1.05, "{took:.2}");
    // It was 1.01 while M1 kept the other paths full with copies, and 1.4 without these.
    let paths = [
        (4_447, 127_186, "21p", ""),
        (44_840, 5_084, "23p", "loss = \"0.212%\""),
        (60_140, 85_570, "975p", "loss = \"0.484%\""),
        (2_602, 9_893, "10p", ""),
    ];
    let (took, _) = of_tcp(&paths, 4_000_000, "16Mbit", "p1", "", 20);
    assert!(took < 1.02, "{took:.2}");
}
