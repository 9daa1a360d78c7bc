//! The cost of network events: hosts send frames back and forth.
//!
//!     cargo bench -p netsim --bench hot

use divan::Bencher;
use divan::counter::ItemsCount;
use mptcp_clock::{Duration, Instant};
use netsim::{Event, Frame, Loss, Network, Parameters, QueueLimit, Rate};

const ARRIVALS: u64 = 100_000;

/// Frames that arrive over a line of 100 Mb/s with 200 of them on it or in its queue; each is answered.
fn volley(loss: Loss, timers: bool) -> u64 {
    let mut network = Network::<u32>::new(1);
    let lossy = !matches!(loss, Loss::None);
    let line = Parameters {
        rate: Rate::new(100_000_000),
        delay: Duration::from_millis(10),
        queue: QueueLimit::Packets(10_000),
        loss,
        ..Parameters::default()
    };
    let (near, far) = (network.add_host(), network.add_host());
    let link = network.add_link("line", near, far, line.clone(), line).expect("fresh nodes");
    let (here, there) = (network.add_address(near, None), network.add_address(far, None));
    let (here, there) = (here.expect("a host"), there.expect("a host"));
    let timer = network.add_timer();
    let data = |payload| Frame {
        bytes: 1514,
        destination: there,
        label: 0,
        ecn: netsim::Codepoint::NotEct,
        payload,
    };
    for number in 0..200 {
        network.send(Instant::ZERO, link.forward(), data(number));
    }
    let mut arrived = 0;
    while let Some((now, occurrence)) = network.next() {
        let Event::Arrived { frame, .. } = occurrence else { continue };
        arrived += 1;
        if arrived == ARRIVALS {
            break;
        }
        if frame.destination == there {
            network.send(now, link.backward(), Frame { bytes: 66, destination: here, ..frame });
            continue;
        }
        if timers {
            network.set_timer(timer, Some(now + Duration::from_millis(200)));
        }
        network.send(now, link.forward(), data(frame.payload));
        // A new frame replaces one that the link lost.
        if lossy && arrived % 50 == 0 {
            network.send(now, link.forward(), data(0));
        }
    }
    arrived
}

#[divan::bench]
fn frames(bencher: Bencher<'_, '_>) {
    bencher.counter(ItemsCount::new(ARRIVALS)).bench(|| volley(Loss::None, false));
}

#[divan::bench]
fn frames_and_a_timer_set_anew_by_each_answer(bencher: Bencher<'_, '_>) {
    bencher.counter(ItemsCount::new(ARRIVALS)).bench(|| volley(Loss::None, true));
}

#[divan::bench]
fn frames_of_which_one_in_a_hundred_is_lost(bencher: Bencher<'_, '_>) {
    bencher.counter(ItemsCount::new(ARRIVALS)).bench(|| volley(Loss::Bernoulli(0.01), false));
}

fn main() {
    divan::main();
}
