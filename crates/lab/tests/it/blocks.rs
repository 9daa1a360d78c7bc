//! Blocks that are written at a rate: each is written whole, and timed from when it was due.

use mptcp_lab::scenario::Scenario;
use mptcp_lab::world::World;

#[test]
fn blocks_that_were_due_while_the_buffer_was_full_are_written_all_the_same() {
    // In the first round trip a buffer that is tuned has room for eight blocks, and eighteen are due.
    let text = "duration = \"20s\"\n\
        [paths.p]\nrate = \"20Mbit\"\nrtt = \"300ms\"\nqueue = \"500p\"\n\
        [flows.f]\nautotuning = true\nblocks = \"8KiB\"\nrate = \"4Mbit\"\nnagle = false\n";
    let scenario = Scenario::parse(text, "network").unwrap_or_else(|e| panic!("{e}"));
    let run = World::new(&scenario, 1).expect("a network").run().expect("it comes to its end");
    let blocks = &run.flows[0].blocks;
    assert!(blocks[9].latency.as_secs_f64() > 0.3, "it was full");
    // Later ones take the way there and 3.4 ms of the line; one that is left out makes all behind it 16 ms late.
    let settled = blocks.iter().filter(|block| block.written_at.as_secs_f64() > 10.0);
    let latest = settled.map(|block| block.latency.as_secs_f64()).fold(0.0, f64::max);
    assert!((0.153..0.160).contains(&latest), "{latest:.4} s");
}
