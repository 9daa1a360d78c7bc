//! Equal-cost paths: by flow, by frame, and pinned classes.

use std::collections::BTreeMap;

use crate::common::{line, us};
use mptcp_clock::Rng;
use netsim::{AddressId, Codepoint, Event, Frame, LinkId, Network, NodeId, Spreading, TopologyError};

/// A host, `width` parallel routers, a router, `width` more, and a host: each stage selects a path.
struct Stages {
    network: Network<u64>,
    /// The routers that select: before the first and before the second stage.
    forks: [NodeId; 2],
    first: LinkId,
    last: LinkId,
    stages: [Vec<LinkId>; 2],
    to: AddressId,
}

fn stages(width: usize) -> Stages {
    let mut network = Network::new(1);
    let ends = [network.add_host(), network.add_host()];
    let [a, b, c] = [(); 3].map(|()| network.add_router());
    let mut number = 0;
    let mut join = |network: &mut Network<u64>, x, y| {
        number += 1;
        network.add_link(&format!("link {number}"), x, y, line(1), line(1)).expect("a link")
    };
    let first = join(&mut network, ends[0], a);
    let mut stage = |network: &mut Network<u64>, x, y| {
        let links = (0..width).map(|_| {
            let middle = network.add_router();
            let link = join(network, x, middle);
            join(network, middle, y);
            link
        });
        links.collect::<Vec<_>>()
    };
    let stages = [stage(&mut network, a, b), stage(&mut network, b, c)];
    let last = join(&mut network, c, ends[1]);
    let to = network.add_address(ends[1], None).expect("known");
    Stages { network, forks: [a, b], first, last, stages, to }
}

impl Stages {
    /// Sends `times` frames of each label. Returns the load of each link of each stage.
    fn load(&mut self, labels: u32, times: u64) -> [Vec<u64>; 2] {
        let mut at = self.network.now();
        for number in 0..times * u64::from(labels) {
            let label = Frame::label_of(number as u32 % labels, 0);
            let (destination, ecn) = (self.to, Codepoint::NotEct);
            while self.network.next_until(at).is_some() {}
            self.network.send(
                at,
                self.first.forward(),
                Frame { bytes: 100, destination, label, ecn, payload: number },
            );
            at += mptcp_clock::Duration::from_micros(100);
        }
        while self.network.next().is_some() {}
        let sent = |network: &mut Network<u64>, link: &LinkId| network.counters(link.forward()).sent_frames;
        [0, 1].map(|stage| self.stages[stage].iter().map(|link| sent(&mut self.network, link)).collect())
    }

    fn by_flow(&mut self, salts: [u64; 2]) {
        for (fork, salt) in self.forks.into_iter().zip(salts) {
            self.network.set_spreading(fork, Spreading::ByFlow { salt }).expect("known");
        }
    }
}

#[test]
fn without_spreading_all_frames_take_the_first_way() {
    assert_eq!(stages(4).load(100, 1), [vec![100, 0, 0, 0], vec![100, 0, 0, 0]]);
}

#[test]
fn flows_spread_evenly_over_any_number_of_ways() {
    for width in [2, 3, 4, 7] {
        let mut stages = stages(width);
        stages.by_flow([11, 12]);
        let fair = 4000.0 / width as f64;
        for load in stages.load(4000, 1).into_iter().flatten() {
            // Five standard deviations of a binomial count.
            assert!((load as f64 - fair).abs() < 5.0 * fair.sqrt(), "{load} of {fair}");
        }
    }
}

#[test]
fn a_flow_takes_one_way() {
    let mut stages = stages(4);
    stages.by_flow([11, 12]);
    let once = stages.load(40, 1);
    let again = stages.load(40, 9);
    for (once, again) in once.iter().flatten().zip(again.iter().flatten()) {
        assert_eq!(once * 10, *again);
    }
}

#[test]
fn with_one_salt_for_all_the_second_stage_is_polarised() {
    let used = |salts| {
        let mut stages = stages(4);
        stages.by_flow(salts);
        // Only flows that the first stage sends by its first link.
        let (to, fork) = (stages.to, stages.forks[0]);
        let first = stages.stages[0][0].forward();
        let labels: Vec<u32> = (0..400)
            .map(|class| Frame::label_of(class, 0))
            .filter(|&label| stages.network.choose(fork, to, label) == Some(first))
            .collect();
        let second = stages.forks[1];
        let ways = labels.iter().map(|&label| stages.network.choose(second, to, label));
        ways.collect::<std::collections::HashSet<_>>().len()
    };
    assert_eq!(used([5, 5]), 1, "what the first chose decides the second");
    assert_eq!(used([5, 6]), 4);
}

#[test]
fn frames_are_sprayed_over_all_ways_and_all_arrive() {
    let mut stages = stages(4);
    for fork in stages.forks {
        let stream = Rng::new(7, "spray").child(&fork.index().to_string());
        stages.network.set_spreading(fork, Spreading::ByFrame(stream)).expect("known");
    }
    for load in stages.load(1, 4000).into_iter().flatten() {
        assert!((840..1160).contains(&load), "{load}");
    }
    let last = stages.last.forward();
    assert_eq!(stages.network.counters(last).delivered_frames, 4000);
}

