//! Valid scenarios: meaning, merging, and round trips through TOML.

use mptcp_clock::Duration;
use mptcp_lab::scenario::names::{DataDirection, DownMode, Side, Transport};
use mptcp_lab::scenario::{Draft, LinkKind, Scenario, Switch, Traffic, Way};
use netsim::{GilbertElliott, Loss, QueueLimit};

fn scenario(text: &str) -> Scenario {
    Scenario::parse(text, "test.toml").unwrap_or_else(|error| panic!("{error}"))
}

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

const HANDOFF: &str = r#"
duration = "40s"
[paths.ethernet]
rate = "10Mbit"
delay = "1ms"
[paths.wifi]
rate = "2Mbit"
delay = "5ms"
loss = "3%"
[flows.bulk]
transport = "mptcp"
congestion = "lia"
scheduler = "minrtt"
[[events]]
at = "7s"
path = "ethernet"
set = { up = false }
"#;

/// A scenario with every feature.
const RICH: &str = r#"
name = "rich"
description = "A bit of everything."
duration = "10min"
warmup = "10s"
sample = "500ms"

[defaults]
congestion = "cubic"
rcvbuf = "200KB"
bytes = "15MB"

[paths.wifi]
rate = "8Mbit"
rtt = "21ms"
loss = "0.07%"
queue = "80ms"
jitter = "2ms"
reorder = true
mtu = 9000
[paths.wifi.backward]
rate = "unlimited"
delay = "3ms"
gilbert_elliott = { p = "1%", r = "25%", loss_bad = "90%" }

[paths.3g]
rate = "1.5mbit"
delay = "75ms"
queue = "500kB"
up = false

[links.access]
ends = ["client", "bridge"]
rate = "100Mb/s"
queue = "100p"
[links.bottleneck]
ends = ["bridge", "server"]
rate = "100Mbit"
[links.other]
ends = ["other", "bridge"]
rate = "1Gbit"

[flows.main]
backup = ["3g"]
mss = 1400
baselines = true
[flows.small]
count = 3
stagger = "1s"
start = "500ms"
stop = "1min"
direction = "download"
blocks = "8KB"
rate = "100kbit"
path_manager = "ndiffports"
subflows = 4
paths = ["access"]
[flows.cross]
from = "other"
transport = "tcp"
bulk = true
congestion = "reno"

[[events]]
at = "20s"
link = "bottleneck"
direction = "backward"
set = { rate = "50Mbit", loss = "0.1%", queue = "20p", delay = "1ms", jitter = "100us" }
[[events]]
at = "1.5s"
path = "wifi"
how = "blackhole"
set = { up = false }

[[filters]]
link = "bottleneck"
direction = "forward"
flows = ["small"]
paths = ["access"]
delay = "100ms"
loss = "0.03%"
"#;

#[test]
fn the_example_of_the_design_means_what_it_says() {
    let scenario = scenario(HANDOFF);
    assert_eq!((scenario.name.as_str(), scenario.duration), ("test", Duration::from_secs(40)));
    assert_eq!((scenario.warmup, scenario.sample), (Duration::ZERO, ms(100)));
    let [ethernet, wifi] = &scenario.links[..] else { panic!("two paths") };
    assert_eq!((ethernet.name.as_str(), ethernet.kind), ("ethernet", LinkKind::Path));
    assert_eq!(ethernet.ends, ["client", "server"]);
    assert_eq!((wifi.forward.rate, wifi.forward.delay), (Some(2_000_000), ms(5)));
    assert_eq!(wifi.forward.loss, Loss::Bernoulli(0.03));
    assert_eq!(wifi.forward, wifi.backward);
    assert_eq!(wifi.forward.queue, QueueLimit::Packets(1000));
    let [flow] = &scenario.flows[..] else { panic!("one flow") };
    assert_eq!(flow.paths, ["ethernet", "wifi"]);
    assert_eq!((&flow.traffic, flow.direction), (&Traffic::Bulk, DataDirection::Upload));
    assert_eq!((flow.congestion.kind(), flow.scheduler.kind()), ("lia", "minrtt"));
    assert!(flow.mechanisms.opportunistic_retransmission && !flow.mechanisms.penalisation);
    let [event] = &scenario.events[..] else { panic!("one event") };
    assert_eq!(
        (event.at, event.link.as_str(), event.set.up),
        (Duration::from_secs(7), "ethernet", Some(false))
    );
    assert_eq!((event.way, event.how), (Way::Both, DownMode::Admin));
}

