//! Runs a scenario file and prints what it gave: `cargo run --release --example run -- FILE [SEED]`.

use std::time::Instant;

use mptcp_lab::scenario::Scenario;
use mptcp_lab::world::World;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("which scenario file?")?;
    let seed = arguments.next().map_or(Ok(1), |seed| seed.parse())?;
    let scenario = Scenario::load(&file)?;
    let world = World::new(&scenario, seed)?;
    let start = Instant::now();
    let measured = world.run();
    let wall = start.elapsed().as_secs_f64();
    for flow in &measured.flows {
        println!(
            "{}: goodput {:.3} Mb/s, throughput {:.3} Mb/s, intact {}, closed {:?}",
            flow.flow,
            flow.goodput / 1e6,
            flow.throughput / 1e6,
            flow.intact,
            flow.closed
        );
        println!(
            "  handshake {:?} completion {:?} reinjected {} opportunistic {} penalties {} duplicates {}",
            flow.handshake,
            flow.completion,
            flow.reinjected,
            flow.opportunistic,
            flow.penalties,
            flow.duplicates
        );
        for (limit, share) in flow.limits.iter().filter(|(_, share)| *share > 0.001) {
            println!("  {limit}: {:.1} %", share * 100.0);
        }
        for path in &flow.paths {
            println!("  {path:?}");
        }
    }
    for link in &measured.links {
        println!("{link:?}");
    }
    println!(
        "{} data packets in {wall:.3} s: {:.3} M/s",
        measured.data_packets,
        measured.data_packets as f64 / wall / 1e6
    );
    Ok(())
}
