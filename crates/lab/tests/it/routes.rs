//! Routes, relays and packet spraying: errors, and independence of other flows.

use mptcp_lab::measurements::{LinkSummary, Measurements};
use mptcp_lab::scenario::Scenario;
use mptcp_lab::world::World;

fn scenario(text: &str) -> Scenario {
    Scenario::parse(text, "test.toml").unwrap_or_else(|error| panic!("{error}"))
}

fn run(text: &str) -> Measurements {
    World::new(&scenario(text), 1).expect("a network").run().expect("it comes to its end")
}

fn refused(text: &str) -> String {
    Scenario::parse(text, "test.toml").map_or_else(|error| error.to_string(), |_| "nothing".to_owned())
}

fn of<'a>(measured: &'a Measurements, name: &str, direction: &str) -> &'a LinkSummary {
    let found = measured.links.iter().find(|link| link.link == name && link.direction == direction);
    found.unwrap_or_else(|| panic!("there is no {name}"))
}

/// Identical links, named by their ends.
fn links(top: &str, names: &[&str], more: &str) -> String {
    let link = |name: &&str| {
        let (a, b) = name.split_once('-').expect("two ends");
        format!("[links.{name}]\nends = [\"{a}\", \"{b}\"]\nrate = \"20Mbit\"\ndelay = \"100us\"\n")
    };
    format!("{top}\n{}{more}", names.iter().map(link).collect::<String>())
}

#[test]
fn a_route_of_one_flow_leaves_others_where_they_were() {
    let flow = |name: &str, from: &str| {
        format!("[flows.{name}]\nfrom = \"{from}\"\nto = \"s\"\ntransport = \"udp\"\nrate = \"1Mbit\"\n")
    };
    let text = links(
        "duration = \"1s\"",
        &["b-s", "a-s", "r-a", "r-b", "c-r", "e-r"],
        &(flow("one", "c") + &flow("two", "e")),
    );
    // From r there are two paths of two hops to s.
    let routed = text.clone()
        + "[[routes]]\nfrom = \"e\"\nto = \"s\"\nflows = [\"two\"]\nlinks = [\"e-r\", \"r-a\", \"a-s\"]\n";
    let ways = |text: &str| ["r-a", "r-b"].map(|name| of(&run(text), name, "forward").sent_bytes > 10_000);
    assert_eq!(ways(&text), [false, true], "found first from s");
    assert_eq!(ways(&routed), [true, true], "the other flow alone has moved");
}

#[test]
fn a_bcube_with_one_flow_survives_being_written() {
    let text = "duration = \"1s\"\ntopology = { kind = \"bcube\", n = 4, k = 1, rate = \"20Mbit\" }\n\
                [flows.bulk]\nfrom = \"h1\"\nto = \"h6\"\n";
    let first = scenario(text);
    assert_eq!(first.relays, ["h1", "h6"], "others are routers");
    let again = scenario(&first.to_toml());
    assert_eq!(again, first);
    let of = |scenario: &Scenario| World::new(scenario, 1).expect("a network").run().expect("it ends");
    assert_eq!(of(&again), of(&first));
}

#[test]
fn relays_beside_a_topology_are_hosts() {
    let of = |kind: &str, relays: &str| {
        refused(&format!(
            "duration = \"1s\"\nrelays = {relays}\ntopology = {{ {kind}, rate = \"20Mbit\" }}\n\
             [links.x-h1]\nends = [\"x\", \"h1\"]\nrate = \"20Mbit\"\n\
             [flows.bulk]\nfrom = \"h1\"\nto = \"h6\"\n[flows.other]\nfrom = \"x\"\nto = \"h1\"\n"
        ))
    };
    for kind in ["kind = \"bcube\", n = 4, k = 1", "kind = \"fat_tree\", k = 4"] {
        assert_eq!(of(kind, "[\"h3\", \"x\", \"h1\"]"), "nothing");
        let said = of(kind, "[\"h1\", \"nobody\"]");
        assert!(said.contains("test.toml:2: relays[1] = \"nobody\": there is no host \"nobody\""), "{said}");
        let said = of(kind, "[\"h17x\"]");
        assert!(said.contains("relays[0] = \"h17x\"") && said.len() < 600, "{said}");
    }
}