#[test]
fn directions_say_what_is_different() {
    let scenario = scenario(RICH);
    let wifi = &scenario.links[0];
    assert_eq!((wifi.forward.rate, wifi.backward.rate), (Some(8_000_000), None));
    assert_eq!((wifi.forward.delay, wifi.backward.delay), (Duration::from_micros(10_500), ms(3)));
    assert_eq!(wifi.forward.loss, Loss::Bernoulli(0.0007));
    let model = GilbertElliott { good_to_bad: 0.01, bad_to_good: 0.25, loss_in_bad: 0.9, loss_in_good: 0.0 };
    assert_eq!(wifi.backward.loss, Loss::GilbertElliott(model));
    assert_eq!((wifi.forward.queue, wifi.backward.jitter), (QueueLimit::Time(ms(80)), ms(2)));
    assert!(wifi.forward.parameters().jitter.is_some_and(|jitter| jitter.reorder));
    assert_eq!(scenario.links[1].forward.rate, Some(1_500_000));
    assert_eq!(scenario.links[1].forward.queue, QueueLimit::Bytes(500_000));
    assert!(!scenario.links[1].forward.up);
}

#[test]
fn flows_take_the_defaults_and_copies_get_numbers() {
    let scenario = scenario(RICH);
    let names: Vec<&str> = scenario.flows.iter().map(|flow| flow.name.as_str()).collect();
    assert_eq!(names, ["main", "small-1", "small-2", "small-3", "cross"]);
    let [main, small, _, third, cross] = &scenario.flows[..] else { panic!("five flows") };
    assert_eq!(main.paths, ["wifi", "3g", "access"]);
    assert_eq!((main.congestion.kind(), main.tcp.rcvbuf), ("cubic", 204_800));
    assert_eq!(main.traffic, Traffic::File { bytes: 15_000_000 });
    assert_eq!(small.traffic, Traffic::Blocks { bytes: 8192, rate: Some(100_000) });
    assert_eq!((small.path_manager.kind(), small.ports()), ("ndiffports", Some(4)));
    assert_eq!((small.start, third.start, third.stop), (ms(500), ms(2500), Some(Duration::from_secs(60))));
    assert_eq!((cross.transport, &cross.traffic), (Transport::Tcp, &Traffic::Bulk));
    assert_eq!(cross.paths, ["other"]);
    assert_eq!(scenario.filters[0].flows.as_deref().map(<[String]>::len), Some(3));
    assert_eq!(scenario.filters[0].loss, 0.0003);
}

#[test]
fn events_are_in_order_of_time() {
    let scenario = scenario(RICH);
    assert_eq!(scenario.events[0].at, ms(1500));
    assert_eq!(scenario.events[0].how, DownMode::Blackhole);
    let late = &scenario.events[1];
    assert_eq!((late.link.as_str(), late.way), ("bottleneck", Way::One(Side::Backward)));
    assert_eq!((late.set.rate, late.set.loss), (Some(Some(50_000_000)), Some(0.001)));
    assert_eq!(late.set.queue, Some(QueueLimit::Packets(20)));
}

#[test]
fn a_scenario_written_back_is_the_same_scenario() {
    for text in [HANDOFF, RICH] {
        let first = scenario(text);
        let written = first.to_toml();
        let second = scenario(&written);
        assert_eq!(first, second);
        assert_eq!(written, second.to_toml());
    }
}

#[test]
fn a_file_wins_over_what_it_includes_key_by_key() {
    let scenario = Scenario::load("tests/good/derived.toml").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(scenario.name, "derived");
    assert_eq!(scenario.duration, Duration::from_secs(20), "from radio.toml, which comes after base.toml");
    assert_eq!(scenario.links[0].forward.rate, Some(8_000_000), "from base.toml");
    assert_eq!(scenario.links[0].forward.delay, ms(30), "from derived.toml");
    assert_eq!(scenario.links[1].name, "3g", "from radio.toml");
    assert_eq!(scenario.events.len(), 1, "arrays are replaced whole");
}

