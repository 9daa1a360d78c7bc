//! Queue disciplines under TCP, compared with the claims of their authors. Direction and magnitude, not
//! curves. docs/queues.md has the comparison with ns-3.

use mptcp_lab::measurements::{Measurements, Metric};
use mptcp_lab::scenario::Scenario;
use mptcp_lab::world::World;

/// 10 Mb/s, 100 ms, `flows` CUBIC flows, and the queue.
fn run(queue: &str, flows: u32, keys: &str) -> Measurements {
    simulated(&format!(
        "duration = \"30s\"\nwarmup = \"10s\"\nsample = \"10ms\"\n[paths.p]\nrate = \"10Mbit\"\nrtt = \"100ms\"\n\
         queue = {queue}\n[flows.f]\ntransport = \"tcp\"\ncongestion = \"cubic\"\ncount = {flows}\nrcvbuf = \"8MB\"\n\
         sndbuf = \"8MB\"\n{keys}\n"
    ))
}

fn simulated(text: &str) -> Measurements {
    let scenario = Scenario::parse(text, "queues").unwrap_or_else(|error| panic!("{error}\n{text}"));
    World::new(&scenario, 1).expect("a network").run().expect("it comes to its end")
}

/// Time that the queue takes to drain at 10 Mb/s, in milliseconds: the median of the samples after the
/// warm-up.
fn delay(measured: &Measurements) -> f64 {
    let samples = &measured.samples;
    let metric = Metric::ALL.iter().position(|metric| *metric == Metric::Queue).expect("a metric") as u8;
    let wanted =
        (0..samples.time.len()).filter(|&at| samples.metric[at] == metric && samples.time[at] > 10.0);
    let mut delays: Vec<f64> = wanted.map(|at| samples.value[at] * 8.0 / 10e6 * 1e3).collect();
    delays.sort_by(f64::total_cmp);
    delays[delays.len() / 2]
}

fn goodputs(measured: &Measurements, name: &str) -> Vec<f64> {
    measured.flows.iter().filter(|flow| flow.flow.starts_with(name)).map(|flow| flow.goodput).collect()
}

fn total(measured: &Measurements) -> f64 {
    goodputs(measured, "f").iter().sum()
}

/// Jain's index.
fn fairness(values: &[f64]) -> f64 {
    values.iter().sum::<f64>().powi(2)
        / (values.len() as f64 * values.iter().map(|value| value * value).sum::<f64>())
}

/// RFC 8289: a drop-tail queue is persistently full, CoDel's is near its target, and the link stays busy. One
/// flow over such a long path loses some utilisation (section 1).
#[test]
fn codel_takes_the_standing_queue_away() {
    let (tail, codel) = (run("\"1000p\"", 5, ""), run("{ kind = \"codel\" }", 5, ""));
    assert!(delay(&tail) > 500.0, "{}", delay(&tail));
    assert!(delay(&codel) < 10.0, "{}", delay(&codel));
    assert!(total(&codel) > 8.7e6, "{}", total(&codel));
}

/// RFC 8033: the delay stays at the target whatever the number of flows (Pan et al., HPSR 2013, figures 4 and 5).
#[test]
fn pie_holds_its_target_with_few_flows_and_with_many() {
    for flows in [5, 50] {
        let measured = run("{ kind = \"pie\" }", flows, "");
        assert!((9.0..22.0).contains(&delay(&measured)), "{flows}: {}", delay(&measured));
        assert!(total(&measured) > 9.2e6, "{flows}: {}", total(&measured));
    }
    let longer = run("{ kind = \"pie\", target = \"50ms\" }", 5, "");
    assert!((35.0..65.0).contains(&delay(&longer)), "{}", delay(&longer));
}

/// RFC 8290 section 1: shares are equal, and sparse flows do not wait. With drop-tail and CoDel, an
/// unresponsive flow takes what it offers.
#[test]
fn fq_codel_keeps_flows_apart() {
    let fq = run("{ kind = \"fq_codel\" }", 10, "");
    assert!(fairness(&goodputs(&fq, "f")) > 0.999, "{:?}", goodputs(&fq, "f"));
    let beside = |queue: &str| {
        let measured = simulated(&format!(
            "duration = \"20s\"\nwarmup = \"5s\"\n[paths.p]\nrate = \"10Mbit\"\nrtt = \"20ms\"\nqueue = {queue}\n\
             [flows.f]\ntransport = \"tcp\"\n[flows.flood]\ntransport = \"udp\"\nrate = \"9Mbit\"\n"
        ));
        goodputs(&measured, "f")[0]
    };
    let (fq, codel, tail) =
        (beside("{ kind = \"fq_codel\" }"), beside("{ kind = \"codel\" }"), beside("\"100p\""));
    assert!(fq > 4.2e6 && codel < 2e6 && tail < 2e6, "{fq} {codel} {tail}");
}

/// Floyd and Jacobson 1993: the average stays between the thresholds while the probability suffices.
#[test]
fn red_stays_between_its_thresholds() {
    let red = "{ kind = \"red\", limit = \"400KB\", min = \"30KB\", max = \"90KB\", probability = \"10%\" }";
    for flows in [5, 20] {
        let measured = run(red, flows, "");
        assert!((20.0..76.0).contains(&delay(&measured)), "{flows}: {}", delay(&measured));
        assert!(total(&measured) > 9.2e6, "{flows}: {}", total(&measured));
    }
}

