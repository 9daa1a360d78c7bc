//! Generated topologies: their links, their errors, and the use of their paths.

use std::collections::{BTreeMap, BTreeSet};

use mptcp_lab::measurements::{LinkSummary, Measurements};
use mptcp_lab::scenario::names::Routing;
use mptcp_lab::scenario::{Draft, Scenario};
use mptcp_lab::world::World;
use netsim::Loss;

fn scenario(text: &str) -> Scenario {
    Scenario::parse(text, "test.toml").unwrap_or_else(|error| panic!("{error}"))
}

fn run(text: &str, seed: u64) -> Measurements {
    World::new(&scenario(text), seed).expect("a network").run().expect("it comes to its end")
}

fn fat_tree(k: u32, more: &str) -> String {
    format!(
        "duration = \"3s\"\nwarmup = \"1s\"\nsample = \"1s\"\n\
         topology = {{ kind = \"fat_tree\", k = {k}, rate = \"20Mbit\", delay = \"100us\", queue = \"100p\" }}\n{more}"
    )
}

const TCP: &str = "[flows.bulk]\npermutation = 1\ntransport = \"tcp\"\n";
const MPTCP: &str = "[flows.bulk]\npermutation = 1\npath_manager = \"ndiffports\"\nsubflows = 8\n";

/// By node: its neighbours.
fn neighbours(scenario: &Scenario) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut neighbours: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for link in &scenario.links {
        let [a, b] = [0, 1].map(|end| link.ends[end].as_str());
        neighbours.entry(a).or_default().insert(b);
        neighbours.entry(b).or_default().insert(a);
    }
    neighbours
}

/// Bytes that the links from nodes of one type to those of another carried forward.
fn loads<'a>(measured: &'a Measurements, from: &str, to: &str) -> Vec<(&'a LinkSummary, u64)> {
    let of = |link: &&LinkSummary| {
        link.direction == "forward" && link.link.starts_with(from) && link.link.contains(&format!("-{to}"))
    };
    measured.links.iter().filter(of).map(|link| (link, link.sent_bytes)).collect()
}

fn share(measured: &Measurements, rate: f64) -> f64 {
    measured.flows.iter().map(|flow| flow.goodput).sum::<f64>() / measured.flows.len() as f64 / rate
}

#[test]
fn a_fat_tree_has_the_switches_and_links_of_its_authors() {
    for k in [2_u32, 4, 6, 8, 10] {
        let half = k as usize / 2;
        let scenario = scenario(&fat_tree(k, TCP));
        let nodes = neighbours(&scenario);
        let of = |prefix: &str| nodes.iter().filter(|(name, _)| name.starts_with(prefix)).collect::<Vec<_>>();
        let [hosts, edges, aggregations, cores] = ["h", "edge-", "agg-", "core-"].map(of);
        assert_eq!(hosts.len(), k.pow(3) as usize / 4);
        assert_eq!(
            [edges.len(), aggregations.len(), cores.len()],
            [k as usize * half, k as usize * half, half * half]
        );
        assert!(hosts.iter().all(|(_, near)| near.len() == 1));
        assert!(
            [edges, aggregations, cores.clone()].concat().iter().all(|(_, near)| near.len() == k as usize)
        );
        for (name, near) in cores {
            let pods: BTreeSet<&str> = near.iter().filter_map(|name| name.split('-').nth(1)).collect();
            assert_eq!(pods.len(), k as usize, "{name} reaches each pod once");
        }
        assert_eq!(scenario.routing, Routing::Ecmp);
    }
}

#[test]
fn a_bcube_joins_hosts_that_differ_in_one_digit() {
    for (n, k) in [(4_usize, 1_u32), (2, 3), (3, 2), (8, 0)] {
        let text = format!(
            "duration = \"1s\"\ntopology = {{ kind = \"bcube\", n = {n}, k = {k}, rate = \"20Mbit\" }}\n{TCP}"
        );
        let scenario = scenario(&text);
        let nodes = neighbours(&scenario);
        let hosts = n.pow(k + 1);
        assert_eq!(nodes.keys().filter(|name| name.starts_with('h')).count(), hosts);
        assert_eq!(nodes.len() - hosts, (k as usize + 1) * n.pow(k));
        for (name, near) in &nodes {
            let Some(level) = name.strip_prefix('s').and_then(|rest| rest.split('-').next()) else {
                assert_eq!(near.len(), k as usize + 1, "{name} has a port for each level");
                continue;
            };
            let level: u32 = level.parse().expect("a number");
            let number = |name: &&str| name[1..].parse::<usize>().expect("a host") - 1;
            let without = |number: usize| (number / n.pow(level + 1), number % n.pow(level));
            let others: BTreeSet<_> = near.iter().map(|name| without(number(name))).collect();
            assert_eq!((near.len(), others.len()), (n, 1), "{name}: only digit {level} differs");
        }
        assert_eq!(scenario.relays.len(), hosts);
    }
}

