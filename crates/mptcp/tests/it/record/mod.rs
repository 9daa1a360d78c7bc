//! What endpoints do, scenario by scenario, as it was when it was written down.
//!
//! This judges little: scripts and the other tests say what is right. It is here so that nothing changes unnoticed. Two endpoints
//! run over paths in virtual time; what comes of it stands in the texts beside this file: what left when, what both ends said of
//! themselves, what an observer heard, and hashes of every segment, of every event and of looks at both ends on the way. A change
//! that is meant changes them, and shows in their diff:
//!
//! ```text
//! MPTCP_RECORD=write cargo test -p mptcp --test it record::
//! ```
//!
//! A scenario that is told briefly has a line for each sender (window/threshold, what went again) and one of numbers, with three hashes:
//! of the segments, of the looks, of what was told to applications and observers. Which of them changes says where to look.
//!
//! What it does judge: data arrives whole, in order and once, unless a scenario says that it ends otherwise; and a driver is woken
//! for all that an endpoint has for it, and not in vain.

#![allow(clippy::unwrap_used, reason = "a harness")]

mod addresses;
mod app;
mod applications;
mod boxes;
mod controllers;
mod drawn;
mod ear;
mod ending;
mod hosts;
mod link;
mod linux;
mod long;
mod mtu;
mod opening;
mod repairs;
mod said;
mod scenario;
mod schedulers;
mod settings;
mod strange;
mod windows;
mod words;
mod world;

use std::fmt::Write;
use std::path::PathBuf;

use scenario::Scenario;

/// All scenarios of a family as one text.
fn text_of(family: &str, scenarios: Vec<Scenario>) -> String {
    let mut text = format!("# {family}: see record/mod.rs. Written by MPTCP_RECORD=write, not by hand.\n");
    for scenario in scenarios {
        let name = scenario.name.clone();
        let ran = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| scenario.run()));
        let lines = ran.unwrap_or_else(|_| panic!("{family}: the scenario that fails is: {name}"));
        writeln!(text, "\n== {name}\n{}", lines.join("\n")).unwrap();
    }
    text
}

/// As [`hold`], of scenarios that are many: with few lines each.
fn hold_brief(family: &str, scenarios: Vec<Scenario>) {
    hold_mostly_brief(family, &[], scenarios);
}

/// The same, and those whose names begin so with all lines.
fn hold_mostly_brief(family: &str, full: &[&str], scenarios: Vec<Scenario>) {
    // Nobody observes every second of them: who is observed takes ways of its own to the same end.
    let shorten = |(number, scenario): (usize, Scenario)| match full {
        _ if full.iter().any(|full| scenario.name.starts_with(full)) => scenario,
        _ if number % 2 == 1 => scenario.brief().unobserved(),
        _ => scenario.brief(),
    };
    hold(family, scenarios.into_iter().enumerate().map(shorten).collect());
}

/// Runs a family of scenarios, and compares with what is written down.
fn hold(family: &str, scenarios: Vec<Scenario>) {
    hold_text(family, &text_of(family, scenarios));
}

/// Compares a text with what is written down.
fn hold_text(family: &str, found: &str) {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/it/record/{family}.txt"));
    if std::env::var("MPTCP_RECORD").is_ok_and(|how| how == "write") {
        assert!(std::env::var_os("CI").is_none(), "records are not written where CI is set");
        std::fs::write(&file, found).unwrap();
        return;
    }
    let known = std::fs::read_to_string(&file).unwrap_or_default();
    let mut scenario = "the head of the file";
    let (mut old, mut new) = (known.lines(), found.lines());
    loop {
        let (was, is) = (old.next(), new.next());
        scenario = is.and_then(|line| line.strip_prefix("== ")).unwrap_or(scenario);
        match (was, is) {
            (None, None) => return,
            _ if was == is => {}
            _ => panic!(
                "{family}: \"{scenario}\" is not as it was.\n was: {}\n is:  {}\nIf that is meant: MPTCP_RECORD=write \
                 cargo test -p mptcp --test it record::",
                was.unwrap_or("(nothing)"),
                is.unwrap_or("(nothing)")
            ),
        }
    }
}