#[test]
fn pinned_classes_have_their_own_way() {
    let mut stages = stages(3);
    stages.by_flow([1, 2]);
    let Stages { network, forks, stages: links, to, .. } = &mut stages;
    network.pin(forks[0], *to, (5, None), links[0][2].forward()).expect("it starts there");
    network.pin(forks[1], *to, (5, None), links[1][0].forward()).expect("it starts there");
    for detail in 0..50 {
        assert_eq!(network.choose(forks[0], *to, Frame::label_of(5, detail)), Some(links[0][2].forward()));
        assert_eq!(network.choose(forks[1], *to, Frame::label_of(5, detail)), Some(links[1][0].forward()));
    }
    let mut others = BTreeMap::new();
    for class in 6..60 {
        *others.entry(network.choose(forks[0], *to, Frame::label_of(class, 0))).or_insert(0) += 1;
    }
    assert_eq!(others.len(), 3, "{others:?}");
    let wrong = network.pin(forks[1], *to, (5, None), links[0][2].forward());
    let (link, node) = (links[0][2].index(), forks[1].index());
    assert_eq!(wrong, Err(TopologyError::NotAttached { link, node }));
}

#[test]
fn a_pinned_detail_goes_before_its_class() {
    let mut stages = stages(3);
    let Stages { network, forks, stages: links, to, .. } = &mut stages;
    let way = |number: usize| links[0][number].forward();
    for (detail, number) in [(Some(2), 0), (None, 1), (Some(3), 0), (Some(3), 2)] {
        network.pin(forks[0], *to, (5, detail), way(number)).expect("it starts there");
    }
    let mut chosen = |detail| network.choose(forks[0], *to, Frame::label_of(5, detail));
    assert_eq!([0, 1, 2, 3].map(&mut chosen), [way(1), way(1), way(0), way(2)].map(Some));
}

/// From the destination, b is found before a, although the link to a is older at r.
#[test]
fn a_pin_moves_no_other_class() {
    let mut network = Network::<u64>::new(1);
    let [end, c] = [network.add_host(), network.add_host()];
    let [a, b, r] = [(); 3].map(|()| network.add_router());
    let mut join = |name: &str, x, y| network.add_link(name, x, y, line(1), line(1)).expect("a link");
    for (name, x, y) in [("b-s", b, end), ("a-s", a, end)] {
        join(name, x, y);
    }
    let (to_a, to_b) = (join("r-a", r, a), join("r-b", r, b));
    join("c-r", c, r);
    let to = network.add_address(end, None).expect("known");
    assert_eq!(network.route(r, to), Some(to_b.forward()));
    network.pin(r, to, (5, None), to_a.forward()).expect("it starts there");
    for class in 0..40 {
        let expected = if class == 5 { to_a } else { to_b };
        assert_eq!(network.choose(r, to, Frame::label_of(class, 3)), Some(expected.forward()));
    }
    network.set_spreading(r, Spreading::First).expect("known");
    assert_eq!(network.choose(r, to, 0), network.route(r, to));
}

#[test]
fn an_explicit_route_counts_for_all_flows() {
    let mut stages = stages(3);
    stages.by_flow([1, 2]);
    let (fork, to, link) = (stages.forks[0], stages.to, stages.stages[0][1]);
    stages.network.set_route(fork, to, link.forward()).expect("it starts there");
    assert_eq!(stages.load(30, 1)[0], [0, 30, 0]);
}

#[test]
fn addresses_of_one_interface_keep_their_last_link() {
    let mut network = Network::<u64>::new(1);
    let (a, b) = (network.add_host(), network.add_host());
    let router = network.add_router();
    let mut join = |name: &str, x, y| network.add_link(name, x, y, line(1), line(1)).expect("a link");
    join("a", a, router);
    let (left, right) = (join("left", router, b), join("right", router, b));
    let any = network.add_address(b, None).expect("known");
    let on_right = network.add_address(b, Some(right)).expect("attached");
    network.set_spreading(router, Spreading::ByFlow { salt: 3 }).expect("known");
    let mut ways = |to| {
        let labels = (0..64).map(|class| Frame::label_of(class, 0));
        let ways =
            labels.map(|label| network.choose(router, to, label)).collect::<std::collections::BTreeSet<_>>();
        ways.into_iter().collect::<Vec<_>>()
    };
    assert_eq!(ways(on_right), [Some(right.forward())]);
    assert_eq!(ways(any), [Some(left.forward()), Some(right.forward())]);
}

#[test]
fn hosts_that_relay_are_ways_and_arrive_too() {
    let mut network = Network::new(1);
    let (a, b) = (network.add_host(), network.add_host());
    let relay = network.add_router();
    let mut join = |name: &str, x, y| network.add_link(name, x, y, line(1), line(1)).expect("a link");
    let (first, second) = (join("a-r", a, relay), join("r-b", relay, b));
    let (own, far) =
        (network.add_address(relay, None).expect("known"), network.add_address(b, None).expect("known"));
    let frame =
        |destination, payload| Frame { bytes: 100, destination, label: 0, ecn: Codepoint::NotEct, payload };
    network.send(us(0), first.forward(), frame(own, 1));
    network.send(us(0), first.forward(), frame(far, 2));
    let mut came = Vec::new();
    while let Some((_, event)) = network.next() {
        if let Event::Arrived { node, frame, .. } = event {
            came.push((node, frame.payload));
        }
    }
    assert_eq!(came, [(relay, 1), (b, 2)]);
    assert_eq!(network.counters(second.forward()).sent_frames, 1);
}
