//! Routes: minimum hop count, interface addresses, explicit routes, and unreachable addresses.

use crate::common::{line, us};
use netsim::{Cause, Event, Frame, Network, NodeId, Parameters, TopologyError};

fn wire() -> Parameters {
    line(1)
}

#[test]
fn frames_cross_routers_by_the_fewest_hops() {
    let mut network = Network::new(1);
    let (a, b) = (network.add_host(), network.add_host());
    let [r, s, t] = [(); 3].map(|()| network.add_router());
    let mut join = |name: &str, x, y| network.add_link(name, x, y, wire(), wire()).expect("a link");
    let (first, last) = (join("a-r", a, r), join("t-b", t, b));
    let (long, longer, short) = (join("r-s", r, s), join("s-t", s, t), join("r-t", r, t));
    let to_b = network.add_address(b, None).expect("known");
    let to_a = network.add_address(a, None).expect("known");
    assert_eq!(network.route(a, to_b), Some(first.forward()));
    assert_eq!(network.route(r, to_b), Some(short.forward()));
    assert_eq!(network.route(s, to_b), Some(longer.forward()));
    assert_eq!(network.route(s, to_a), Some(long.backward()));
    assert_eq!(network.route(b, to_a), Some(last.backward()));
    network.send(
        us(0),
        first.forward(),
        Frame { bytes: 1000, destination: to_b, label: 0, ecn: netsim::Codepoint::NotEct, payload: 1 },
    );
    let (at, event) = network.next().expect("it arrives");
    // Three hops with 1 ms serialisation and 1 ms delay each.
    assert_eq!(at, us(6000));
    assert!(matches!(event, Event::Arrived { node, by, .. } if node == b && by == last.forward()));
    network.set_route(r, to_b, long.forward()).expect("r has that link");
    network.send(
        us(6000),
        first.forward(),
        Frame { bytes: 1000, destination: to_b, label: 0, ecn: netsim::Codepoint::NotEct, payload: 2 },
    );
    assert_eq!(network.next().map(|(at, _)| at), Some(us(14_000)), "the explicit route has four hops");
}

#[test]
fn an_address_of_one_interface_is_reached_by_its_link_only() {
    let mut network = Network::<u64>::new(1);
    let (client, server) = (network.add_host(), network.add_host());
    let router = network.add_router();
    let mut join = |name: &str, x, y| network.add_link(name, x, y, wire(), wire()).expect("a link");
    let (wifi, cellular) = (join("wifi", client, server), join("3g", client, router));
    let core = join("core", router, server);
    let on_wifi = network.add_address(client, Some(wifi)).expect("attached");
    let on_cellular = network.add_address(client, Some(cellular)).expect("attached");
    assert_eq!(network.route(server, on_wifi), Some(wifi.backward()));
    assert_eq!(network.route(server, on_cellular), Some(core.backward()));
    assert_eq!(network.route(router, on_wifi), None, "hosts pass nothing on");
}

#[test]
fn a_frame_without_a_way_is_lost_with_its_reason() {
    let mut network = Network::new(1);
    let (a, b, island) = (network.add_host(), network.add_host(), network.add_host());
    let router = network.add_router();
    let first = network.add_link("a-r", a, router, wire(), wire()).expect("a link");
    network.add_link("r-b", router, b, wire(), wire()).expect("a link");
    let nowhere = network.add_address(island, None).expect("known");
    network.keep_lost(true);
    network.send(
        us(0),
        first.forward(),
        Frame { bytes: 100, destination: nowhere, label: 0, ecn: netsim::Codepoint::NotEct, payload: () },
    );
    assert_eq!(network.next(), None);
    let lost: Vec<_> = network.lost().map(|lost| (lost.direction, lost.cause)).collect();
    assert_eq!(lost, [(first.forward(), Cause::NoRoute)]);
}

#[test]
fn impossible_topologies_are_refused() {
    let mut network = Network::<()>::new(1);
    let (a, b, c) = (network.add_host(), network.add_host(), network.add_host());
    let link = network.add_link("x", a, b, wire(), wire()).expect("a link");
    let again = network.add_link("x", b, c, wire(), wire());
    assert_eq!(again, Err(TopologyError::DuplicateLink("x".into())));
    assert_eq!(network.add_link("y", a, a, wire(), wire()), Err(TopologyError::Loop("y".into())));
    let missing = Err(TopologyError::NotAttached { link: 0, node: c.index() });
    assert_eq!(network.add_address(c, Some(link)), missing);
    let address = network.add_address(b, None).expect("known");
    assert_eq!(
        network.set_route(b, address, link.forward()),
        Err(TopologyError::NotAttached { link: 0, node: 1 })
    );
    let stranger = stranger();
    assert_eq!(network.add_address(stranger, None), Err(TopologyError::UnknownNode(stranger.index())));
}

/// A node of a larger network.
fn stranger() -> NodeId {
    let mut other = Network::<()>::new(1);
    (0..10).map(|_| other.add_host()).last().expect("ten hosts")
}