#[test]
fn what_is_different_on_the_links_of_hosts_is_so_there_alone() {
    let text = fat_tree(4, TCP).replace(
        "queue = \"100p\" }",
        "queue = \"100p\", hosts = { rate = \"1Gbit\", queue = { kind = \"fq_codel\" } } }\n\
         [links.agg-1-1-core-1]\nrate = \"5Mbit\"",
    );
    for link in scenario(&text).links {
        let own = link.name.starts_with('h');
        let rate = if own { 1_000_000_000 } else { 20_000_000 };
        let rate = if link.name == "agg-1-1-core-1" { 5_000_000 } else { rate };
        for line in [&link.forward, &link.backward] {
            assert_eq!((line.rate, line.discipline.is_some()), (Some(rate), own), "{}", link.name);
        }
    }
}

#[test]
fn a_table_of_a_link_counts_before_what_is_said_of_hosts() {
    let of = |topology: &str, own: &str| {
        let text = fat_tree(4, TCP).replace("delay = \"100us\"", topology);
        let scenario = scenario(&format!("{text}[links.h1-edge-1-1]\n{own}\n"));
        let [first, second] = ["h1-edge-1-1", "h2-edge-1-1"].map(|name| {
            let link = scenario.links.iter().find(|link| link.name == name).expect("there is one");
            assert_eq!(link.forward, link.backward);
            (link.forward.rate, link.forward.delay.as_micros(), link.forward.loss.clone())
        });
        (first, second)
    };
    let lost = |share| Loss::Bernoulli(share);
    let hosts = "rtt = \"1ms\", loss = \"1%\", hosts = { rate = \"10Mbit\", delay = \"2ms\" }";
    let (first, second) = of(hosts, "rate = \"5Mbit\"\nrtt = \"6ms\"\nloss = \"2%\"");
    assert_eq!(first, (Some(5_000_000), 3_000, lost(0.02)));
    assert_eq!(second, (Some(10_000_000), 2_000, lost(0.01)));
    let bursts = "loss = \"1%\", hosts = { gilbert_elliott = { p = \"1%\", r = \"50%\" } }";
    let (first, second) = of(bursts, "loss = \"2%\"");
    assert_eq!(first.2, lost(0.02));
    assert!(matches!(second.2, Loss::GilbertElliott(_)));
}

#[test]
fn what_is_wrong_with_the_links_of_hosts_is_blamed_on_their_line() {
    for (hosts, place) in [
        ("{ slot = \"0s\" }", "topology.hosts.slot"),
        ("{ loss = \"1%\", gilbert_elliott = { p = \"1%\", r = \"2%\" } }", "topology.hosts.loss"),
        ("{ queue = { kind = \"codell\" } }", "topology.hosts.queue.kind"),
    ] {
        let text = fat_tree(4, TCP).replace("\"100p\"", &format!("\"100p\", hosts = {hosts}"));
        let said = Scenario::parse(&text, "test.toml").expect_err("it is wrong").to_string();
        assert!(said.contains(place), "{said}");
    }
}

#[test]
fn a_network_of_too_many_links_is_blamed_on_its_size() {
    let text = |more: &str| {
        format!(
            "duration = \"1s\"\ntopology = {{ kind = \"bcube\", n = 3, k = 4, rate = \"20Mbit\" }}\n{TCP}{more}"
        )
    };
    let said = Scenario::parse(&text(""), "test.toml").expect_err("too many").to_string();
    assert!(said.contains("topology.k = 4: there would be 1215 links, but limits.links is 1000"), "{said}");
    assert_eq!(scenario(&text("[limits]\nlinks = 1215\n")).links.len(), 1215);
}

#[test]
fn permutations_are_counted_before_they_are_made() {
    let many = |count: usize, more: &str| {
        let flows: String = (0..count).map(|n| format!("a{n} = {{ permutation = 1{more} }}\n")).collect();
        let text = fat_tree(10, &format!("[limits]\nflows = 30000\n[flows]\n{flows}"));
        Scenario::parse(&text, "test.toml").expect_err("too many").to_string()
    };
    let said = many(1600, "");
    let place = "flows.a120.permutation = 1: there would be 400000 flows, but limits.flows is 30000";
    assert!(said.contains(place), "{said}");
    let long = "x".repeat(12_000);
    let said = many(100, &format!(", congestion = {{ kind = \"cubic\", as = \"{long}\" }}"));
    assert!(
        said.contains("flows.a10.permutation = 1: the settings of all generated flows would take"),
        "{said}"
    );
}

