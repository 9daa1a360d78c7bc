//! A hostile peer that knows the keys, an application that does anything, and time: a host keeps its budgets of memory and
//! work, talks no nonsense, and holds nothing when all is over. What the bytes mean: `crates/hostile/src/arena`.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use mptcp_hostile::arena;
use mptcp_hostile::budget::Budget;

/// `HOSTILE_RELAX` says what is not judged, so that one fault does not hide the others.
static BUDGET: LazyLock<Budget> = LazyLock::new(Budget::from_environment);

fuzz_target!(|bytes: &[u8]| {
    arena::judge(bytes, &BUDGET);
});
