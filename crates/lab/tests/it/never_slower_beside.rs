//! Streams beside flows of others, which fill the queues: more of `never_slower`.

use mptcp_lab::scenario::Scenario;
use mptcp_lab::world::World;

/// The 99th percentile of the times of blocks of 8 KiB at 500 kb/s after the first 5 s, a mean over six runs that differ in who began when;
/// seconds. A path has a rate in kbit/s, a delay in microseconds and a queue in packets, and carries flows of others that began 10 s before.
fn latest(paths: &[(u64, u64, u64)], others: &str, keys: &str) -> f64 {
    let mut text = String::from("duration = \"40s\"\n[jitter]\nstart = \"200ms\"\nprocessing = \"0s\"\n");
    for (at, (kbit, delay, queue)) in paths.iter().enumerate() {
        // Half of a frame's time: frames of one size that a full window clocks would meet a full queue always, or never.
        let jitter = 6_056_000 / kbit;
        text += &format!(
            "[paths.p{at}]\nrate = \"{kbit}kbit\"\ndelay = \"{delay}us\"\njitter = \"{jitter}us\"\nqueue = \"{queue}p\"\n"
        );
    }
    text += &format!("[flows.f]\nblocks = \"8KiB\"\nrate = \"500kbit\"\nstart = \"10s\"\n{keys}\n{others}");
    let scenario = Scenario::parse(&text, "network").unwrap_or_else(|e| panic!("{e}"));
    let of_seed = |seed| {
        let run = World::new(&scenario, seed).expect("a network").run().expect("it comes to its end");
        let blocks = &run.flows[0].blocks;
        let opening = blocks[0].written_at + mptcp_clock::Duration::from_secs(5);
        let settled = blocks.iter().filter(|block| block.written_at >= opening);
        let mut times: Vec<f64> = settled.map(|block| block.latency.as_secs_f64()).collect();
        times.sort_by(f64::total_cmp);
        times[times.len() * 99 / 100]
    };
    (1..=6).map(of_seed).sum::<f64>() / 6.0
}

/// TCP flows of others, `count` of them on a path.
fn others(path: usize, count: usize) -> String {
    format!(
        "[flows.o{path}]\ntransport = \"tcp\"\ncongestion = \"cubic\"\npaths = [\"p{path}\"]\ncount = {count}\nautotuning = true\nbulk = true\nstagger = \"500ms\"\n"
    )
}

#[test]
fn a_block_whose_end_is_lost_does_not_wait_for_a_probe() {
    // The answer to a last segment may be delayed, and so its probe leaves 0.2 s late; a copy on another path that has nothing to do leaves after
    // a round trip: 0.5 times as long as TCP, as long without.
    let paths = [(70_288, 10_737, 45), (60_388, 5_040, 99)];
    let beside = others(0, 2) + &others(1, 2);
    let tcp = latest(&paths, &beside, "transport = \"tcp\"\npaths = [\"p0\"]");
    let all = latest(&paths, &beside, "");
    assert!(all < 0.75 * tcp, "{all:.4} s, and {tcp:.4} s of TCP");
}
