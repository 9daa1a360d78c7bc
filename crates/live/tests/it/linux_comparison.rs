//! Linux and mptcplab in the same situations. Each stack sends over a scripted link to the same Linux peer, and its packets
//! are compared event by event.
//!
//! Five situations always run. `tools/compare-linux` runs all and writes docs/research/linux-comparison.md. The environment
//! variable SITUATIONS names some of them, COMPARISON_PAGE the page.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests")]

mod events;
mod link;
mod multipath;
mod page;
mod reasons;
mod seen;
mod situations;
mod stage;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::laboratory::{LIMIT, Namespace, alone};
use events::Verdict;
use page::{Finding, Outcome, Runs, page};
use reasons::reason;
use stage::{Configure, Situation, Stack, play};

/// Runs of each stack.
const RUNS: usize = 5;
/// Maximum number of sets of [`RUNS`] runs, until both stacks have a list in common.
const SETS: usize = 6;
/// Situations at once. Each is idle nearly all the time.
const SITES: usize = 4;
/// Time limit for all situations.
const PATIENCE: Duration = Duration::from_secs(3_600);

fn all() -> impl Iterator<Item = &'static Situation> {
    situations::TCP.iter().chain(multipath::MPTCP)
}

fn named(name: &str) -> &'static Situation {
    all().find(|situation| situation.name == name).unwrap()
}

fn outcome(situation: &'static Situation, count: usize) -> Outcome {
    let runs = |stack| Runs::new((0..count).map(|_| play(situation, stack)).collect());
    Outcome { situation, linux: runs(Stack::Linux), mptcplab: runs(Stack::Mptcplab) }
}

/// Plays these situations, several at once; returns the outcomes in their order.
fn outcomes(situations: &[&'static Situation], count: usize) -> Vec<Outcome> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..SITES {
            scope.spawn(|| {
                while let Some(situation) = situations.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let outcome = outcome(situation, count);
                    done.lock().unwrap().push(outcome);
                }
            });
        }
    });
    let mut outcomes = done.into_inner().unwrap();
    outcomes.sort_by_key(|outcome| situations.iter().position(|s| s.name == outcome.situation.name));
    outcomes
}

fn print(outcome: &Outcome) {
    println!("{}: {:?}", outcome.situation.name, outcome.finding());
    if outcome.finding() == Finding::Equal && !reason(outcome.situation.name).is_empty() {
        println!("  its explanation (linux_comparison/reasons.rs) is not needed");
    }
    for (stack, runs) in [("Linux", &outcome.linux), ("mptcplab", &outcome.mptcplab)] {
        let (events, alike) = runs.commonest();
        println!("  {stack} ({alike} alike): {}", events.show(true));
    }
}

/// Loss in the middle and at the end, a mark, received data with gaps, and MPTCP.
#[test]
fn five_situations_equal_linux() {
    alone(LIMIT, || {
        if Namespace::bare().is_none() {
            return;
        }
        let some = ["one-lost", "tail", "marked-all", "receive-two-holes", "mp-plain"].map(named);
        for once in outcomes(&some, 1).iter().filter(|once| once.finding() != Finding::Equal) {
            // On a busy machine, packets gather before a stack reads them, and the lists vary. Lists that both stacks can
            // have appear for both after some runs.
            let mut all = outcome(once.situation, RUNS);
            for _ in 1..SETS {
                if all.overlaps() {
                    break;
                }
                all.add(outcome(once.situation, RUNS));
            }
            print(&all);
            assert!(all.overlaps(), "{}: no list in common", once.situation.name);
        }
    });
}

/// The comparison finds planted differences: an initial window of four segments, no RACK, and no ECN.
#[test]
fn a_planted_difference_is_noticed() {
    alone(LIMIT, || {
        if Namespace::bare().is_none() {
            return;
        }
        let planted: [(&str, Configure); 3] = [
            ("plain", |config| config.initial_window = 4),
            ("lost-twice", |config| config.rack = false),
            ("marked-all", |_| {}),
        ];
        for (name, config) in planted {
            let right = named(name);
            let linux = play(right, Stack::Linux);
            let wrong = play(&Situation { config, ..*right }, Stack::Mptcplab);
            assert_eq!(linux.compare(&wrong), Verdict::Different, "{name}: {}", wrong.show(true));
            let both =
                Outcome { situation: right, linux: Runs::new(vec![linux]), mptcplab: Runs::new(vec![wrong]) };
            assert!(!both.overlaps(), "{name}");
        }
    });
}

#[ignore = "takes minutes; tools/compare-linux"]
#[test]
fn all_situations() {
    alone(PATIENCE, || {
        if Namespace::bare().is_none() {
            return;
        }
        let wanted = std::env::var("SITUATIONS").unwrap_or_default();
        let wanted: Vec<_> = wanted.split_whitespace().collect();
        let unknown: Vec<_> = wanted.iter().filter(|name| all().all(|s| s.name != **name)).collect();
        assert!(
            unknown.is_empty(),
            "unknown situations: {unknown:?}; docs/research/linux-comparison.md lists their names"
        );
        let some: Vec<_> = all().filter(|s| wanted.is_empty() || wanted.contains(&s.name)).collect();
        let outcomes = outcomes(&some, RUNS);
        outcomes.iter().for_each(print);
        let known = std::fs::read_to_string(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../docs/research/linux-comparison.md"
        ))
        .unwrap();
        if let Ok(path) = std::env::var("COMPARISON_PAGE") {
            let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
            let kernel = kernel.split('-').next().unwrap().trim();
            std::fs::write(path, page(&outcomes, kernel)).unwrap();
        }
        let complaints: Vec<_> = outcomes.iter().filter_map(|outcome| outcome.complaint(&known)).collect();
        assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    });
}