/// De Schepper et al. (CoNEXT 2016, figures 15 and 17) and RFC 9332 section 1.2: with one marking queue, DCTCP
/// gets about ten times the rate of CUBIC. The coupled queues give both the same rate, with delays of 1 ms and
/// 15 ms.
#[test]
fn dualpi2_lets_scalable_and_classic_flows_share() {
    let both = |queue: &str| {
        let measured = simulated(&format!(
            "duration = \"30s\"\nwarmup = \"10s\"\n[paths.p]\nrate = \"40Mbit\"\nrtt = \"20ms\"\nqueue = {queue}\n\
             [flows.scalable]\ntransport = \"tcp\"\ncongestion = \"dctcp\"\n[flows.classic]\ntransport = \"tcp\"\n\
             congestion = \"cubic\"\n"
        ));
        let ratio = goodputs(&measured, "scalable")[0] / goodputs(&measured, "classic")[0];
        let waits = |flow: usize| measured.flows[flow].paths[0].mean_srtt * 1e3 - 20.0;
        (ratio, waits(0), waits(1))
    };
    let (ratio, ..) = both("{ kind = \"pie\", ecn = true }");
    assert!(ratio > 5.0, "{ratio}");
    let (ratio, scalable, classic) = both("{ kind = \"dualpi2\", any_ect = true }");
    assert!((0.5..2.0).contains(&ratio), "{ratio}");
    assert!(scalable < 2.0 && (8.0..25.0).contains(&classic), "{scalable} {classic}");
}

/// ECN-capable connections get marks instead of drops.
#[test]
fn disciplines_mark_instead_of_dropping() {
    for queue in ["{ kind = \"codel\", ecn = true }", "{ kind = \"fq_codel\" }"] {
        let line = &run(queue, 5, "ecn = \"on\"").links[0];
        assert!(line.queue_marks > Some(100) && line.queue_drops == 0, "{queue}: {line:?}");
    }
}

/// tc-tbf: the rate is the shaper's, the burst passes at the link rate.
#[test]
fn a_shaper_is_the_bottleneck() {
    let shaped = run("{ kind = \"tbf\", rate = \"4Mbit\", burst = \"15KB\", limit = \"100ms\" }", 2, "");
    assert!((3.6e6..3.95e6).contains(&total(&shaped)), "{}", total(&shaped));
    let policed = run("{ kind = \"police\", rate = \"4Mbit\", burst = \"60KB\" }", 2, "");
    assert!((1e6..3.95e6).contains(&total(&policed)) && delay(&policed) < 1.0, "{}", total(&policed));
}

/// The highest priority is served first: blocks with a bulk flow.
#[test]
fn priority_keeps_blocks_from_waiting() {
    let latency = |queue: &str| {
        let measured = simulated(&format!(
            "duration = \"20s\"\nwarmup = \"5s\"\n[paths.p]\nrate = \"10Mbit\"\nrtt = \"20ms\"\nqueue = {queue}\n\
             [flows.bulk]\ntransport = \"tcp\"\nrcvbuf = \"4MB\"\n[flows.voice]\ntransport = \"tcp\"\nblocks = \"200B\"\n\
             rate = \"80kbit\"\nnagle = false\n"
        ));
        let voice = measured.flows.iter().find(|flow| flow.flow == "voice").expect("a flow");
        let mut all: Vec<u64> = voice.blocks.iter().map(|block| block.latency.as_micros()).collect();
        all.sort_unstable();
        all[all.len() / 2]
    };
    let (first, plain) = (latency("{ kind = \"prio\", bands = [[\"voice\"]] }"), latency("\"200p\""));
    assert!(first < 13_000 && plain > 60_000, "{first} {plain}");
}

/// A sender of datagrams at the maximum rate neither loops at one instant when a discipline drops a queued
/// packet, nor waits for the next sample when it drops with an empty queue.
#[test]
fn floods_go_on_under_disciplines_that_drop() {
    let flood = |rate: &str, queue: &str, sample: &str| {
        let measured = simulated(&format!(
            "duration = \"5s\"\nwarmup = \"1s\"\nsample = {sample}\n[paths.p]\nrate = {rate}\nrtt = \"20ms\"\nqueue = {queue}\n\
             [flows.f]\ntransport = \"udp\"\n"
        ));
        total(&measured)
    };
    for queue in [
        "{ kind = \"fq_codel\", limit = \"50p\" }",
        "{ kind = \"red\", limit = \"40KB\" }",
        "{ kind = \"pie\" }",
    ] {
        let carried = flood("\"10Mbit\"", queue, "\"100ms\"");
        assert!(carried > 8.5e6, "{queue}: {carried}");
    }
    let police = "{ kind = \"police\", rate = \"4Mbit\", burst = \"15KB\" }";
    let (fine, coarse) = (flood("\"100Mbit\"", police, "\"100ms\""), flood("\"100Mbit\"", police, "\"1s\""));
    assert!((3.6e6..4e6).contains(&fine) && (fine / coarse - 1.0).abs() < 0.01, "{fine} {coarse}");
}
