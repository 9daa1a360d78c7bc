//! Measures the wall-clock time of ten seconds of a busy cell: `cargo run --release -p netsim --example cell`.
//!
//! Four saturated 802.11g stations send UDP datagrams of 1472 bytes at 54 Mb/s, with ACKs at 24 Mb/s.

use std::time::Instant as Wall;

use mptcp_clock::{Duration, Instant};
use netsim::{CellParameters, Event, Frame, Network, Standard, StationParameters, StationRate};

/// 1472 bytes of UDP payload with IP and Ethernet headers.
const BYTES: u32 = 1472 + 28 + 14;

fn main() {
    for stations in [1, 2, 4, 8, 16, 50] {
        let mut frames = 0;
        let seconds = (0..5).map(|_| measure(stations, &mut frames)).fold(f64::INFINITY, f64::min);
        let rate = frames as f64 * 1472.0 * 8.0 / 10e6;
        println!("{stations:3} stations: {frames:6} frames, {rate:6.2} Mb/s, {:6.2} ms", seconds * 1e3);
    }
}

/// Wall-clock seconds for ten virtual seconds.
fn measure(stations: u64, frames: &mut u64) -> f64 {
    let mut network = Network::new(1);
    let access_point = network.add_host();
    let cell = network.add_cell("cell", access_point, CellParameters::ideal(Standard::G)).expect("a cell");
    let address = network.add_address(access_point, None).expect("known");
    let frame = |payload| Frame {
        bytes: BYTES,
        destination: address,
        label: 0,
        ecn: netsim::Codepoint::NotEct,
        payload,
    };
    for number in 0..stations {
        let node = network.add_host();
        let parameters = StationParameters { rate: StationRate::Fixed(54_000_000), ..Default::default() };
        let link = network.add_station(&format!("station {number}"), node, cell, parameters).expect("fresh");
        for _ in 0..2 {
            network.send(Instant::ZERO, link.forward(), frame(number));
        }
    }
    *frames = 0;
    let start = Wall::now();
    while let Some((now, event)) = network.next_until(Instant::ZERO + Duration::from_secs(10)) {
        if let Event::Arrived { by, frame: arrived, .. } = event {
            *frames += 1;
            network.send(now, by, frame(arrived.payload));
        }
    }
    start.elapsed().as_secs_f64()
}