#[test]
fn a_permutation_is_a_flow_from_each_host_and_to_each() {
    let pairs = |number: u32| {
        let scenario = scenario(&fat_tree(8, &TCP.replace("= 1\n", &format!("= {number}\n"))));
        scenario.flows.into_iter().map(|flow| (flow.name, flow.from, flow.to)).collect::<Vec<_>>()
    };
    let once = pairs(1);
    assert_eq!(once.len(), 128);
    assert_eq!(once[4].0, "bulk-5");
    assert_eq!(once[4].1, "h5");
    assert!(once.iter().all(|(_, from, to)| from != to));
    assert_eq!(once.iter().map(|(_, _, to)| to).collect::<BTreeSet<_>>().len(), 128);
    assert_eq!(once, pairs(1));
    assert_ne!(once, pairs(2));
}

#[test]
fn what_would_be_written_hundreds_of_times_is_short() {
    let long = "x".repeat(100_000);
    let topology =
        fat_tree(10, TCP).replace("\"100p\"", &format!("{{ kind = \"codel\", target = \"{long}\" }}"));
    let flow = fat_tree(10, &format!("{TCP}congestion = {{ kind = \"cubic\", as = \"{long}\" }}\n"));
    for (text, key) in [
        (topology, "topology: must have at most 16384 bytes, not 100"),
        (flow, "flows.bulk: must have at most 16384 bytes, not 100"),
    ] {
        let error = Scenario::parse(&text, "test.toml").expect_err("too long").to_string();
        assert!(error.contains(key) && error.len() < 300, "{error}");
    }
}

#[test]
fn a_network_of_one_line_survives_being_written() {
    for text in [
        fat_tree(4, MPTCP),
        format!(
            "duration = \"1s\"\ntopology = {{ kind = \"bcube\", n = 4, k = 1, rate = \"20Mbit\" }}\n{TCP}"
        ),
    ] {
        let first = scenario(&text);
        assert_eq!(scenario(&first.to_toml()), first);
    }
}

#[test]
fn a_size_may_be_put_over_a_file() {
    let mut draft = Draft::parse(&fat_tree(4, TCP), "test.toml").expect("TOML");
    draft.set("topology.k", "6").expect("there is such a place");
    assert_eq!(draft.finish().expect("valid").flows.len(), 54);
}

#[test]
fn a_link_that_a_topology_makes_may_be_put_over_a_file() {
    let mut draft = Draft::parse(&fat_tree(4, TCP), "test.toml").expect("TOML");
    draft.set("links.{agg-1-1-core-2,h1-edge-1-1}.rate", "5Mbit").expect("it would be made");
    let slow =
        draft.finish().expect("valid").links.into_iter().filter(|link| link.forward.rate == Some(5_000_000));
    assert_eq!(slow.map(|link| link.name).collect::<Vec<_>>(), ["h1-edge-1-1", "agg-1-1-core-2"]);
    let said = draft.set("links.agg-1-1-core-3.rate", "5Mbit").expect_err("no such link").to_string();
    assert!(said.contains("links has no \"agg-1-1-core-3\""), "{said}");
    let said = draft.set("flows.bulk-16.sndbuf", "1MB").expect_err("made by a permutation").to_string();
    assert!(said.contains("try flows.bulk"), "{said}");
    assert!(draft.set("flows.bulk-17.sndbuf", "1MB").expect_err("none").to_string().contains("flows has no"));
}

#[test]
fn fat_trees_use_all_their_paths_under_ecmp() {
    for k in [4, 8] {
        let measured = run(&fat_tree(k, MPTCP).replace("\"3s\"", "\"1500ms\""), 1);
        let up = loads(&measured, "agg-", "core-");
        assert_eq!(up.len(), k as usize * (k as usize / 2).pow(2));
        assert!(up.iter().all(|(_, bytes)| *bytes > 100_000), "k = {k}: {up:?}");
        let down =
            measured.links.iter().filter(|link| link.link.contains("-core-") && link.direction == "backward");
        assert!(down.into_iter().all(|link| link.sent_bytes > 100_000));
    }
}

