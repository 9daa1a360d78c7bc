//! The mechanisms of the papers, each tested for its purpose.

use mptcp_lab::scenario::Scenario;
use mptcp_lab::world::World;

/// Goodput in Mb/s, and mean RTT in ms, over two links of 100 Mb/s with queues of 1000 packets.
fn over_deep_queues(delay: &str, more: &str) -> (f64, f64) {
    let mut text = "duration = \"15s\"\nwarmup = \"5s\"\n".to_owned();
    for path in ["first", "second"] {
        text += &format!("[paths.{path}]\nrate = \"100Mbit\"\ndelay = \"{delay}\"\nqueue = \"1000p\"\n");
    }
    let scenario =
        Scenario::parse(&(text + "[flows.f]\n" + more), "queues").unwrap_or_else(|e| panic!("{e}"));
    let flow =
        World::new(&scenario, 1).expect("a network").run().expect("it comes to its end").flows.remove(0);
    (flow.goodput / 1e6, 1e3 * flow.paths.iter().map(|path| path.mean_srtt).fold(0.0, f64::max))
}

#[test]
fn m4_keeps_queues_short_and_lines_full() {
    // Three times the minimum RTT: twice the delay plus the time on the link.
    let (goodput, rtt) = over_deep_queues("250us", "cwnd_capping = true\n");
    assert!(goodput > 180.0 && rtt < 2.0, "{goodput:.1} Mb/s at {rtt:.2} ms");
    let (without, long) = over_deep_queues("250us", "");
    assert!(without > 180.0 && long > 50.0, "{without:.1} Mb/s at {long:.2} ms");
}
