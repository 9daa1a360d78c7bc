//! A hostile peer that knows the keys, and an arbitrary application, over time. The host keeps its budgets of memory and
//! work, sends only valid segments, and holds nothing at the end. `crates/hostile/src/arena` defines the bytes.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use mptcp_hostile::arena;
use mptcp_hostile::budget::Budget;

/// `HOSTILE_RELAX` disables budgets, so that one fault does not hide others.
static BUDGET: LazyLock<Budget> = LazyLock::new(Budget::from_environment);

fuzz_target!(|bytes: &[u8]| {
    arena::judge(bytes, &BUDGET);
});
