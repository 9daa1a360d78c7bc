//! Any text is a scenario or an error of one line. A scenario can be written and read without a change. A run starts
//! within its limits, or ends with an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mptcp_lab::scenario::Scenario;
use mptcp_lab::world::World;

/// Maximum number of events of a run.
const MAX_EVENTS: u64 = 2_000;

fuzz_target!(|text: &str| {
    // An include would read files of the local disk.
    if text.contains("include") {
        return;
    }
    let mut scenario = match Scenario::parse(text, "fuzzed.toml") {
        Ok(scenario) => scenario,
        Err(error) => {
            let message = error.to_string();
            assert!(!message.contains(char::is_control) && message.len() < 10_000, "{message}");
            return;
        }
    };
    let written = scenario.to_toml();
    assert_eq!(Scenario::parse(&written, "written.toml").as_ref(), Ok(&scenario), "{written}");
    if scenario.flows.len() * scenario.links.len() < 1_000 {
        scenario.limits.events = MAX_EVENTS;
        let _ = World::new(&scenario, 1).expect("a checked scenario's topology is possible").run();
    }
});
