//! Event budgets: the network stops if time makes no progress, and reports the reason.

use mptcp_clock::{Duration, Instant};
use netsim::{Budget, Event, Exhausted, Network, Parameters};

/// Two hosts on a wire without rate and delay, which return every frame at once.
fn echo(parameters: &Parameters, budget: Budget) -> (u64, Option<Exhausted>, Instant) {
    let mut network = Network::new(1);
    let (a, b) = (network.add_host(), network.add_host());
    let link = network.add_link("wire", a, b, parameters.clone(), parameters.clone()).expect("a link");
    let homes = [a, b].map(|host| network.add_address(host, None).expect("an address"));
    network.set_budget(budget);
    let frame = |to: usize| netsim::Frame {
        bytes: 100,
        destination: homes[to],
        label: 0,
        ecn: netsim::Codepoint::NotEct,
        payload: (),
    };
    network.send(Instant::ZERO, link.forward(), frame(1));
    let mut echoes = 0;
    while let Some((now, Event::Arrived { node, .. })) =
        network.next_until(Instant::ZERO + Duration::from_secs(1))
    {
        echoes += 1;
        let (way, to) = if node == b { (link.backward(), 0) } else { (link.forward(), 1) };
        network.send(now, way, frame(to));
    }
    (echoes, network.exhausted(), network.now())
}

#[test]
fn time_that_stands_still_ends_the_run() {
    let (echoes, why, now) = echo(&Parameters::default(), Budget { at_once: 1000, ..Budget::default() });
    assert_eq!((echoes, why, now), (1000, Some(Exhausted::AtOnce), Instant::ZERO));
}

#[test]
fn time_that_goes_on_does_not() {
    let wire = Parameters { delay: Duration::from_millis(1), ..Parameters::default() };
    let (echoes, why, _) = echo(&wire, Budget { at_once: 1, ..Budget::default() });
    assert_eq!((echoes, why), (1000, None));
}

#[test]
fn the_total_is_a_bound_too() {
    let wire = Parameters { delay: Duration::from_millis(1), ..Parameters::default() };
    let (echoes, why, now) = echo(&wire, Budget { total: 10, ..Budget::default() });
    assert_eq!((echoes, why, now), (10, Some(Exhausted::Total), Instant::ZERO + Duration::from_millis(10)));
}
