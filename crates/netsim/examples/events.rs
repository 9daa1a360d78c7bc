//! How many nanoseconds an event costs: `cargo run --release -p netsim --example events`.
//!
//! An event is one frame reaching the end of one link, or one timer. Each line keeps a window of frames
//! between two hosts: data one way, a small answer back for each, so queues and wires stay filled.

use std::time::Instant as Wall;

use mptcp_clock::{Duration, Instant};
use netsim::{Frame, Loss, Network, Occurrence, Parameters, QueueLimit, Rate};

struct Case {
    name: &'static str,
    hops: usize,
    flows: u32,
    window: u32,
    loss: Loss,
    timers: bool,
}

fn main() {
    let case = |name, hops, flows, window, loss, timers| Case { name, hops, flows, window, loss, timers };
    let cases = [
        case("1 link, 1 flow", 1, 1, 200, Loss::None, false),
        case("1 link, 1 flow, a timer re-armed by each answer", 1, 1, 200, Loss::None, true),
        case("1 link, 1 flow, 1 % loss", 1, 1, 200, Loss::Bernoulli(0.01), false),
        case("4 links, 1 flow", 4, 1, 200, Loss::None, false),
        case("3 links, 100 flows", 3, 100, 20, Loss::None, false),
        case("3 links, 100 flows, timers", 3, 100, 20, Loss::None, true),
    ];
    for case in &cases {
        let best = (0..5).map(|_| measure(case)).fold(f64::INFINITY, f64::min);
        println!("{:50} {best:6.1} ns/event", case.name);
    }
}

/// Nanoseconds an event, over about five million events.
fn measure(case: &Case) -> f64 {
    let mut network = Network::<u32>::new(1);
    let queue = QueueLimit::Packets(10_000);
    let line = Parameters {
        rate: Rate::new(100_000_000),
        delay: Duration::from_millis(10),
        queue,
        loss: case.loss,
        ..Parameters::default()
    };
    let access = Parameters { rate: Rate::new(1_000_000_000), queue, ..line.clone() };
    let (left, right) = (network.add_router(), network.add_router());
    let mut hub = left;
    for hop in 2..case.hops {
        let next = if hop + 1 == case.hops { right } else { network.add_router() };
        network.add_link(&format!("hop {hop}"), hub, next, line.clone(), line.clone()).expect("fresh nodes");
        hub = next;
    }
    let mut ends = Vec::new();
    for flow in 0..case.flows {
        let (client, server) = (network.add_host(), network.add_host());
        let mut join = |name: String, a, b| {
            network.add_link(&name, a, b, access.clone(), access.clone()).expect("fresh nodes")
        };
        let (up, down) = if case.hops == 1 {
            let link = join(format!("link {flow}"), client, server);
            (link, link)
        } else {
            (join(format!("up {flow}"), client, left), join(format!("down {flow}"), hub, server))
        };
        let (from, to) = (network.add_address(client, None), network.add_address(server, None));
        let timer = network.add_timer();
        ends.push((up.forward(), down.backward(), from.expect("known"), to.expect("known"), timer));
    }
    for (flow, &(up, _, _, to, _)) in ends.iter().enumerate() {
        for payload in 0..case.window {
            network.send(
                Instant::ZERO,
                up,
                Frame { bytes: 1514, destination: to, label: flow as u32, payload },
            );
        }
    }
    let (mut arrivals, mut fired) = (0u64, 0u64);
    let goal = 5_000_000 / case.hops as u64;
    let start = Wall::now();
    while let Some((now, occurrence)) = network.next() {
        let Occurrence::Arrived { node: _, by: _, frame } = occurrence else {
            fired += 1;
            continue;
        };
        arrivals += 1;
        if arrivals == goal {
            break;
        }
        let (up, down, from, to, timer) = ends[frame.label as usize];
        if frame.destination == to {
            network.send(now, down, Frame { bytes: 66, destination: from, ..frame });
        } else {
            if case.timers {
                network.set_timer(timer, Some(now + Duration::from_millis(200)));
            }
            network.send(now, up, Frame { bytes: 1514, destination: to, ..frame });
            // A window that loss has thinned out is filled up again.
            if !matches!(case.loss, Loss::None) && arrivals % 50 == 0 {
                network.send(now, up, Frame { bytes: 1514, destination: to, label: 0, payload: 0 });
            }
        }
    }
    start.elapsed().as_nanos() as f64 / (arrivals * case.hops as u64 + fired) as f64
}
