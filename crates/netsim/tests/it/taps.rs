//! Taps: frames stop at the second end of a link, and the driver passes them on.

use crate::common::{line, us};
use netsim::{AddressId, Cause, Event, Frame, LinkId, Network, NodeId, QueueLimit, SendOutcome};

/// Client, tapped link, router, link, server: 8 Mb/s and 1 ms in each direction.
struct Bench {
    network: Network<u64>,
    links: [LinkId; 2],
    client: NodeId,
    server: NodeId,
    addresses: [AddressId; 2],
}

fn bench() -> Bench {
    let mut network = Network::new(1);
    let (client, router, server) = (network.add_host(), network.add_router(), network.add_host());
    let access = network.add_link("access", client, router, line(1), line(1)).expect("a link");
    let core = network.add_link("core", router, server, line(1), line(1)).expect("a link");
    let addresses = [client, server].map(|node| network.add_address(node, None).expect("an address"));
    network.tap(access).expect("a known link");
    Bench { network, links: [access, core], client, server, addresses }
}

fn frame(destination: AddressId, payload: u64) -> Frame<u64> {
    Frame { bytes: 1000, destination, label: 0, ecn: netsim::Codepoint::NotEct, payload }
}

#[test]
fn frames_stop_forward_when_they_come_out_and_backward_before_the_queue() {
    let Bench { mut network, links: [access, core], client, server, addresses: [to_client, to_server] } =
        bench();
    network.send(us(0), access.forward(), frame(to_server, 1));
    network.send(us(0), core.backward(), frame(to_client, 2));
    let mut seen = Vec::new();
    while let Some((at, event)) = network.next() {
        match event {
            Event::Tapped { direction, frame } => {
                seen.push((at, direction, frame.payload));
                // Passes each frame on, with an additional one.
                network.pass(at, direction, Frame { payload: frame.payload + 10, ..frame.clone() });
                network.pass(at, direction, frame);
            }
            Event::Arrived { node, by, frame } => {
                assert_eq!(node, if by == core.forward() { server } else { client });
                seen.push((at, by, frame.payload));
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(
        seen,
        [
            (us(2000), access.forward(), 1),
            (us(2000), access.backward(), 2),
            (us(4000), access.backward(), 12),
            (us(4000), core.forward(), 11),
            (us(5000), access.backward(), 2),
            (us(5000), core.forward(), 1),
        ]
    );
    // Stopped frames do not count as offered; passed ones do.
    assert_eq!(network.counters(access.backward()).offered_frames, 2);
    assert_eq!(network.counters(access.forward()).offered_frames, 1);
}

#[test]
fn a_frame_that_is_passed_to_its_destination_arrives_at_that_instant() {
    let mut network = Network::new(1);
    let (client, server) = (network.add_host(), network.add_host());
    let link = network.add_link("wire", client, server, line(1), line(1)).expect("a link");
    let address = network.add_address(server, None).expect("an address");
    network.tap(link).expect("a known link");
    // A middlebox may send without a received frame.
    assert_eq!(network.pass(us(70), link.forward(), frame(address, 5)), SendOutcome::Held);
    assert_eq!(
        network.next(),
        Some((us(70), Event::Arrived { node: server, by: link.forward(), frame: frame(address, 5) }))
    );
    assert_eq!(network.next(), None);
}

#[test]
fn a_full_queue_behind_a_tap_says_so() {
    let mut network = Network::new(1);
    let (client, server) = (network.add_host(), network.add_host());
    let short = netsim::Parameters { queue: QueueLimit::Packets(1), ..line(1) };
    let link = network.add_link("wire", client, server, line(1), short).expect("a link");
    let address = network.add_address(client, None).expect("an address");
    network.tap(link).expect("a known link");
    assert_eq!(network.send(us(0), link.backward(), frame(address, 1)), SendOutcome::Held);
    let (at, tapped) = network.next().expect("it is at the tap");
    assert!(matches!(tapped, Event::Tapped { .. }) && at == us(0));
    assert_eq!(network.pass(at, link.backward(), frame(address, 1)), SendOutcome::Queued);
    assert_eq!(network.pass(at, link.backward(), frame(address, 2)), SendOutcome::Lost(Cause::QueueFull));
}
