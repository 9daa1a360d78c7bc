//! Identifiers: relations between them, and refusal of those of another network.

use crate::common::{Pair, line, ms, us};
use mptcp_clock::Duration;
use netsim::{
    Activity, AddressId, Background, Budget, CellId, CellParameters, Codepoint, Coupling, Frame, Labels,
    LinkId, Loss, Network, NodeId, Spreading, StationParameters, TopologyError,
};

#[test]
fn a_link_has_two_directions_and_they_know_it() {
    let mut network = Network::<()>::new(1);
    let nodes = [(); 4].map(|()| network.add_host());
    let mut join = |name: &str, a, b| network.add_link(name, a, b, line(1), line(1)).expect("a link");
    let links = [join("a", nodes[0], nodes[1]), join("b", nodes[1], nodes[2]), join("c", nodes[3], nodes[2])];
    assert_eq!(links.map(LinkId::index), [0, 1, 2]);
    for (link, ends) in links.into_iter().zip([[0, 1], [1, 2], [3, 2]]) {
        assert_eq!((link.forward().link(), link.backward().link()), (link, link));
        assert_eq!(link.forward().reverse(), link.backward());
        assert_eq!(link.backward().reverse(), link.forward());
        assert_eq!(
            [link.backward(), link.forward()].map(|way| network.head(way)),
            ends.map(|end| nodes[end])
        );
        assert_eq!(link.forward().index() + 1, link.backward().index());
    }
    assert_eq!(links.map(|link| network.link_name(link)), ["a", "b", "c"]);
}

/// RFC 3168 section 5: 01 is ECT(1), 10 is ECT(0), 11 is CE.
#[test]
fn codepoints_have_their_bits() {
    use Codepoint::{Ce, Ect0, Ect1, NotEct};
    assert_eq!([0, 1, 2, 3].map(Codepoint::from_bits), [NotEct, Ect1, Ect0, Ce]);
    // The DSCP bits above them have no effect.
    assert_eq!([0xb8, 0xb9, 0xba, 0xbb].map(Codepoint::from_bits), [NotEct, Ect1, Ect0, Ce]);
    assert_eq!([NotEct, Ect1, Ect0, Ce].map(Codepoint::bits), [0, 1, 2, 3]);
}

#[test]
fn a_label_is_a_class_and_a_detail() {
    let address = Pair::new(line(1)).address;
    for (class, detail) in [(0, 0), (1, 255), (0xab_cdef, 0x12), (0xff_ffff, 0)] {
        let (label, ecn) = (Frame::label_of(class, detail), Codepoint::NotEct);
        let frame = Frame { bytes: 1, destination: address, label, ecn, payload: () };
        assert_eq!((frame.class(), frame.detail()), (class, detail));
    }
    assert_eq!(Frame::label_of(0x12ab_cdef, 1), 0xabcd_ef01, "24 bits count");
}

/// Identifiers that a small network does not have.
fn strange() -> (NodeId, AddressId, LinkId, CellId) {
    let mut other = Network::<()>::new(1);
    let nodes: Vec<NodeId> = (0..9).map(|_| other.add_host()).collect();
    let name = |kind: &str, number: usize| format!("{kind} {number}");
    let links = (1..9)
        .map(|at| other.add_link(&name("link", at), nodes[0], nodes[at], line(1), line(1)).expect("a link"));
    let link = links.last().expect("eight");
    let addresses = (0..9).map(|at| other.add_address(nodes[at], None).expect("known"));
    let address = addresses.last().expect("nine");
    let cells = (0..9)
        .map(|at| other.add_cell(&name("cell", at), nodes[0], CellParameters::default()).expect("a cell"));
    let cell = cells.last().expect("nine");
    (nodes[8], address, link, cell)
}

