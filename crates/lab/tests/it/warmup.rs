//! The warm-up: summaries exclude it, at any interval of samples.

use mptcp_lab::measurements::FlowSummary;
use mptcp_lab::scenario::Scenario;
use mptcp_lab::world::World;

/// MPTCP, TCP and datagrams over two links; one flow starts after the warm-up.
const TEXT: &str = r#"
duration = "20s"
[paths.a]
rate = "4Mbit"
delay = "5ms"
loss = "0.2%"
[paths.b]
rate = "2Mbit"
delay = "30ms"
[flows.both]
[flows.one]
transport = "tcp"
paths = ["a"]
[flows.datagrams]
transport = "udp"
paths = ["b"]
rate = "500kbit"
[flows.later]
transport = "tcp"
paths = ["b"]
start = "11s"
"#;

fn flows(warmup: &str, sample: &str) -> Vec<FlowSummary> {
    let text = format!("warmup = \"{warmup}\"\nsample = \"{sample}\"\n{TEXT}");
    let scenario = Scenario::parse(&text, "test.toml").expect("a scenario");
    let mut flows = World::new(&scenario, 1).expect("a network").run().expect("it ends").flows;
    for flow in &mut flows {
        // Mean RTTs are means of samples.
        flow.paths.iter_mut().for_each(|path| path.mean_srtt = 0.0);
    }
    flows
}

#[test]
fn summaries_start_at_the_end_of_the_warm_up_whatever_the_samples() {
    for warmup in ["7s", "10s", "0s"] {
        let fine = flows(warmup, "100ms");
        for sample in ["1s", "3s", "6500ms", "15s", "30s"] {
            assert_eq!(flows(warmup, sample), fine, "warm-up {warmup}, samples every {sample}");
        }
        let total: f64 = fine.iter().map(|flow| flow.goodput).sum();
        assert!(total < 6e6 * 1.2, "{total}: more than both links and the flow that starts later");
    }
}
