//! The record: the results of about 2300 scenarios, compared with stored results.
//!
//! Two endpoints exchange data over simulated paths in virtual time. The record shows every change of behaviour; other tests
//! check what is correct. It also checks that data arrives complete, in order and once (unless a scenario excludes it), and
//! that an endpoint never wakes its driver without reason.
//!
//! Each family of scenarios has a file with one line per scenario:
//!
//! | column | meaning |
//! |---|---|
//! | `completed_us` | time at which all data had arrived, microseconds; `-` if it never did |
//! | `segments` | segments sent by both endpoints |
//! | `retransmitted` | retransmissions on their own subflows, until the completion |
//! | `reinjected` | bytes reinjected on other subflows, until the completion |
//! | `hash` | hash of all segments, events and states |
//! | `scenario` | name |
//!
//! A failing test prints the scenarios that changed, the largest change of the completion time first, and the totals.
//!
//! ```text
//! MPTCP_RECORD=write cargo test -p mptcp --test it record::     writes the files
//! MPTCP_RECORD=details cargo test -p mptcp --test it record::   writes all details to CARGO_TARGET_TMPDIR/record
//! ```
//!
//! To find the cause of a changed hash, write the details before and after the change, and compare them.

#![allow(clippy::unwrap_used, reason = "a harness")]

mod addresses;
mod app;
mod applications;
mod closing;
mod controllers;
mod event_counter;
mod handshake;
mod hosts;
mod link;
mod linux;
mod loss_recovery;
mod middleboxes;
mod outcome;
mod path_mtu;
mod public_names;
mod random_settings;
mod report;
mod scenario;
mod schedulers;
mod settings;
mod slow_paths;
mod unexpected_segments;
mod windows;
mod world;

use std::fmt::Write;
use std::path::{Path, PathBuf};

use outcome::{HEADER, Outcome, difference};
use scenario::Scenario;

/// Runs a family and compares it with its record. Records fewer details than [`check_with_details`].
fn check(family: &str, scenarios: Vec<Scenario>) {
    check_with_details(family, &[], scenarios);
}

/// Runs a family and compares it with its record. Scenarios whose names start with one of `detailed` also record the state of
/// both endpoints.
fn check_with_details(family: &str, detailed: &[&str], scenarios: Vec<Scenario>) {
    // Every second scenario runs without an observer, which takes other branches of the code.
    let shorten = |(number, scenario): (usize, Scenario)| match detailed {
        _ if detailed.iter().any(|start| scenario.name.starts_with(start)) => scenario,
        _ if number % 2 == 1 => scenario.brief().unobserved(),
        _ => scenario.brief(),
    };
    let (mut outcomes, mut details) = (Vec::new(), String::new());
    for scenario in scenarios.into_iter().enumerate().map(shorten) {
        let name = scenario.name.clone();
        let run = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| scenario.run()));
        let result = run.unwrap_or_else(|_| panic!("{family}: scenario \"{name}\" failed"));
        writeln!(details, "\n== {name}\n{}", result.lines.join("\n")).unwrap();
        outcomes.push(Outcome::new(name, &result));
    }
    if mode() == "details" {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("record");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(format!("{family}.txt")), details).unwrap();
    }
    let text: String = outcomes.iter().map(|outcome| format!("{outcome}\n")).collect();
    let text = format!("{HEADER}\n{text}");
    let Some(stored) = stored_or_write(family, &text) else { return };
    if stored != text {
        let before: Vec<Outcome> = stored.lines().skip(1).filter_map(Outcome::parse).collect();
        panic!("{family}: the record differs\n\n{}\n{ADVICE}", difference(&before, &outcomes));
    }
}

const ADVICE: &str = "If the change is intended: MPTCP_RECORD=write cargo test -p mptcp --test it record::";

/// Compares a text with its record, line by line.
fn check_text(name: &str, found: &str) {
    let Some(stored) = stored_or_write(name, found) else { return };
    let (mut old, mut new) = (stored.lines(), found.lines());
    loop {
        let (was, is) = (old.next(), new.next());
        if was.is_none() && is.is_none() {
            return;
        }
        let (before, after) = (was.unwrap_or("(nothing)"), is.unwrap_or("(nothing)"));
        assert!(was == is, "{name}: the record differs\n before: {before}\n after:  {after}\n{ADVICE}");
    }
}

fn mode() -> String {
    std::env::var("MPTCP_RECORD").unwrap_or_default()
}

/// Returns a record, or writes it and returns `None`.
fn stored_or_write(name: &str, text: &str) -> Option<String> {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/it/record/{name}.txt"));
    if mode() == "write" {
        assert!(std::env::var_os("CI").is_none(), "records are not written if CI is set");
        std::fs::write(&file, text).unwrap();
        return None;
    }
    Some(std::fs::read_to_string(&file).unwrap_or_default())
}
