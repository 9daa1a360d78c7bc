//! Runs a scenario file and prints the results of each flow; further arguments override keys.
//!
//!     cargo run --release -p mptcp-lab --example scenario -- docs/examples/handoff.toml duration=5s

use std::error::Error;

use mptcp_lab::measurements::Measurements;
use mptcp_lab::scenario::Draft;
use mptcp_lab::world::World;

/// Runs the file with the overrides `changes` (`KEY=VALUE`) and seed 1.
pub fn run(file: &str, changes: &[String]) -> Result<Measurements, Box<dyn Error>> {
    let mut draft = Draft::load(file)?;
    for change in changes {
        let (key, value) = change
            .split_once('=')
            .ok_or_else(|| format!("{change:?} should be KEY=VALUE, like duration=5s"))?;
        draft.set(key, value)?;
    }
    Ok(World::new(&draft.finish()?, 1)?.run()?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("which scenario? Name a file, like docs/examples/handoff.toml")?;
    let measured = run(&file, &arguments.collect::<Vec<_>>())?;
    println!("{} data packets", measured.data_packets);
    for flow in &measured.flows {
        println!("{}: {:.2} Mb/s", flow.flow, flow.goodput / 1e6);
    }
    Ok(())
}
