//! Any text is a valid scenario or gives a single-line error. A valid scenario can be written, read back and
//! started.
//!
//! Mutates the examples and the broken fixtures. Mutations that once failed are separate tests.

use std::path::Path;

use mptcp_lab::scenario::{Draft, Scenario};
use mptcp_lab::world::World;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

/// Maximum number of events of a run that is only started.
const BEGIN: u64 = 5_000;

/// All valid and broken scenarios of this repository.
fn seeds() -> Vec<String> {
    let mut seeds = Vec::new();
    for folder in ["tests/broken", "tests/good", "../../docs/examples", "../../python/mptcplab/scenarios"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let mut files: Vec<_> = std::fs::read_dir(folder)
            .expect("the fixtures are there")
            .map(|entry| entry.expect("they are readable").path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
            .collect();
        files.sort();
        seeds.extend(files.iter().filter_map(|path| std::fs::read_to_string(path).ok()));
    }
    seeds
}

/// Values for mutations.
const VALUES: [&str; 44] = [
    "\"0s\"",
    "\"1ns\"",
    "\"2562047h\"",
    "\"99999999999h\"",
    "\"1e9s\"",
    "\"-1s\"",
    "\"0.4ns\"",
    "\"10s\"",
    "\"unlimited\"",
    "\"8bit\"",
    "\"1Tbit\"",
    "\"1000000Tbit\"",
    "\"9bit\"",
    "\"0%\"",
    "\"100%\"",
    "\"1e-9%\"",
    "\"1B\"",
    "\"9000000000GB\"",
    "\"65507B\"",
    "\"1p\"",
    "\"18446744073709551615p\"",
    "\"1000000000m\"",
    "\"0m\"",
    "0",
    "1",
    "255",
    "4294967295",
    "9223372036854775807",
    "-1",
    "true",
    "false",
    "[]",
    "[\"wifi\"]",
    "{}",
    "\"\"",
    "\"wifi\"",
    "\"client\"",
    "\"server\"",
    "\"mptcp\"",
    "\"udp\"",
    "\"a\\nb\"",
    "\"\\u0000\"",
    "1979-05-27",
    "nan",
];

/// Lines for mutations.
const LINES: [&str; 24] = [
    "[defaults]",
    "[paths.wifi]",
    "[paths.\"a b\"]",
    "[links.core]",
    "[flows.bulk]",
    "[flows.bulk-1]",
    "[[events]]",
    "[[filters]]",
    "[cells.home]",
    "[stations.sta]",
    "[background.others]",
    "[[coupling]]",
    "[middleboxes.box]",
    "[limits]",
    "count = 300",
    "baselines = true",
    "transport = \"udp\"",
    "path_manager = \"ndiffports\"",
    "blocks = \"1B\"",
    "nagle = false",
    "min_rto = \"0s\"",
    "how = \"blackhole\"",
    "include = [\"no.toml\"]",
    "= 1",
];

/// A mutation of a text.
#[derive(Clone, Debug)]
enum Change {
    /// Replaces the value of a line.
    Value(Index, usize),
    /// Adds a line.
    Line(Index, usize),
    /// Removes a line.
    Less(Index),
    /// Copies a line of another scenario.
    Other(Index, Index, Index),
    /// Repeats a line.
    Twice(Index),
    /// Replaces a character.
    Letter(Index, char),
    /// Truncates the text.
    Cut(Index),
}

fn change() -> impl Strategy<Value = Change> {
    let index = any::<Index>;
    prop_oneof![
        6 => (index(), 0..VALUES.len()).prop_map(|(at, value)| Change::Value(at, value)),
        3 => (index(), 0..LINES.len()).prop_map(|(at, line)| Change::Line(at, line)),
        1 => index().prop_map(Change::Less),
        3 => (index(), index(), index()).prop_map(|(at, text, line)| Change::Other(at, text, line)),
        1 => index().prop_map(Change::Twice),
        1 => (index(), any::<char>()).prop_map(|(at, letter)| Change::Letter(at, letter)),
        1 => index().prop_map(Change::Cut),
    ]
}

fn apply(text: &str, change: &Change, seeds: &[String]) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let place = |at: &Index| at.index(lines.len() + 1);
    match change {
        Change::Value(at, value) => {
            let with: Vec<usize> = (0..lines.len()).filter(|&line| lines[line].contains('=')).collect();
            if let Some(line) = (!with.is_empty()).then(|| with[at.index(with.len())]) {
                let key = lines[line].split('=').next().unwrap_or_default().to_owned();
                lines[line] = format!("{key}= {}", VALUES[*value]);
            }
        }
        Change::Line(at, line) => lines.insert(place(at), LINES[*line].to_owned()),
        Change::Less(at) if !lines.is_empty() => drop(lines.remove(at.index(lines.len()))),
        Change::Twice(at) if !lines.is_empty() => {
            let line = at.index(lines.len());
            lines.insert(line, lines[line].clone());
        }
        Change::Other(at, text, line) => {
            let other: Vec<&str> = seeds[text.index(seeds.len())].lines().collect();
            if !other.is_empty() {
                lines.insert(place(at), other[line.index(other.len())].to_owned());
            }
        }
        Change::Letter(at, letter) => {
            let mut letters: Vec<char> = text.chars().collect();
            if !letters.is_empty() {
                let at = at.index(letters.len());
                letters[at] = *letter;
            }
            return letters.into_iter().collect();
        }
        Change::Cut(at) => return text.chars().take(at.index(text.len() + 1)).collect(),
        Change::Less(_) | Change::Twice(_) => {}
    }
    lines.join("\n")
}

