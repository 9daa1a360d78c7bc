//! Runs that someone watches and changes: looking changes nothing, and a change has the effect of an event.

use mptcp_lab::events::Filter;
use mptcp_lab::measurements::Measurements;
use mptcp_lab::scenario::Scenario;
use mptcp_lab::world::{PacketKind, World};
use mptcp_lab::{Duration, Instant};

const WIRES: &str = r#"
duration = "6s"
warmup = "1s"
[paths.a]
rate = "8Mbit"
delay = "10ms"
loss = "0.5%"
queue = "30p"
[paths.b]
rate = "4Mbit"
delay = "40ms"
jitter = "3ms"
[flows.both]
rcvbuf = "100KB"
[flows.other]
transport = "tcp"
paths = ["a"]
start = "2s"
[middleboxes.box]
kind = "strip-options"
path = "b"
on = false
"#;

const AIR: &str = r#"
duration = "4s"
[cells.home]
standard = "802.11g"
channel = 1
access_point = "ap"
[links.dsl]
ends = ["ap", "server"]
rate = "6Mbit"
delay = "10ms"
[links.mobile]
ends = ["client", "server"]
rate = "2Mbit"
delay = "50ms"
[stations.wifi]
host = "client"
cell = "home"
[flows.both]
from = "client"
to = "server"
"#;

const EVENTS: &str = r#"
[[events]]
at = "1500ms"
path = "a"
set = { up = false }
[[events]]
at = "2500ms"
path = "a"
set = { up = true, rate = "3Mbit", queue = "10p" }
[[events]]
at = "2500ms"
path = "b"
direction = "forward"
set = { delay = "5ms", loss = "2%", jitter = "0ms" }
[[events]]
at = "3s"
middlebox = "box"
set = { on = true }
[[events]]
at = "3s"
flow = "both"
set = { scheduler = "roundrobin", congestion = { kind = "cubic" } }
[[events]]
at = "4s"
path = "b"
set = { jitter = "9ms" }
[[events]]
at = "4500ms"
flow = "other"
set = { congestion = "bbr" }
"#;

fn parsed(text: &str) -> Scenario {
    Scenario::parse(text, "test.toml").expect("a scenario")
}

fn observed(scenario: &Scenario) -> World {
    let mut world = World::new(scenario, 7).expect("a network");
    world.observe(Filter::named(["all"]).expect("types"));
    world
}

fn at(seconds: f64) -> Instant {
    Instant::ZERO + Duration::from_secs_f64(seconds)
}

fn end(mut world: World) -> Measurements {
    world.advance(Instant::FAR_FUTURE).expect("it ends");
    world.finish()
}

#[test]
fn looking_at_a_run_changes_nothing() {
    for text in [WIRES, AIR] {
        let scenario = parsed(text);
        let alone = end(observed(&scenario));
        let mut world = observed(&scenario);
        let (mut seen, mut rows) = ([0_usize; 5], 0);
        for step in 0_u32.. {
            let now = at(f64::from(step) * 0.013);
            if now >= world.end() {
                break;
            }
            world.advance(now).expect("it runs");
            for link in 0..scenario.links.len() {
                for backward in [false, true] {
                    let packets = world.packets(now, link, backward, 100);
                    packets.iter().for_each(|packet| seen[packet.kind as usize] += 1);
                    let view = world.direction_view(link, backward).expect("a link");
                    let queued = packets.iter().filter(|p| matches!(p.position, netsim::Position::Queued(_)));
                    assert!(queued.count() as u64 <= view.queued_frames);
                }
            }
            world.flows_so_far(now);
            rows += world.take_events().len();
        }
        let watched = end(world);
        assert_eq!(watched.samples, alone.samples);
        assert_eq!(format!("{:?}", watched.links), format!("{:?}", alone.links));
        for (watched, alone) in watched.flows.iter().zip(&alone.flows) {
            for (watched, alone) in watched.paths.iter().zip(&alone.paths) {
                for ((name, watched), (_, alone)) in watched.limits.iter().zip(&alone.limits) {
                    assert!((watched - alone).abs() < 1e-3, "{name}: {watched} instead of {alone}");
                }
            }
            assert_eq!(watched.goodput, alone.goodput);
        }
        let all = rows + watched.events.expect("events").columns.len();
        assert_eq!(all, alone.events.expect("events").columns.len());
        for kind in [PacketKind::Data, PacketKind::Acknowledgement, PacketKind::Control] {
            assert!(seen[kind as usize] > 0, "{kind:?}: {seen:?}");
        }
    }
}

#[test]
fn a_change_has_the_effect_of_an_event() {
    let (before, after) = (parsed(WIRES), parsed(&format!("{WIRES}{EVENTS}")));
    let planned = end(observed(&after));
    let mut world = observed(&before);
    // As a person would: each event is added shortly before its time.
    let whole: Vec<&str> = EVENTS.split_inclusive("[[events]]\n").collect();
    for (moment, count) in [(1.4, 1), (2.499, 3), (2.9, 5), (3.99, 6), (4.2, 7)] {
        world.advance(at(moment)).expect("it runs");
        let known = whole[..=count].concat();
        let known = known.trim_end_matches("[[events]]\n");
        assert!(world.amend(&parsed(&format!("{WIRES}{known}"))), "at {moment}");
    }
    let changed = end(world);
    assert_eq!(changed.samples, planned.samples);
    assert_eq!(changed.events.expect("events").columns, planned.events.expect("events").columns);
    assert_ne!(changed.samples, end(observed(&before)).samples);
}

#[test]
fn a_change_of_the_past_or_of_the_network_needs_a_new_run() {
    let mut world = observed(&parsed(WIRES));
    world.advance(at(2.0)).expect("it runs");
    let event = "[[events]]\nat = \"2s\"\npath = \"a\"\nset = { up = false }\n";
    let wider = WIRES.replace("8Mbit", "9Mbit");
    let narrow = "[[events]]\nat = \"3s\"\npath = \"a\"\nset = { path_mtu = 1400 }\n";
    for other in [format!("{WIRES}{event}"), wider, format!("{WIRES}{narrow}")] {
        assert!(!world.amend(&parsed(&other)), "{other}");
    }
    assert_eq!(end(world).samples, end(observed(&parsed(WIRES))).samples);
}

#[test]
fn the_first_segments_are_kept_with_both_their_ends() {
    let mut world = observed(&parsed(WIRES));
    world.keep_segments(60);
    world.capture_in_memory(1 << 20).expect("memory");
    world.advance(at(0.5)).expect("it runs");
    let segments = world.segments();
    assert_eq!(segments.len(), 60);
    let first = &segments[0];
    assert!(first.sent && first.segment.options.mptcp.len() == 1, "{first:?}");
    let received = segments.iter().find(|seen| seen.id == first.id && !seen.sent).expect("it arrives");
    assert_eq!((received.path, received.flow), (first.path, first.flow));
    assert!(received.at > first.at);
    let paths: Vec<_> = segments.iter().filter_map(|seen| seen.path).collect();
    assert!(paths.contains(&0) && paths.contains(&1));
    let (file, is_whole) = world.captured().expect("a capture");
    assert_eq!(file[..4], [0x0a, 0x0d, 0x0d, 0x0a]);
    assert!(file.len() > 10_000 && is_whole);
    world.capture_in_memory(20_000).expect("memory");
    world.advance(at(1.0)).expect("it runs");
    let (file, is_whole) = world.captured().expect("a capture");
    assert!(file.len() <= 20_000 && !is_whole);
}
