//! Prints the cost of each attack for the host, at three sizes.
//!
//! `attacks [NAME...]` runs the attacks whose names start with NAME. `attacks --at 0 NAME` runs exactly this attack, at
//! the first of its sizes.
//!
//! Bytes and nanoseconds per packet should not grow with the size. The last two columns divide them by the values of
//! the previous size.

use mptcp_hostile::attacks::{ATTACKS, Sample};

fn main() {
    let mut wanted: Vec<String> = std::env::args().skip(1).collect();
    let mut at: Option<usize> = None;
    if wanted.first().is_some_and(|first| first == "--at") {
        at = wanted.get(1).and_then(|number| number.parse().ok());
        if at.is_none_or(|at| at > 2) {
            eprintln!("attacks: --at: must be 0, 1 or 2, the index of the attack's size");
            std::process::exit(2);
        }
        wanted.drain(..2);
    }
    println!(
        "| attack | size | packets | bytes held | bytes/packet | ns/packet | answers | bytes ratio | time ratio |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|");
    for attack in ATTACKS {
        let named = |name: &String| match at {
            Some(_) => attack.name == name,
            None => attack.name.starts_with(name.as_str()),
        };
        if !wanted.is_empty() && !wanted.iter().any(named) {
            continue;
        }
        let mut before: Option<Sample> = None;
        for (place, size) in attack.sizes.into_iter().enumerate() {
            if at.is_some_and(|at| at != place) {
                continue;
            }
            let sample = (attack.run)(size);
            let each = |value: f64, packets: u64| value / packets.max(1) as f64;
            let (bytes, nanos) =
                (each(sample.held as f64, sample.packets), each(sample.nanos as f64, sample.packets));
            let ratio = |now: f64, of: fn(&Sample) -> f64| match before {
                Some(before) => format!("{:.2}", now / each(of(&before), before.packets)),
                None => String::new(),
            };
            println!(
                "| {}: {} | {size} | {} | {} | {bytes:.1} | {nanos:.0} | {} | {} | {} |",
                attack.name,
                attack.what,
                sample.packets,
                sample.held,
                sample.answers,
                ratio(bytes, |sample| sample.held as f64),
                ratio(nanos, |sample| sample.nanos as f64),
            );
            before = Some(sample);
        }
    }
}
