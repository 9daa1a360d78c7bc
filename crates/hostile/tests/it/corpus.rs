//! Replays the corpus of the fuzz target `endpoint`: cases with new coverage, and cases that found a defect.

use std::path::Path;

use mptcp_hostile::budget::Budget;
use mptcp_hostile::verdict;

fn replay(budget: Budget) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/endpoint");
    let entries = std::fs::read_dir(&directory).expect("the corpus of the repository");
    let mut count = 0;
    for entry in entries {
        let path = entry.expect("a file").path();
        let bytes = std::fs::read(&path).expect("a case");
        if let Err(words) = verdict::of(&bytes, &budget) {
            panic!("{}: {words}", path.display());
        }
        count += 1;
    }
    println!("{count} cases");
    assert!(count > 0, "no case in {}", directory.display());
}

#[test]
fn no_case_of_the_corpus_breaks_anything() {
    replay(Budget { wakeups: false, ..Budget::LOGIC });
}

/// Checks all budgets except for time.
#[test]
fn the_corpus_keeps_its_budgets() {
    replay(Budget { nanos: None, ..Budget::ALL });
}
