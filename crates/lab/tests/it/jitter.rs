//! Jitter in hosts: seeds differ even without other randomness, within the configured maximum.

use mptcp_clock::Duration;
use mptcp_lab::measurements::Measurements;
use mptcp_lab::scenario::Scenario;
use mptcp_lab::world::World;

fn scenario(top: &str, flows: &str) -> Scenario {
    let text = format!(
        "duration = \"10s\"\nsample = \"10ms\"\n{top}\n[paths.wifi]\nrate = \"8Mbit\"\ndelay = \"10ms\"\nqueue = \"30p\"\n\
         [paths.lte]\nrate = \"3Mbit\"\ndelay = \"30ms\"\nqueue = \"30p\"\n{flows}"
    );
    Scenario::parse(&text, "jitter.toml").unwrap_or_else(|error| panic!("{error}"))
}

fn run(scenario: &Scenario, seed: u64) -> Measurements {
    World::new(scenario, seed).expect("a network").run().expect("it ends")
}

fn received(scenario: &Scenario) -> Vec<u64> {
    (1..=4).map(|seed| run(scenario, seed).flows[0].bytes_received).collect()
}

#[test]
fn seeds_are_repetitions_by_default_and_the_same_run_without_jitter() {
    let mut by_default = received(&scenario("", "[flows.bulk]\n"));
    by_default.sort_unstable();
    by_default.dedup();
    assert!(by_default.len() > 1, "{by_default:?}");
    let none = received(&scenario("jitter = { start = \"0s\", processing = \"0s\" }", "[flows.bulk]\n"));
    assert!(none.iter().all(|bytes| *bytes == none[0]), "{none:?}");
}

#[test]
fn flows_begin_later_by_no_more_than_was_said_and_each_by_itself() {
    let both = scenario("", "[flows.a]\n[flows.b]\nstart = \"1s\"\n");
    let alone = scenario("", "[flows.a]\n");
    let mut starts = Vec::new();
    for seed in 1..=200 {
        let flows = both.drawn(seed).flows;
        assert!(flows[0].start <= Duration::from_millis(10), "{:?}", flows[0].start);
        assert!((Duration::from_secs(1)..=Duration::from_millis(1010)).contains(&flows[1].start));
        assert_ne!(flows[0].start + Duration::from_secs(1), flows[1].start);
        assert_eq!(flows[0].start, alone.drawn(seed).flows[0].start, "another flow moves it");
        starts.push(flows[0].start.as_secs_f64());
    }
    let mean = starts.iter().sum::<f64>() / 200.0;
    assert!((mean - 0.005).abs() < 0.001, "{mean}");
    let brief = scenario("", "[flows.a]\nstop = \"100ms\"\n");
    assert!((1..=50).all(|seed| brief.drawn(seed).flows[0].start <= Duration::from_millis(1)));
    assert_eq!(both.drawn(3).drawn(4).flows[0].start, both.drawn(3).flows[0].start, "it is drawn once");
}

#[test]
fn a_host_takes_its_time_for_each_frame_and_for_none_that_is_passed_on() {
    let ping = |top: &str| {
        let text = format!(
            "duration = \"4s\"\n{top}\n[links.near]\nends = [\"client\", \"r\"]\nrate = \"1Gbit\"\ndelay = \"5ms\"\n\
             [links.far]\nends = [\"r\", \"server\"]\nrate = \"1Gbit\"\ndelay = \"5ms\"\n\
             [flows.f]\ntransport = \"tcp\"\nblocks = \"100B\"\nrate = \"80kbit\"\n"
        );
        let scenario = Scenario::parse(&text, "ping.toml").unwrap_or_else(|error| panic!("{error}"));
        run(&scenario, 1).flows[0].paths[0].mean_srtt
    };
    let still = ping("jitter = { start = \"0s\", processing = \"0s\" }");
    let busy = ping("jitter = { start = \"0s\", processing = \"1ms\" }");
    // Two hosts with half a millisecond each on average; the router has none.
    let more = busy - still;
    assert!((0.0007..0.0013).contains(&more), "{more}");
}
