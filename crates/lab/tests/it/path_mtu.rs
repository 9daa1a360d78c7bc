//! Paths with a smaller MTU than both ends assume, with and without ICMP errors.

use mptcp_lab::measurements::Measurements;
use mptcp_lab::scenario::Scenario;
use mptcp_lab::world::World;

fn run(path: &str, flow: &str, rest: &str) -> Measurements {
    let text = format!(
        "duration = \"20s\"\n[paths.p]\nrate = \"10Mbit\"\nrtt = \"20ms\"\n{path}\n[flows.f]\n{flow}\n{rest}\n"
    );
    let scenario = Scenario::parse(&text, "mtu").unwrap_or_else(|error| panic!("{error}\n{text}"));
    let written = Scenario::parse(&scenario.to_toml(), "again").expect("it is written as it is read");
    assert_eq!(written, scenario);
    World::new(&scenario, 1).expect("a network").run().expect("it comes to its end")
}

/// Goodput, Mb/s.
fn goodput(measured: &Measurements) -> f64 {
    assert!(measured.flows[0].intact);
    measured.flows[0].goodput / 1e6
}

#[test]
fn a_router_that_says_so_costs_nothing_but_the_headers() {
    for transport in ["tcp", "mptcp"] {
        let measured = run("path_mtu = 1200", &format!("transport = \"{transport}\""), "");
        let timeouts: u32 = measured.flows[0].paths.iter().map(|path| path.timeouts as u32).sum();
        assert_eq!(timeouts, 0);
        assert!(goodput(&measured) > 9.0, "{}", goodput(&measured));
    }
}

#[test]
fn a_black_hole_holds_up_who_does_not_look_for_it() {
    let silent = "path_mtu = 1200\nicmp = false";
    assert!(goodput(&run(silent, "transport = \"tcp\"", "")) < 0.01);
    let found = goodput(&run(silent, "transport = \"tcp\"\nmtu_probing = \"blackhole\"", ""));
    assert!(found > 8.0, "{found}");
    // Starting with small segments loses an occasional probe.
    let small = goodput(&run(silent, "transport = \"tcp\"\nmtu_probing = \"on\"", ""));
    assert!(small > 9.0, "{small}");
}

#[test]
fn a_path_that_narrows_on_the_way_is_used_on() {
    let narrows = "[[events]]\nat = \"5s\"\npath = \"p\"\nset = { path_mtu = 1000 }";
    let alone = goodput(&run("", "transport = \"tcp\"", narrows));
    // One timeout, with the RTT of a long queue (RFC 5927 section 7.2).
    assert!(alone > 7.0, "{alone}");
    // Queues of 0.1 s; with longer ones, the timer would be long when the path narrows.
    let both = [5, 8, 10, 12].map(|at| {
        let second = "[paths.q]\nrate = \"10Mbit\"\nrtt = \"30ms\"\nqueue = \"80p\"";
        let narrows = narrows.replace("5s", &format!("{at}s"));
        goodput(&run("queue = \"80p\"", "transport = \"mptcp\"", &format!("{second}\n{narrows}")))
    });
    assert!(both.iter().sum::<f64>() / 4.0 > 18.0, "{both:?}");
}