#[test]
fn overrides_go_through_the_same_checks() {
    let draft = Draft::parse(HANDOFF, "handoff.toml").unwrap_or_else(|error| panic!("{error}"));
    let with = |key: &str, value: &str| {
        let mut varied = draft.clone();
        varied.set(key, value).and_then(|()| varied.finish()).map_err(|error| error.to_string())
    };
    let loss = with("paths.wifi.loss", "1%").map(|scenario| scenario.links[1].forward.loss.clone());
    assert_eq!(loss, Ok(Loss::Bernoulli(0.01)));
    let backward =
        with("paths.wifi.backward.loss", "0%").map(|scenario| scenario.links[1].backward.loss.clone());
    assert_eq!(backward, Ok(Loss::None));
    assert_eq!(with("events.0.at", "8s").map(|scenario| scenario.events[0].at), Ok(Duration::from_secs(8)));
    assert_eq!(with("flows.bulk.sack", "false").map(|scenario| scenario.flows[0].tcp.sack), Ok(false));
    assert_eq!(with("flows.bulk.mss", "536").map(|scenario| scenario.flows[0].tcp.mss), Ok(Some(536)));
    let paths = with("flows.bulk.paths", "[\"wifi\"]").map(|scenario| scenario.flows[0].paths.clone());
    assert_eq!(paths, Ok(vec!["wifi".to_owned()]));
    let buffers = with("flows.*.{rcvbuf,sndbuf}", "100KB").map(|scenario| {
        scenario.flows.iter().map(|flow| (flow.tcp.rcvbuf, flow.tcp.sndbuf)).collect::<Vec<_>>()
    });
    assert_eq!(buffers, Ok(vec![(102_400, 102_400)]));
    let losses = with("paths.*.loss", "1%")
        .map(|scenario| scenario.links.iter().all(|link| link.forward.loss == Loss::Bernoulli(0.01)));
    assert_eq!(losses, Ok(true));
    for (key, value, message) in [
        (
            "paths.wifi.loss",
            "0.01",
            "--set: paths.wifi.loss = \"0.01\": a loss must be in percent (try \"1%\", or \"0.01%\" if it is in percent)",
        ),
        (
            "paths.wifi.rate",
            "8000000",
            "--set: paths.wifi.rate = 8000000: a rate needs a unit (try \"8Mbit\")",
        ),
        (
            "paths.wifi.delay",
            "10",
            "--set: paths.wifi.delay = 10: a delay needs a unit, such as \"10ms\" or \"10s\"",
        ),
        (
            "paths.wfii.loss",
            "1%",
            "--set: paths.wfii.loss = \"1%\": paths has no \"wfii\"; did you mean \"wifi\"? (there are: ethernet, wifi)",
        ),
        (
            "path.wifi.loss",
            "1%",
            "--set: path.wifi.loss = \"1%\": there is no such key; did you mean \"paths.wifi.loss\"?",
        ),
        (
            "wifi.loss",
            "1%",
            "--set: wifi.loss = \"1%\": there is no such key; did you mean \"paths.wifi.loss\"?",
        ),
        ("rcvbuf", "1MB", "--set: rcvbuf = \"1MB\": there is no such key; did you mean \"flows.*.rcvbuf\"?"),
        (
            "path.*.loss",
            "1%",
            "--set: path.*.loss = \"1%\": there is no such key; did you mean \"paths.*.loss\"?",
        ),
        (
            "events[0].at",
            "1s",
            "--set: events[0].at = \"1s\": there is no such key; did you mean \"events.0.at\"?",
        ),
        (
            "paths.wifi.rtt",
            "40ms",
            "--set: paths.wifi.rtt = \"40ms\": delay is also given, at handoff.toml:8, and an override cannot remove it; set paths.wifi.delay instead; rtt is twice the delay",
        ),
        (
            "events.3.at",
            "1s",
            "--set: events.3.at = \"1s\": events has one element, 0: elements count from 0; did you mean \"events.0.at\"?",
        ),
        (
            "events.0.at",
            "50s",
            "--set: events[0].at = \"50s\": must not be after the end of the run (duration 40s)",
        ),
        ("include", "[]", "--set: include = \"[]\": cannot be overridden; set include in the file"),
        ("cells.*.channel", "6", "--set: cells.*.channel = \"6\": no key matches * at \"cells\""),
        ("duration.x", "1s", "--set: duration.x = \"1s\": the scenario has no such key"),
    ] {
        assert_eq!(with(key, value).err().as_deref(), Some(message), "{key}");
    }
}

#[test]
fn middleboxes_survive_being_written() {
    let scenario = Scenario::load("tests/good/middleboxes.toml").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(self::scenario(&scenario.to_toml()), scenario);
    let said = |at: usize| {
        let one = &scenario.middleboxes[at];
        (one.name.as_str(), one.on, one.what.kind(), one.what.values().to_string())
    };
    assert_eq!(said(0), ("home", true, "nat", "timeout = \"300s\"\n".to_owned()));
    let stripped = "options = \"unknown\"\nfrom = [\"syn\", \"data\"]\n".to_owned();
    assert_eq!(said(2), ("old", false, "strip-options", stripped));
    assert_eq!(said(6), ("gateway", true, "rewrite-payload", "every = \"1MB\"\ngrow = \"7B\"\n".to_owned()));
    assert_eq!(scenario.middleboxes[4].way, Way::One(Side::Backward));
    // The event of the path is not among them.
    let wanted = Switch { at: Duration::from_secs(5), middlebox: "old".to_owned(), on: true };
    assert_eq!((scenario.switches.as_slice(), scenario.events.len()), ([wanted].as_slice(), 1));
}

#[test]
fn a_person_who_sends_no_value_gets_the_default_of_linux() {
    let flow = &scenario(HANDOFF).flows[0];
    assert_eq!((flow.tcp.rcvbuf, flow.tcp.sndbuf), (6_291_456, 4_194_304));
    assert_eq!((flow.tcp.min_rto, flow.tcp.initial_window, flow.tcp.mss), (ms(200), 10, None));
}
