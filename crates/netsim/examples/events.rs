//! Measures the time per event in nanoseconds: `cargo run --release -p netsim --example events`.
//!
//! An event is a frame at the end of a link, a timer, or a reported departure. Each case keeps a window of
//! frames between two hosts, with a small answer for each, so queues and links stay busy.

use std::time::Instant as Wall;

use mptcp_clock::{Duration, Instant};
use netsim::{Event, Frame, Loss, Network, Parameters, QueueLimit, Rate};

struct Case {
    name: &'static str,
    hops: usize,
    flows: u32,
    window: u32,
    /// Loss probability.
    loss: f64,
    timers: bool,
    watch: bool,
}

fn main() {
    let plain = Case {
        name: "1 link, 1 flow",
        hops: 1,
        flows: 1,
        window: 200,
        loss: 0.0,
        timers: false,
        watch: false,
    };
    let cases = [
        Case { name: "1 link, 1 flow, a timer re-armed by each answer", timers: true, ..plain },
        Case { name: "1 link, 1 flow, departures watched", watch: true, ..plain },
        Case { name: "1 link, 1 flow, 1 % loss", loss: 0.01, ..plain },
        Case { name: "1 link, 100 flows, timers", flows: 100, window: 20, timers: true, ..plain },
        Case { name: "4 links, 1 flow", hops: 4, ..plain },
        Case { name: "3 links, 100 flows with links of their own", hops: 3, flows: 100, window: 20, ..plain },
        plain,
    ];
    for case in &cases {
        let best = (0..5).map(|_| measure(case)).fold(f64::INFINITY, f64::min);
        println!("{:50} {best:6.1} ns/event", case.name);
    }
}

/// Nanoseconds per event, over about five million events.
fn measure(case: &Case) -> f64 {
    let mut network = Network::<u32>::new(1);
    let queue = QueueLimit::Packets(10_000);
    let line = Parameters {
        rate: Rate::new(100_000_000),
        delay: Duration::from_millis(10),
        queue,
        loss: if case.loss > 0.0 { Loss::Bernoulli(case.loss) } else { Loss::None },
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
    let mut shared = None;
    for flow in 0..case.flows {
        let (client, server) = (network.add_host(), network.add_host());
        let mut join =
            |name, a, b| network.add_link(name, a, b, access.clone(), access.clone()).expect("fresh nodes");
        let (up, down, client, server) = if case.hops == 1 {
            *shared.get_or_insert_with(|| {
                let link = join("link", client, server);
                (link, link, client, server)
            })
        } else {
            let (up, down) = (format!("up {flow}"), format!("down {flow}"));
            (join(&up, client, left), join(&down, hub, server), client, server)
        };
        network.watch_departures(up.forward(), case.watch);
        let (from, to) = (network.add_address(client, None), network.add_address(server, None));
        let timer = network.add_timer();
        ends.push((up.forward(), down.backward(), from.expect("known"), to.expect("known"), timer));
    }
    for (flow, &(up, _, _, to, _)) in ends.iter().enumerate() {
        for payload in 0..case.window {
            network.send(
                Instant::ZERO,
                up,
                Frame {
                    bytes: 1514,
                    destination: to,
                    label: flow as u32,
                    ecn: netsim::Codepoint::NotEct,
                    payload,
                },
            );
        }
    }
    let (mut arrivals, mut fired) = (0u64, 0u64);
    let goal = 5_000_000 / case.hops as u64;
    let start = Wall::now();
    while let Some((now, event)) = network.next() {
        let Event::Arrived { node: _, by: _, frame } = event else {
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
            // Refills a window after losses.
            if case.loss > 0.0 && arrivals % 50 == 0 {
                network.send(
                    now,
                    up,
                    Frame {
                        bytes: 1514,
                        destination: to,
                        label: 0,
                        ecn: netsim::Codepoint::NotEct,
                        payload: 0,
                    },
                );
            }
        }
    }
    start.elapsed().as_nanos() as f64 / (arrivals * case.hops as u64 + fired) as f64
}
