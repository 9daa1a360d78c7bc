//! Random operations on two endpoints: what must hold whatever happens.
//!
//! Each case draws settings, paths and a list of operations, heals the network, and checks that
//! every byte written arrived once, in order and intact, or that the connection said that it ended;
//! that no segment exceeds the window or the option space; that nothing wakes up for nothing; and
//! that nothing is left after the end.
//!
//! `MPTCP_OPERATIONS=1000000 cargo test -p mptcp --release --test it operations:: -- --nocapture` goes on
//! until that many operations were executed, from the seed in `MPTCP_SEED` (0 unless given), and
//! prints the count.

use std::cell::Cell;

use crate::arena::{Arena, Operation, Settings, case};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config as RunnerConfig, RngAlgorithm, TestCaseError, TestRng, TestRunner};

/// Cases in an ordinary `cargo test`.
const CASES: u32 = 400;

fn run(settings: &Settings, operations: &[Operation]) {
    let mut arena = Arena::new(settings);
    for operation in operations {
        arena.execute(operation);
    }
    arena.finish();
}

fn seed(number: u64) -> TestRng {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&number.to_le_bytes());
    TestRng::from_seed(RngAlgorithm::ChaCha, &bytes)
}

#[test]
fn whatever_happens_the_streams_arrive_or_end() {
    let goal: u64 = std::env::var("MPTCP_OPERATIONS").ok().and_then(|n| n.parse().ok()).unwrap_or(0);
    let start: u64 = std::env::var("MPTCP_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(0);
    let (executed, cases) = (Cell::new(0_u64), Cell::new(0_u64));
    let mut round = start;
    loop {
        let settings = RunnerConfig {
            cases: CASES,
            failure_persistence: None,
            max_shrink_time: 20_000,
            ..RunnerConfig::default()
        };
        let mut runner = TestRunner::new_with_rng(settings, seed(round));
        let result = runner.run(&case(), |(settings, operations)| {
            executed.set(executed.get() + operations.len() as u64);
            cases.set(cases.get() + 1);
            let outcome = std::panic::catch_unwind(|| run(&settings, &operations));
            outcome.map_err(|why| TestCaseError::fail(words(why.as_ref())))
        });
        if let Err(error) = result {
            panic!("round {round}: {error}");
        }
        round += 1;
        if executed.get() >= goal {
            break;
        }
    }
    println!("{} operations in {} cases without a violation", executed.get(), cases.get());
}

fn words(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
}

/// The same case twice does the same: a failure can be had again.
#[test]
fn a_case_is_a_function_of_its_seed() {
    let trace = || {
        let mut runner = TestRunner::new_with_rng(RunnerConfig::default(), seed(77));
        let (settings, operations) = case().new_tree(&mut runner).expect("a case").current();
        let mut arena = Arena::new(&settings);
        operations.iter().for_each(|operation| arena.execute(operation));
        arena.finish();
        (arena.now(), arena.segments())
    };
    assert_eq!(trace(), trace());
}
