//! Prints what each attack costs the host, at three sizes: `attacks [NAME...]` runs those whose names begin so.
//!
//! Bytes and nanoseconds a packet should not grow with the size: the last two columns are those of a size divided by
//! those of the size before.

use mptcp_hostile::attacks::{ATTACKS, Sample};

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    println!(
        "| attack | size | packets | bytes held | bytes/packet | ns/packet | answers | bytes ratio | time ratio |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|");
    for attack in ATTACKS {
        if !wanted.is_empty() && !wanted.iter().any(|name| attack.name.starts_with(name.as_str())) {
            continue;
        }
        let mut before: Option<Sample> = None;
        for size in attack.sizes {
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
