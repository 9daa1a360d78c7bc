//! Any text is a scenario or an error of one line; a scenario can be written and read again, and a run of it begins
//! within its limits or says why not.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mptcp_lab::scenario::Scenario;
use mptcp_lab::world::World;

/// Events of a run that is only begun.
const BEGIN: u64 = 2_000;

fuzz_target!(|text: &str| {
    // What is included lies on the disk of whoever fuzzes.
    if text.contains("include") {
        return;
    }
    let mut scenario = match Scenario::parse(text, "fuzzed.toml") {
        Ok(scenario) => scenario,
        Err(error) => {
            let said = error.to_string();
            assert!(!said.contains(char::is_control) && said.len() < 10_000, "{said}");
            return;
        }
    };
    let written = scenario.to_toml();
    assert_eq!(Scenario::parse(&written, "written.toml").as_ref(), Ok(&scenario), "{written}");
    if scenario.flows.len() * scenario.links.len() < 1_000 {
        scenario.limits.events = BEGIN;
        let _ = World::new(&scenario, 1).expect("a checked scenario's topology is possible").run();
    }
});
