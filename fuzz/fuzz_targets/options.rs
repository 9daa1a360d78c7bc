//! Parses and writes options: see crates/wire/tests/it/fuzzed.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[allow(dead_code, reason = "one question for each target")]
#[path = "../../crates/wire/tests/it/fuzzed/mod.rs"]
mod fuzzed;

fuzz_target!(|bytes: &[u8]| fuzzed::options(bytes));