#[test]
fn names_of_another_network_are_refused() {
    let (node, address, link, cell) = strange();
    let mut network = Network::<()>::new(1);
    let (a, b) = (network.add_host(), network.add_host());
    let own = network.add_link("own", a, b, line(1), line(1)).expect("a link");
    let home = network.add_address(b, None).expect("known");
    let own_cell = network.add_cell("cell", a, CellParameters::default()).expect("a cell");
    let unknown_node = TopologyError::UnknownNode(8);
    let unknown_link = TopologyError::UnknownLink(7);
    let unknown_cell = TopologyError::UnknownCell(8);
    for ends in [(a, node), (node, a)] {
        let refused = network.add_link("new", ends.0, ends.1, line(1), line(1));
        assert_eq!(refused, Err(unknown_node.clone()));
    }
    assert_eq!(network.add_address(a, Some(link)), Err(unknown_link.clone()));
    assert_eq!(network.set_route(node, home, own.forward()), Err(unknown_node.clone()));
    assert_eq!(network.set_route(a, address, own.forward()), Err(TopologyError::UnknownAddress(8)));
    for way in [link.forward(), link.backward()] {
        assert_eq!(network.set_route(a, home, way), Err(unknown_link.clone()));
        assert_eq!(network.pin(a, home, (1, None), way), Err(unknown_link.clone()));
        let filter = network.add_filter(way, Labels::All, Duration::ZERO, Loss::None);
        assert_eq!(filter, Err(unknown_link.clone()));
    }
    assert_eq!(network.tap(link), Err(unknown_link));
    assert_eq!(network.set_spreading(node, Spreading::First), Err(unknown_node.clone()));
    assert_eq!(network.add_cell("new", node, CellParameters::default()), Err(unknown_node.clone()));
    let station = |network: &mut Network<()>, node, cell| {
        network.add_station("station", node, cell, StationParameters::default())
    };
    assert_eq!(station(&mut network, node, own_cell), Err(unknown_node));
    assert_eq!(station(&mut network, b, cell), Err(unknown_cell.clone()));
    for pair in [(own_cell, cell), (cell, own_cell)] {
        assert_eq!(network.couple(pair.0, pair.1, Coupling::default()), Err(unknown_cell.clone()));
    }
    let activity = Activity::Saturated;
    let background = Background { stations: 1, frame_bytes: 100, rate: 6_000_000, activity };
    assert_eq!(network.add_background("others", cell, background), Err(unknown_cell));
    network.add_background("others", own_cell, background).expect("a fresh name");
    let again = network.add_background("others", own_cell, background);
    assert_eq!(again, Err(TopologyError::DuplicateCell("others".into())));
    let second = network.add_cell("second", a, CellParameters::default()).expect("a cell");
    network.add_background("others", second, background).expect("names are those of a cell");
    network.add_background("more", own_cell, background).expect("a fresh name");
}

#[test]
fn frames_have_two_bytes_for_their_destination() {
    let mut network = Network::<()>::new(1);
    let node = network.add_host();
    for number in 0..65_536 {
        assert_eq!(network.add_address(node, None).map(AddressId::index), Ok(number));
    }
    assert_eq!(network.add_address(node, None), Err(TopologyError::Addresses));
}

#[test]
fn the_network_says_what_time_it_is_and_what_is_to_come() {
    let mut pair = Pair::new(line(10));
    assert_eq!((pair.network.now(), pair.network.next_time()), (us(0), None));
    let timer = pair.network.add_timer();
    assert_eq!(pair.network.timer(timer), None);
    pair.network.set_timer(timer, Some(ms(3)));
    assert_eq!((pair.network.timer(timer), pair.network.next_time()), (Some(ms(3)), Some(ms(3))));
    pair.send(ms(1), 1000, 1);
    assert_eq!(pair.network.now(), ms(1));
    pair.network.keep_lost(true);
    assert_eq!(pair.arrivals_until(ms(50)), [(12_000_000, 1)]);
    assert_eq!((pair.network.now(), pair.network.events()), (ms(12), 2));
    pair.network.schedule_change(ms(20), pair.link.forward(), netsim::Change::Up(false));
    assert_eq!(pair.network.next(), None);
    pair.send(ms(21), 1000, 2);
    pair.send(ms(21), 1000, 3);
    assert_eq!(pair.network.lost_count(), 2);
    assert_eq!((pair.network.lost().count(), pair.network.lost_count()), (2, 0));
}

/// Each step of a medium visits its stations: 32 of them count as one more event.
#[test]
fn a_crowded_medium_counts_for_more() {
    let events = |stations: u32| {
        let mut network = Network::<()>::new(1);
        let node = network.add_host();
        let cell = network.add_cell("cell", node, CellParameters::default()).expect("a cell");
        let background =
            Background { stations, frame_bytes: 1514, rate: 54_000_000, activity: Activity::Saturated };
        network.add_background("others", cell, background).expect("a fresh name");
        network.set_budget(Budget { total: 1, ..Budget::default() });
        let _ = network.next_until(ms(1));
        network.events()
    };
    // The access point is one of the stations. The second step exceeds the budget of one.
    assert_eq!([1, 30].map(events), [2, 2]);
    assert_eq!([31, 62, 63, 127].map(events), [2, 2, 3, 5]);
}