/// Parses a text, and checks all operations on a valid scenario.
fn check(text: &str) {
    let mut scenario = match Scenario::parse(text, "hostile.toml") {
        Ok(scenario) => scenario,
        Err(error) => {
            let said = error.to_string();
            assert!(!said.contains(char::is_control) && said.len() < 10_000, "{said:.500}");
            return;
        }
    };
    let written = scenario.to_toml();
    let again = Scenario::parse(&written, "written.toml").map_err(|error| error.to_string());
    assert_eq!(again.as_ref(), Ok(&scenario), "{written}");
    let estimate = scenario.estimate();
    assert!(estimate.memory >= 0.0 && estimate.events <= scenario.limits.events as f64, "{estimate:?}");
    let _ = scenario.check_runs(3);
    if scenario.flows.len() * scenario.links.len() < 10_000 {
        scenario.limits.events = BEGIN;
        let _ = World::new(&scenario, 1).expect("a checked scenario's topology is possible").run();
    }
}

/// More cases than the default, or `PROPTEST_CASES` if that is higher.
fn config() -> ProptestConfig {
    let usual = ProptestConfig::default();
    ProptestConfig { cases: usual.cases.max(600), ..usual }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_change_of_a_scenario_is_one_or_an_error(seed in any::<Index>(), changes in vec(change(), 1..6)) {
        let seeds = seeds();
        let mut text = seeds[seed.index(seeds.len())].clone();
        for change in &changes {
            text = apply(&text, change, &seeds);
        }
        check(&text);
    }

    #[test]
    fn any_text_is_a_scenario_or_an_error(text in "[ -~\\n\"=\\[\\].]{0,200}") {
        check(&text);
    }

    #[test]
    fn any_value_may_be_set(key in "[a-z0-9_.]{0,24}", value in any::<Index>()) {
        let text = &seeds()[0];
        if let Ok(mut draft) = Draft::parse(text, "set.toml") {
            let _ = draft.set(&key, VALUES[value.index(VALUES.len())]);
            let _ = draft.finish();
        }
    }
}

#[test]
fn all_seeds_are_read() {
    let seeds = seeds();
    assert!(seeds.len() > 90, "{}", seeds.len());
    seeds.iter().for_each(|text| check(text));
}

/// Found by the fuzzer: this key was not written without cells.
#[test]
fn interference_without_a_cell_is_kept() {
    check("duration = \"1s\"\ninterference = \"ucl\"\n[paths.wifi]\nrate = \"1Mbit\"\n[flows.bulk]\n");
}
