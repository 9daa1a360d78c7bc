//! Linux and we in the same situations: a line does by content and order what a script says, each stack sends over it to the same
//! peer of Linux's, and what was sent is compared event by event.
//!
//! A handful run always; all of them write docs/research/beside-linux.md (`tools/beside-linux`). SITUATIONS names some of them, BESIDE_PAGE
//! the page.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests")]

mod events;
mod line;
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
use page::{Found, Outcome, Runs, page};
use reasons::reason;
use stage::{Configure, Situation, Who, play};

/// Runs of each stack.
const RUNS: usize = 5;
/// So many times [`RUNS`] at most, until something is alike.
const SETS: usize = 6;
/// Situations beside each other: each is nearly always silent.
const SITES: usize = 4;
/// The longest that all of them may take.
const PATIENCE: Duration = Duration::from_secs(3_600);

fn all() -> impl Iterator<Item = &'static Situation> {
    situations::TCP.iter().chain(multipath::MPTCP)
}

fn named(name: &str) -> &'static Situation {
    all().find(|situation| situation.name == name).unwrap()
}

fn outcome(situation: &'static Situation, count: usize) -> Outcome {
    let runs = |who| Runs::new((0..count).map(|_| play(situation, who)).collect());
    Outcome { situation, linux: runs(Who::Linux), ours: runs(Who::Ours) }
}

/// What comes of these situations, some beside each other; in their order.
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
    println!("{}: {:?}", outcome.situation.name, outcome.found());
    if outcome.found() == Found::Equal && !reason(outcome.situation.name).is_empty() {
        println!("  it has an explanation (beside/reasons.rs) that is not needed");
    }
    for (who, runs) in [("Linux", &outcome.linux), ("ours ", &outcome.ours)] {
        let (events, alike) = runs.commonest();
        println!("  {who} ({alike} alike): {}", events.show(true));
    }
}

/// Loss in the middle and at the end, a mark, received data with a hole, and Multipath TCP.
#[test]
fn a_handful_is_as_in_linux() {
    alone(LIMIT, || {
        if Namespace::bare().is_none() {
            return;
        }
        let some = ["one-lost", "tail", "marked-all", "receive-two-holes", "mp-plain"].map(named);
        for once in outcomes(&some, 1).iter().filter(|once| once.found() != Found::Equal) {
            // A busy machine lets packets gather before either stack sees them: then lists vary. What both do is seen of both
            // now and then; what one never does, never.
            let mut all = outcome(once.situation, RUNS);
            for _ in 1..SETS {
                if all.overlaps() {
                    break;
                }
                all.add(outcome(once.situation, RUNS));
            }
            print(&all);
            assert!(all.overlaps(), "{}: never alike", once.situation.name);
        }
    });
}

/// The rule can come out the other way: a stack that begins with four segments, one that does not see that
/// a retransmission is lost, one that knows no ECN.
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
            let linux = play(right, Who::Linux);
            let wrong = play(&Situation { config, ..*right }, Who::Ours);
            assert_eq!(linux.compare(&wrong), Verdict::Different, "{name}: {}", wrong.show(true));
            let both =
                Outcome { situation: right, linux: Runs::new(vec![linux]), ours: Runs::new(vec![wrong]) };
            assert!(!both.overlaps(), "{name}");
        }
    });
}

#[ignore = "takes minutes; tools/beside-linux"]
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
            "no situations: {unknown:?}; docs/research/beside-linux.md has their names"
        );
        let some: Vec<_> = all().filter(|s| wanted.is_empty() || wanted.contains(&s.name)).collect();
        let outcomes = outcomes(&some, RUNS);
        outcomes.iter().for_each(print);
        let known = std::fs::read_to_string(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../docs/research/beside-linux.md"
        ))
        .unwrap();
        if let Ok(path) = std::env::var("BESIDE_PAGE") {
            let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
            let kernel = kernel.split('-').next().unwrap().trim();
            std::fs::write(path, page(&outcomes, kernel)).unwrap();
        }
        let complaints: Vec<_> = outcomes.iter().filter_map(|outcome| outcome.complaint(&known)).collect();
        assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    });
}
