//! Goodput by loss, RTT and buffer in one text grid, kept as a snapshot, whose diff shows the effect of a
//! change on throughput. `UPDATE=1 cargo test -p mptcp-lab --test it grid::` rewrites it.

use std::fmt::Write;

use mptcp_lab::scenario::Scenario;
use mptcp_lab::world::World;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/grid.txt");
const LOSSES: [&str; 4] = ["0%", "0.1%", "1%", "5%"];
const BUFFERS: [&str; 4] = ["20KB", "100KB", "500KB", "4MB"];
const RTTS: [u32; 4] = [10, 40, 160, 640];

/// Goodput in Mb/s of one flow for 30 s after 5 s, over one path of 10 Mb/s or over two.
fn goodput(transport: &str, loss: &str, rtt: u32, buffer: &str) -> f64 {
    let mut text = "duration = \"35s\"\njitter = { start = \"0s\", processing = \"0s\" }\nwarmup = \"5s\"\nsample = \"5s\"\n".to_owned();
    for (path, rtt) in [("first", rtt), ("second", 2 * rtt)] {
        let _ = write!(
            text,
            "[paths.{path}]\nrate = \"10Mbit\"\nrtt = \"{rtt}ms\"\nqueue = \"100p\"\nloss = \"{loss}\"\n"
        );
    }
    let _ = write!(
        text,
        "[flows.f]\ntransport = \"{transport}\"\nrcvbuf = \"{buffer}\"\nsndbuf = \"{buffer}\"\n"
    );
    let scenario = Scenario::parse(&text, "grid").unwrap_or_else(|e| panic!("{e}"));
    World::new(&scenario, 1).expect("a network").run().expect("it comes to its end").flows[0].goodput / 1e6
}

fn grid() -> String {
    let mut text = String::new();
    for (transport, what) in [
        ("tcp", "TCP (Reno) over a path of 10 Mb/s, 100 packets of queue, loss both ways"),
        ("mptcp", "MPTCP (as it is by default) over that path and a second one of twice the round trip"),
    ] {
        let _ = writeln!(text, "{what}: goodput in Mb/s\n");
        let _ = writeln!(
            text,
            "{:>7} {:>7} {}",
            "loss",
            "buffer",
            RTTS.map(|rtt| format!("{rtt:>6} ms")).join(" ")
        );
        for loss in LOSSES {
            for buffer in BUFFERS {
                let row = RTTS.map(|rtt| format!("{:>9.2}", goodput(transport, loss, rtt, buffer)));
                let _ = writeln!(text, "{loss:>7} {buffer:>7} {}", row.join(" "));
            }
        }
        text.push('\n');
    }
    text
}

#[test]
fn the_grid_is_what_it_was() {
    let now = grid();
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(FILE, &now).expect("the grid can be written");
    }
    let before = std::fs::read_to_string(FILE).unwrap_or_default();
    assert!(now == before, "goodput changed; if it should have, UPDATE=1 rewrites {FILE}:\n{now}");
}
