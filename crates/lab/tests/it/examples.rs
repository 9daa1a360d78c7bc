//! The examples print what they claim.

#[allow(dead_code, reason = "its main is not called here")]
#[path = "../../examples/scenario.rs"]
mod scenario;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/examples/handoff.toml");

#[test]
fn a_scenario_runs_as_it_was_changed() {
    let measured = scenario::run(FILE, &["duration=8s".to_owned()]).expect("it runs");
    assert!(measured.flows[0].goodput > 1e6 && measured.data_packets > 1_000);
    let wrong = scenario::run(FILE, &["duration".to_owned()]).expect_err("no value is given");
    assert!(wrong.to_string().contains("KEY=VALUE"), "{wrong}");
}
