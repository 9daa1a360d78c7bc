//! Runs the examples.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests")]

#[allow(dead_code, reason = "its main is not called here")]
#[path = "../../examples/pipes.rs"]
mod pipes;

use crate::laboratory::{LIMIT, within};

#[test]
fn a_transfer_over_pipes_is_whole() {
    within(LIMIT, || assert_eq!(pipes::transfer(1_000_000).unwrap().0, 1_000_000));
}