/// A flow between pods uses one of four paths; the salts determine which.
#[test]
fn one_flow_goes_one_way_and_its_subflows_go_several() {
    let flow = "[flows.bulk]\nfrom = \"h1\"\nto = \"h16\"\n";
    let used = |more: &str| {
        let measured = run(&fat_tree(4, &format!("{flow}{more}")), 3);
        assert!(measured.flows[0].intact && measured.flows[0].goodput > 15e6, "{:?}", measured.flows[0]);
        loads(&measured, "agg-", "core-").iter().filter(|(_, bytes)| *bytes > 500_000).count()
    };
    assert_eq!(used("transport = \"tcp\"\n"), 1);
    let ways = used("path_manager = \"ndiffports\"\nsubflows = 8\n");
    assert!((2..=4).contains(&ways), "{ways}");
}

#[test]
fn ways_are_chosen_anew_for_each_seed_and_alike_for_one() {
    let of = |seed| run(&fat_tree(4, TCP), seed).links.iter().map(|link| link.sent_bytes).collect::<Vec<_>>();
    assert_eq!(of(1), of(1));
    assert_ne!(of(1), of(2));
}

#[test]
fn spraying_loads_equal_links_equally() {
    let flow = "routing = \"spray\"\n[flows.bulk]\nfrom = \"h1\"\nto = \"h16\"\ntransport = \"tcp\"\n";
    let text = fat_tree(4, "");
    let measured = run(&flow.replace("[flows", &format!("{text}[flows")), 1);
    let up: Vec<u64> = loads(&measured, "agg-1", "core-").into_iter().map(|(_, bytes)| bytes).collect();
    let mean = up.iter().sum::<u64>() / 4;
    assert!(up.iter().all(|&bytes| bytes > mean * 4 / 5 && bytes < mean * 6 / 5), "{up:?}");
    assert!(measured.flows[0].intact);
}

/// Raiciu et al., SIGCOMM 2011: with a permutation, TCP with ECMP reaches about half of the capacity, and
/// MPTCP with eight subflows nearly all of it (docs/fabrics.md).
#[test]
fn with_a_permutation_tcp_collides_and_multipath_tcp_does_not() {
    let mean = |flows: &str| {
        let shares = (1..=3).map(|seed| share(&run(&fat_tree(4, flows), seed), 20e6));
        shares.sum::<f64>() / 3.0
    };
    let (tcp, mptcp) = (mean(TCP), mean(MPTCP));
    assert!((0.35..0.65).contains(&tcp), "{tcp}");
    assert!(mptcp > 0.78, "{mptcp}");
    let text = fat_tree(4, "");
    let text = format!("routing = \"first\"\n{text}{TCP}");
    assert!(share(&run(&text, 1), 20e6) < 0.3, "all through one core");
}

#[test]
fn hosts_of_a_bcube_use_all_their_ports_and_pass_frames_on() {
    let text = "duration = \"3s\"\nwarmup = \"1s\"\n[topology]\nkind = \"bcube\"\nn = 4\nk = 1\nrate = \"20Mbit\"\n\
                delay = \"100us\"\nqueue = \"100p\"\n[flows.bulk]\nfrom = \"h1\"\nto = \"h6\"\n";
    let measured = run(text, 1);
    assert!(measured.flows[0].goodput > 33e6, "{:?}", measured.flows[0].goodput);
    assert!(measured.flows[0].intact);
    // h1 is 00 and h6 is 11: the path leads over 01 or 10.
    let relayed = measured.links.iter().filter(|link| ["h2-s1-2", "h5-s0-2"].contains(&link.link.as_str()));
    assert!(relayed.into_iter().map(|link| link.sent_bytes).sum::<u64>() > 5_000_000);
    let tcp = run(&format!("{text}transport = \"tcp\"\n"), 1);
    assert!((15e6..20e6).contains(&tcp.flows[0].goodput));
}

#[test]
fn hosts_beyond_the_first_256_have_addresses_of_their_own_also_behind_a_nat() {
    let pair = |n| {
        format!(
            "[links.l{n}]\nends = [\"a{n}\", \"b{n}\"]\nrate = \"10Mbit\"\ndelay = \"5ms\"\n\
             [flows.f{n}]\nfrom = \"a{n}\"\nto = \"b{n}\"\nbytes = \"20KB\"\n"
        )
    };
    let pairs: String = (0..300).map(pair).collect();
    let boxes = [0, 150, 299].map(|n| format!("[middleboxes.m{n}]\nlink = \"l{n}\"\nkind = \"nat\"\n"));
    let measured = run(&format!("duration = \"1s\"\n{pairs}{}", boxes.concat()), 1);
    for flow in &measured.flows {
        assert!(flow.completion.is_some() && flow.intact, "{flow:?}");
    }
    assert_eq!(measured.flows.len(), 300);
}
