//! Runs a day of virtual time: `soak [CONNECTIONS] [HOSTILE]` (default: a million connections, one of 100 hostile).
//!
//! Prints each hour's heap, and the ratio of hour 24 to hour 2.

use mptcp_clock::Duration;
use mptcp_hostile::soak::{Plan, run};

/// Resident memory of this process, in bytes.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    text.split_whitespace().nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0) * 4_096
}

fn main() {
    let mut numbers = std::env::args().skip(1).filter_map(|word| word.parse::<u64>().ok());
    let connections = numbers.next().unwrap_or(1_000_000);
    let hostile = numbers.next().unwrap_or(100);
    println!("{connections} connections in 24 hours, one of {hostile} hostile");
    println!("| hour | bytes live | bytes resident | begun | complete | open at the server |");
    println!("|--:|--:|--:|--:|--:|--:|");
    let mut residents = Vec::new();
    let plan = Plan { connections, hostile, day: Duration::from_secs(86_400) };
    let hours = run(plan, |hour, seen| {
        residents.push(resident());
        let held = residents[residents.len() - 1];
        println!(
            "| {hour} | {:.0} | {held} | {} | {} | {} |",
            seen.live, seen.begun, seen.complete, seen.open
        );
    });
    println!(
        "hour 24 / hour 2: {:.4} live, {:.4} resident",
        hours[23].live / hours[1].live,
        residents[23] as f64 / residents[1] as f64
    );
}
