//! Runs random cases with all checks.
//!
//! `HOSTILE_CASES=100000 cargo test -p mptcp-hostile --release --test it random:: -- --nocapture` runs more of them,
//! starts at `HOSTILE_SEED`, and prints their number.

use mptcp_hostile::budget::Budget;
use mptcp_hostile::{draw, verdict};

/// Number of cases in an ordinary `cargo test`.
const CASES: u64 = 2_000;

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

fn hold(budget: Budget) {
    let (first, count) = (number("HOSTILE_SEED", 0), number("HOSTILE_CASES", CASES));
    let (mut operations, mut packets, mut failures) = (0, 0, Vec::new());
    for seed in first..first + count {
        match verdict::of(&draw::bytes_of(seed), &budget) {
            Ok(report) => {
                operations += report.operations;
                packets += report.packets;
            }
            Err(words) => failures.push((seed, words)),
        }
    }
    println!("{count} cases, {operations} operations, {packets} packets; {} violations", failures.len());
    assert!(
        failures.is_empty(),
        "{} violations, the first of seed {}: {}",
        failures.len(),
        failures[0].0,
        failures[0].1
    );
}

/// No panic, no endless sending, and no corrupt data at an honest neighbour.
#[test]
fn nothing_breaks() {
    hold(Budget { wakeups: false, ..Budget::LOGIC });
}

/// No repeated useless wakeups.
#[test]
fn no_wakeups_for_nothing() {
    hold(Budget::LOGIC);
}

/// Memory during the attack stays within the budget.
#[test]
fn memory_stays_within_its_budget() {
    hold(Budget { memory: true, wakeups: false, ..Budget::LOGIC });
}

/// No memory is left at the end.
#[test]
fn nothing_is_left() {
    hold(Budget { leak: true, wakeups: false, ..Budget::LOGIC });
}

/// No connection lives for a day after its abort.
#[test]
fn every_connection_ends() {
    hold(Budget { immortal: true, wakeups: false, ..Budget::LOGIC });
}

/// Two runs of a case have the same result.
#[test]
fn a_case_is_a_function_of_its_bytes() {
    let bytes = draw::bytes_of(77);
    let budget = Budget { wakeups: false, ..Budget::LOGIC };
    let (once, twice) = (verdict::of(&bytes, &budget), verdict::of(&bytes, &budget));
    let counts = |report: mptcp_hostile::arena::Report| (report.operations, report.packets, report.answers);
    assert_eq!(once.map(counts), twice.map(counts));
}
