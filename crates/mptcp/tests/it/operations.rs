//! Random operations on two endpoints, with checks of invariants.
//!
//! Each case has random settings, paths and operations. After the operations, the network becomes error-free. Then:
//!
//! - every written byte has arrived once, in order and intact, or the connection has reported its end
//! - no segment has exceeded the window or the option space
//! - no endpoint has woken up without reason
//! - nothing is left after the end
//!
//! `MPTCP_OPERATIONS=1000000 cargo test -p mptcp --release --test it operations:: -- --nocapture` runs until that many
//! operations were executed, with the seed `MPTCP_SEED` (default: 0), and prints their number.

use std::cell::Cell;

use crate::random_operations::{Operation, OperationRunner, Settings, random_case};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config as RunnerConfig, RngAlgorithm, TestCaseError, TestRng, TestRunner};

/// Number of cases in `cargo test`.
const CASES: u32 = 400;

fn run(settings: &Settings, operations: &[Operation]) {
    let mut runner = OperationRunner::new(settings);
    for operation in operations {
        runner.execute(operation);
    }
    runner.finish();
}

fn seed(number: u64) -> TestRng {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&number.to_le_bytes());
    TestRng::from_seed(RngAlgorithm::ChaCha, &bytes)
}

#[test]
fn streams_arrive_or_end_after_random_operations() {
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
        let result = runner.run(&random_case(), |(settings, operations)| {
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

/// The same case gives the same run, so failures are reproducible.
#[test]
fn same_seed_gives_the_same_case() {
    let trace = || {
        let mut runner = TestRunner::new_with_rng(RunnerConfig::default(), seed(77));
        let (settings, operations) = random_case().new_tree(&mut runner).expect("a case").current();
        let mut runner = OperationRunner::new(&settings);
        operations.iter().for_each(|operation| runner.execute(operation));
        runner.finish();
        (runner.now(), runner.segments())
    };
    assert_eq!(trace(), trace());
}
