//! Delay of blocks written at a rate, and of datagrams, from their due time; and lateness after a deadline.

use mptcp_lab::measurements::FlowSummary;
use mptcp_lab::scenario::Scenario;
use mptcp_lab::world::World;

#[test]
fn blocks_that_were_due_while_the_buffer_was_full_are_written_all_the_same() {
    // In the first RTT, an autotuned buffer has space for eight blocks, and eighteen are due.
    let text = "duration = \"20s\"\n\
        [paths.p]\nrate = \"20Mbit\"\nrtt = \"300ms\"\nqueue = \"500p\"\n\
        [flows.f]\nautotuning = true\nblocks = \"8KiB\"\nrate = \"4Mbit\"\nnagle = false\n";
    let scenario = Scenario::parse(text, "network").unwrap_or_else(|e| panic!("{e}"));
    let run = World::new(&scenario, 1).expect("a network").run().expect("it comes to its end");
    let blocks = &run.flows[0].blocks;
    assert!(blocks[9].latency.as_secs_f64() > 0.3, "it was full");
    // Later blocks take the one-way delay and 3.4 ms on the link; a skipped one would delay all later ones by
    // 16 ms.
    let settled = blocks.iter().filter(|block| block.written_at.as_secs_f64() > 10.0);
    let latest = settled.map(|block| block.latency.as_secs_f64()).fold(0.0, f64::max);
    assert!((0.153..0.160).contains(&latest), "{latest:.4} s");
}

fn flow(text: &str) -> FlowSummary {
    let scenario = Scenario::parse(text, "network").unwrap_or_else(|e| panic!("{e}"));
    World::new(&scenario, 1).expect("a network").run().expect("it comes to its end").flows.remove(0)
}

/// 100 bytes of payload are a frame of 142 bytes: 1.136 ms at 1 Mb/s, plus 10 ms of propagation.
const VOICE: &str = "duration = \"10s\"\nwarmup = \"1s\"\n[paths.p]\nrate = \"1Mbit\"\nrtt = \"20ms\"\n";

fn voice(path: &str, deadline: &str) -> FlowSummary {
    flow(&format!(
        "{VOICE}{path}\n[flows.f]\ntransport = \"udp\"\ndatagram = \"100B\"\nrate = \"64kbit\"\ndeadline = \"{deadline}\"\n"
    ))
}

#[test]
fn datagrams_take_the_line_and_the_way_and_never_more() {
    let steady = voice("", "20ms");
    for value in steady.latency.expect("they arrive") {
        assert!((0.01113..0.01125).contains(&value), "{value}");
    }
    assert_eq!((steady.datagram_loss, steady.late), (Some(0.0), Some(0.0)));
    assert!(steady.jitter.expect("there are several") < 5e-5);
    assert_eq!(voice("", "11ms").late, Some(1.0));
}

#[test]
fn datagrams_that_never_arrive_are_lost_and_late() {
    let lossy = voice("loss = \"10%\"", "20ms");
    let loss = lossy.datagram_loss.expect("it sends datagrams");
    // 720 datagrams: four standard errors are 4.5%.
    assert!((0.055..0.145).contains(&loss), "{loss}");
    assert_eq!(lossy.late, Some(loss));
    let silent = voice("loss = \"100%\"", "20ms");
    assert_eq!((silent.datagram_loss, silent.late, silent.latency), (Some(1.0), Some(1.0), None));
}

#[test]
fn copies_of_datagrams_make_no_loss_smaller() {
    let loss =
        voice("loss = \"10%\"\nduplicate = \"100%\"", "20ms").datagram_loss.expect("it sends datagrams");
    assert!((0.055..0.145).contains(&loss), "{loss}");
}

#[test]
fn jitter_is_that_of_rfc_3550() {
    let scattered = voice("jitter = \"5ms\"\nreorder = true", "20ms");
    // Uniform within 5 ms of the delay: two of them differ by 10/3 ms on average.
    let jitter = scattered.jitter.expect("there are several");
    assert!((0.002..0.005).contains(&jitter), "{jitter}");
    let [median, most, _] = scattered.latency.expect("they arrive");
    assert!((0.0105..0.0118).contains(&median) && (0.0153..0.0162).contains(&most), "{median} {most}");
}

#[test]
fn blocks_that_wait_beyond_their_deadline_are_late() {
    let down = "[[events]]\nat = \"5s\"\npath = \"p\"\nhow = \"blackhole\"\nset = { up = false }\n";
    let text = format!("{VOICE}[flows.f]\nblocks = \"1KB\"\nrate = \"80kbit\"\ndeadline = \"100ms\"\n{down}");
    let half = flow(&text);
    // Due from 1 s to 9.9 s: 890 blocks, of which those after 5 s never arrive.
    let late = half.late.expect("it has a deadline");
    assert!((0.54..0.56).contains(&late), "{late}");
    assert!(half.latency.expect("some arrive")[2] < 0.1, "those that arrived were in time");
}

#[test]
fn a_file_is_late_or_not() {
    let file = |more: &str| flow(&format!("{VOICE}[flows.f]\nbytes = \"100KB\"\n{more}"));
    let took = file("").completion.expect("it is complete");
    assert!((0.8..1.2).contains(&took), "{took}");
    assert_eq!(file("deadline = \"2s\"\n").late, Some(0.0));
    assert_eq!(file("deadline = \"500ms\"\n").late, Some(1.0));
    assert_eq!(file("").late, None);
}