/// A sender whose next hop is a relay, and which is notified of its own queue.
#[test]
fn what_a_relay_passes_on_is_not_its_own() {
    let of = |rule: &str| {
        let text = format!(
            "duration = \"2s\"\nrelays = [\"r\"]\n[links.a-r]\nends = [\"a\", \"r\"]\nrate = \"10Mbit\"\nqueue = \"40p\"\n\
             [links.r-b]\nends = [\"r\", \"b\"]\nrate = \"100Mbit\"\n\
             [flows.flood]\nfrom = \"a\"\nto = \"b\"\ntransport = \"udp\"\nsndbuf = \"20KB\"\n\
             [flows.stream]\nfrom = \"a\"\nto = \"b\"\ntransport = \"tcp\"\nsmall_queues = \"4KB\"\n\
             [flows.own]\nfrom = \"r\"\nto = \"b\"\ntransport = \"tcp\"\nbytes = \"10KB\"\n{rule}"
        );
        let measured = run(&text);
        let line = of(&measured, "a-r", "forward");
        (line.queue_drops, line.sent_frames, line.longest_queue)
    };
    let heard = of("small_queues = \"100KB\"\n");
    assert_eq!(heard, of(""));
    assert_eq!(heard.0, 0, "the socket holds less than the queue");
}

/// Datagrams at the maximum rate, from a host with two paths that only accepts.
const SPRAYED: &[&str] = &["a-r", "r-s", "r-t", "b-s", "b-t"];

#[test]
fn to_look_at_sprayed_datagrams_moves_none() {
    let of = |sample: &str| {
        let flow = "[flows.flood]\nfrom = \"a\"\nto = \"b\"\ntransport = \"udp\"\ndirection = \"download\"\nsndbuf = \"30KB\"\n";
        let top = format!("duration = \"2s\"\nsample = \"{sample}\"\nrouting = \"spray\"");
        let measured = run(&links(&top, SPRAYED, flow));
        let out = ["b-s", "b-t"].map(|name| {
            let line = of(&measured, name, "forward");
            (line.sent_bytes, line.longest_queue)
        });
        // 30 KB hold 13 such packets including the overhead of Linux.
        assert!(out.iter().all(|(_, longest)| *longest <= 13 * 1514), "{out:?}");
        (out, measured.flows[0].bytes_received_total)
    };
    let seldom = of("1s");
    assert_eq!(of("1ms"), seldom);
    assert!(seldom.0.iter().all(|(bytes, _)| *bytes > 1_000_000), "{seldom:?}");
}

#[test]
fn two_routes_for_the_same_frames_are_refused() {
    let flows = "[flows.bulk]\nfrom = \"a\"\nto = \"b\"\n";
    let text = links("duration = \"1s\"", &["a-r", "r-s", "r-t", "s-b", "t-b"], flows);
    let route = |from: &str, to: &str, links: &str| {
        format!("[[routes]]\nfrom = \"{from}\"\nto = \"{to}\"\nlinks = {links}\n")
    };
    let (over_s, over_t) =
        (route("a", "b", "[\"a-r\", \"r-s\", \"s-b\"]"), route("a", "b", "[\"a-r\", \"r-t\", \"t-b\"]"));
    assert_eq!(refused(&(text.clone() + &over_s)), "nothing");
    let said = refused(&(text.clone() + &over_s + &over_t));
    assert!(said.contains("routes[1]: another route already covers these frames of flow \"bulk\""), "{said}");
    // On the reverse path, the last link identifies the frames: the address of the opener.
    let back =
        route("b", "a", "[\"s-b\", \"r-s\", \"a-r\"]") + &route("b", "a", "[\"t-b\", \"r-t\", \"a-r\"]");
    let said = refused(&(text.clone() + &back));
    assert!(said.contains("routes[1]: another route"), "{said}");
    // Forward and reverse routes are independent.
    assert_eq!(refused(&(text + &over_s + &route("b", "a", "[\"t-b\", \"r-t\", \"a-r\"]"))), "nothing");
}

