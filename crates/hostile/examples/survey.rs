//! Runs the cases of many seeds and prints the classes of failures: `survey FIRST COUNT [TRIES]`.
//!
//! TRIES limits the runs that find the smallest case of each class. `HOSTILE_RELAX` lists disabled checks.

use std::collections::BTreeMap;

use mptcp_hostile::budget::Budget;
use mptcp_hostile::{draw, verdict};

/// Length of a case, its seed, and the failure's message.
type Failure = (usize, u64, String);

fn main() {
    let mut numbers = std::env::args().skip(1).filter_map(|word| word.parse::<u64>().ok());
    let (first, count) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(1_000));
    let tries = numbers.next().unwrap_or(0) as u32;
    let budget = Budget::from_environment();
    verdict::keep_quiet();
    let mut kinds: BTreeMap<String, (u64, Vec<Failure>)> = BTreeMap::new();
    let (mut operations, mut packets, mut longest) = (0, 0, (0, 0));
    for seed in first..first + count {
        let bytes = draw::bytes_of(seed);
        match verdict::of(&bytes, &budget) {
            Ok(report) => {
                operations += report.operations;
                packets += report.packets;
                longest = longest.max((report.packets, seed));
            }
            Err(words) => {
                let (times, seeds) = kinds.entry(verdict::class(&words)).or_default();
                *times += 1;
                seeds.push((bytes.len(), seed, words));
                seeds.sort();
                seeds.truncate(3);
            }
        }
    }
    println!("{count} cases; without a violation: {operations} operations, {packets} packets");
    println!("the longest: seed {} with {} packets", longest.1, longest.0);
    for (class, (times, seeds)) in kinds {
        println!("\n{times} times: {class}");
        for (length, seed, words) in &seeds {
            println!("  seed {seed} of {length} bytes: {words}");
        }
        if let Some((_, seed, _)) = seeds.first().filter(|_| tries > 0) {
            let smallest = verdict::shrink(&draw::bytes_of(*seed), &budget, tries);
            let hex: String = smallest.iter().map(|byte| format!("{byte:02x}")).collect();
            println!("  smallest, {} bytes: {hex}", smallest.len());
        }
    }
}
