//! Prints the samples of a metric: `cargo run --release --example trace -- FILE SEED METRIC...`.

use mptcp_lab::measurements::Metric;
use mptcp_lab::scenario::Scenario;
use mptcp_lab::world::World;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("which scenario file?")?;
    let seed = arguments.next().map_or(Ok(1), |seed| seed.parse())?;
    let wanted: Vec<String> = arguments.collect();
    let measured = World::new(&Scenario::load(&file)?, seed)?.run();
    let samples = &measured.samples;
    let mut line = String::new();
    let mut last = -1.0;
    for i in 0..samples.time.len() {
        let (name, _) = Metric::ALL[usize::from(samples.metric[i])].name_and_unit();
        if !wanted.iter().any(|w| w == name) {
            continue;
        }
        if samples.time[i] != last {
            println!("{line}");
            last = samples.time[i];
            line = format!("{last:7.2}");
        }
        let path = measured.path_names.get(usize::from(samples.path[i])).map_or("all", String::as_str);
        line += &format!(" {path}.{name}={:.4}", samples.value[i]);
    }
    println!("{line}");
    Ok(())
}
