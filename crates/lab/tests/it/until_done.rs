//! Runs that end when the last file has arrived.

use mptcp_lab::measurements::{FlowSummary, Measurements};
use mptcp_lab::scenario::Scenario;
use mptcp_lab::world::World;

const FILES: &str = r#"
duration = "60s"
sample = "1s"
[paths.dsl]
rate = "8Mbit"
delay = "20ms"
loss = "0.5%"
[paths.lte]
rate = "6Mbit"
delay = "50ms"
[flows.first]
bytes = "1MB"
[flows.second]
transport = "tcp"
paths = ["dsl"]
bytes = "3MB"
start = "2s"
"#;

fn run(text: &str) -> Measurements {
    World::new(&Scenario::parse(text, "files").expect("valid"), 7).expect("a network").run().expect("it ends")
}

/// The results that stay the same after the last file has arrived.
fn told(flow: &FlowSummary) -> impl PartialEq + std::fmt::Debug {
    let paths: Vec<_> = flow
        .paths
        .iter()
        .map(|path| (path.bytes_sent, path.bytes_acked, path.retransmits, path.timeouts))
        .collect();
    (flow.completion, flow.goodput, flow.throughput, flow.reinjected, flow.duplicates, paths)
}

fn last(measured: &Measurements) -> f64 {
    measured.samples.time.last().copied().unwrap_or(0.0)
}

#[test]
fn says_of_files_what_the_whole_run_says() {
    let whole = run(FILES);
    let short = run(&format!("until_done = true\n{FILES}"));
    for (flow, shorter) in whole.flows.iter().zip(&short.flows) {
        assert_eq!(told(flow), told(shorter));
    }
    assert_eq!(whole.data_packets, short.data_packets);
    let completed = whole.flows[1].completion.expect("complete") + 2.0;
    assert!(last(&whole) > 59.0);
    assert!(last(&short) <= completed + 1.0, "{} s for {completed} s", last(&short));
}

#[test]
fn waits_for_no_flow_without_a_file() {
    let short = run(&format!("until_done = true\n{FILES}[flows.endless]\n"));
    assert!(short.flows.iter().take(2).all(|flow| flow.completion.is_some()));
    let endless = &short.flows[2];
    assert!(last(&short) < 30.0 && endless.goodput > 1e6, "{} s, {} bit/s", last(&short), endless.goodput);
}

#[test]
fn a_file_that_does_not_arrive_is_waited_for_to_the_end() {
    let short = run(&format!("until_done = true\n{FILES}").replace("3MB", "300MB"));
    assert!(last(&short) > 59.0 && short.flows[1].completion.is_none());
}
