//! What of a stream has a copy on a second path before anything is late, and who may lose the little that it carries: more of `never_slower`.

use mptcp_lab::scenario::Scenario;
use mptcp_lab::world::World;

use crate::never_slower::{Path, latest_blocks_of};

const ALONE: &str = "scheduler = { kind = \"ontime\", copies = false }";

/// The 99th percentile of blocks over that of TCP on a path, with copies and without.
fn of_tcp(paths: &[Path], buffer: u64, rate: &str, best: &str) -> (f64, f64) {
    let of = |keys: &str| latest_blocks_of(paths, buffer, rate, keys, 12);
    let tcp = of(&format!("transport = \"tcp\"\npaths = [\"{best}\"]"));
    (of("") / tcp, of(ALONE) / tcp)
}

#[test]
fn blocks_wait_no_longer_than_the_second_path_takes() {
    // A repair takes 120 ms on the first path and five blocks or six wait for it; the second one is there in 95.
    let paths = [(70_232, 47_982, "866p", "loss = \"0.0395%\""), (30_954, 184_647, "906p", "")];
    let (took, without) = of_tcp(&paths, 289_752, "4Mbit", "p1");
    assert!(took < 0.95 && without > took + 0.05, "{took:.2}, {without:.2} without copies");
}

#[test]
fn a_path_that_has_lost_nothing_yet_may_lose() {
    // The lines are as near, and the faster one loses one in two hundred: its first loss came in the middle of the stream.
    let paths = [(3_172, 334_475, "209p", ""), (41_055, 340_485, "1430p", "loss = \"0.52%\"")];
    let (took, without) = of_tcp(&paths, 2_453_098, "1Mbit", "p0");
    assert!(took < 1.05 && without > 1.2, "{took:.2}, {without:.2} without copies");
}

#[test]
fn the_last_piece_of_a_block_goes_on_no_line_that_may_be_slow() {
    // 10.3 ms there and back by the handshake, and 6 for a small piece, which one answer alone never told: 1.45 times as long.
    let paths = [
        (1_411, 9_679, "10p", ""),
        (24_759, 6_071, "10p", "loss = \"0.0444%\""),
        (40_184, 12_543, "31p", ""),
        (1_497, 10_313, "10p", ""),
    ];
    let (took, _) = of_tcp(&paths, 1_641_839, "500kbit", "p1");
    assert!(took < 1.15, "{took:.2}");
    let paths = [
        (7_862, 34_710, "10p", ""),
        (16_951, 13_243, "13p", ""),
        (15_868, 6_858, "10p", ""),
        (1_137, 8_963, "10p", ""),
    ];
    let (took, _) = of_tcp(&paths, 4_000_000, "500kbit", "p2");
    assert!(took < 1.05, "{took:.2}");
}

/// The 99th percentile of blocks of 8 KiB after 6 s, ms, where both ways of a client meet before a line of 20 Mb/s.
fn behind_one_queue(rate: &str, keys: &str) -> f64 {
    let text = format!(
        "duration = \"30s\"\nwarmup = \"1s\"\n\
         [links.neck]\nends = [\"r\", \"server\"]\nrate = \"20Mbit\"\ndelay = \"20ms\"\nqueue = \"60p\"\n\
         [links.a]\nends = [\"client\", \"r\"]\nrate = \"1Gbit\"\ndelay = \"500us\"\nqueue = \"999p\"\n\
         [links.b]\nends = [\"client\", \"r\"]\nrate = \"1Gbit\"\ndelay = \"500us\"\nqueue = \"999p\"\n\
         [flows.f]\nfrom = \"client\"\nto = \"server\"\nautotuning = true\nblocks = \"8KiB\"\nrate = \"{rate}\"\n\
         nagle = false\n{keys}\n"
    );
    let scenario = Scenario::parse(&text, "network").unwrap_or_else(|e| panic!("{e}"));
    let run = World::new(&scenario, 1).expect("a network").run().expect("it comes to its end");
    let settled = run.flows[0].blocks.iter().filter(|block| block.written_at.as_secs_f64() >= 6.0);
    let mut took: Vec<f64> = settled.map(|block| block.latency.as_secs_f64() * 1e3).collect();
    took.sort_by(f64::total_cmp);
    took[took.len() * 99 / 100]
}

#[test]
fn copies_behind_one_queue_are_no_burden() {
    for rate in ["8Mbit", "12Mbit", "16Mbit"] {
        let (own, without) = (behind_one_queue(rate, ""), behind_one_queue(rate, ALONE));
        assert!(own < 1.1 * without, "{rate}: {own:.1} ms, {without:.1} without copies");
    }
}

#[test]
fn a_path_that_carries_next_to_nothing_of_a_stream_may_lose() {
    // 4 Mb/s on a line of 4.25 that the options of mappings fill: one segment in 200 does not go there, and the other path loses one in
    // 300. As if all blocks waited for its repairs, nothing went there before those on the line were 0.4 s late.
    let paths: [Path; 2] = [(7_088, 99_063, "98p", "loss = \"0.3359%\""), (4_251, 24_304, "10p", "")];
    let late = latest_blocks_of(&paths, 433_000, "4Mbit", "", 5);
    assert!(late < 0.2, "{late:.3} s");
}