/// A connection of three subflows over one pair of addresses: two routes name a subflow, and one the others.
#[test]
fn a_route_of_one_subflow_leaves_the_others_where_they_were() {
    let flows = "[flows.bulk]\nfrom = \"a\"\nto = \"b\"\npath_manager = \"ndiffports\"\nsubflows = 3\n";
    let names = ["a-r", "r-s", "r-t", "r-u", "s-c", "t-c", "u-c", "c-b"];
    let text = links("duration = \"2s\"", &names, flows);
    let route = |middle: &str, subflow: &str| {
        format!(
            "[[routes]]\nfrom = \"a\"\nto = \"b\"\n{subflow}\
             links = [\"a-r\", \"r-{middle}\", \"{middle}-c\", \"c-b\"]\n"
        )
    };
    let used = |text: &str| {
        let measured = run(text);
        assert!(measured.flows[0].intact);
        ["r-s", "r-t", "r-u"].map(|name| of(&measured, name, "forward").sent_bytes > 100_000)
    };
    let rest = route("s", "");
    assert_eq!(used(&(text.clone() + &rest)), [true, false, false]);
    let second = text.clone() + &rest + &route("t", "subflow = 2\n");
    assert_eq!(used(&second), [true, true, false]);
    let each = second.clone() + &route("u", "subflow = 3\n");
    assert_eq!(used(&each), [true, true, true]);
    assert_eq!(scenario(&scenario(&each).to_toml()), scenario(&each));
    let said = refused(&(second + &route("u", "subflow = 2\n")));
    assert!(said.contains("routes[2]: another route already covers these frames of flow \"bulk\""), "{said}");
    for wrong in [0, 256] {
        let said = refused(&(text.clone() + &route("t", &format!("subflow = {wrong}\n"))));
        assert!(said.contains(&format!("routes[0].subflow = {wrong}: must be from 1 to 255")), "{said}");
    }
}

#[test]
fn a_route_to_an_address_that_nobody_uses_is_refused() {
    let of = |transport: &str, last: &str| {
        let flows = format!(
            "[flows.there]\nfrom = \"a\"\nto = \"b\"\n{transport}\n[flows.back]\nfrom = \"b\"\nto = \"a\"\n"
        );
        let text = links("duration = \"1s\"", &["a-r", "r-s", "r-t", "s-b", "t-b"], &flows);
        let links = format!("links = [\"a-r\", \"r-{last}\", \"{last}-b\"]");
        refused(&(text + "[[routes]]\nfrom = \"a\"\nto = \"b\"\nflows = [\"there\"]\n" + &links))
    };
    let said = of("transport = \"tcp\"", "t");
    assert!(
        said.contains(
            "leads to an address of \"b\" that flow \"there\" never uses: its frames end with \"s-b\""
        ),
        "{said}"
    );
    for (transport, last) in [("transport = \"tcp\"", "s"), ("", "t"), ("", "s")] {
        assert_eq!(of(transport, last), "nothing");
    }
    assert!(of("path_manager = \"ndiffports\"", "t").contains("never uses"));
}

/// Two paths of equal length from a to b, and a longer one.
const ROUTED: &str = r#"
duration = "2s"
[links.a-r]
ends = ["a", "r"]
rate = "20Mbit"
[links.r-s]
ends = ["r", "s"]
rate = "20Mbit"
[links.r-t]
ends = ["r", "t"]
rate = "20Mbit"
[links.s-t]
ends = ["s", "t"]
rate = "20Mbit"
[links.t-b]
ends = ["t", "b"]
rate = "20Mbit"
[flows.bulk]
from = "a"
to = "b"
[flows.other]
from = "a"
to = "b"
transport = "udp"
rate = "2Mbit"
[[routes]]
from = "a"
to = "b"
flows = ["bulk"]
links = ["a-r", "r-s", "s-t", "t-b"]
"#;

#[test]
fn explicit_routes_are_of_their_flows_and_of_their_direction() {
    let measured = run(ROUTED);
    let sent = |name: &str, direction| {
        let found = measured.links.iter().find(|link| link.link == name && link.direction == direction);
        found.map_or(0, |link| link.sent_bytes)
    };
    assert!(sent("s-t", "forward") > 3_000_000, "the flow goes the long way");
    assert!((200_000..700_000).contains(&sent("r-t", "forward")), "the datagrams do not");
    assert_eq!(sent("s-t", "backward"), 0);
    assert!(sent("r-t", "backward") > 30_000, "acknowledgements come by the fewest hops");
    assert!(measured.flows.iter().all(|flow| flow.intact));
}

#[test]
fn an_explicit_route_back_is_that_of_acknowledgements() {
    let back = "[[routes]]\nfrom = \"b\"\nto = \"a\"\nflows = [\"bulk\"]\nlinks = [\"t-b\", \"s-t\", \"r-s\", \"a-r\"]\n";
    let measured = run(&format!("{ROUTED}{back}"));
    let of =
        |name: &str| measured.links.iter().find(|link| link.link == name && link.direction == "backward");
    assert!(of("s-t").is_some_and(|link| link.sent_bytes > 30_000));
    assert!(of("r-t").is_some_and(|link| link.sent_bytes == 0));
}

#[test]
fn routes_survive_being_written() {
    let first = scenario(ROUTED);
    assert_eq!(scenario(&first.to_toml()), first);
}
