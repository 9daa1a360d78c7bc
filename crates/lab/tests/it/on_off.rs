//! On-off datagrams through queue disciplines, alone and with TCP: direction and magnitude of the comparison
//! with ns-3 in docs/queues.md.

use mptcp_lab::measurements::{LinkSummary, Measurements, Metric};
use mptcp_lab::scenario::Scenario;
use mptcp_lab::world::World;

const RED: &str =
    "{ kind = \"red\", limit = \"400kB\", min = \"30kB\", max = \"90kB\", probability = \"10%\" }";
const CODEL: &str = "{ kind = \"codel\" }";
const FQ_CODEL: &str = "{ kind = \"fq_codel\" }";
const PIE: &str = "{ kind = \"pie\" }";
const TAIL: &str = "\"1000p\"";
const SEEDS: u64 = 3;
const ALL: [&str; 5] = [CODEL, FQ_CODEL, PIE, RED, TAIL];

/// Results on a link of 10 Mb/s: delays in milliseconds, shares of the link.
#[derive(Debug)]
struct Seen {
    median: f64,
    high: f64,
    dropped: f64,
    datagrams: f64,
    tcp: f64,
}

/// Ten sources with on periods of half a second, a mean offered load of `load`, and `flows` CUBIC flows.
fn through(queue: &str, load: f64, flows: u32) -> Seen {
    let peak = 2.0 * load * 1e6 * 1472.0 / 1514.0;
    let mut text = format!(
        "duration = \"60s\"\nwarmup = \"10s\"\nsample = \"10ms\"\n[paths.p]\nrate = \"10Mbit\"\nrtt = \"100ms\"\nqueue = {queue}\n\
         [flows.burst]\ntransport = \"udp\"\ncount = 10\nrate = \"{}bit\"\non = \"500ms\"\noff = \"500ms\"\n",
        peak.round()
    );
    if flows > 0 {
        text += &format!(
            "[flows.file]\ntransport = \"tcp\"\ncongestion = \"cubic\"\ncount = {flows}\nrcvbuf = \"8MB\"\nsndbuf = \"8MB\"\n"
        );
    }
    let scenario = Scenario::parse(&text, "on-off").unwrap_or_else(|error| panic!("{error}\n{text}"));
    let runs: Vec<Measurements> = (1..=SEEDS)
        .map(|seed| World::new(&scenario, seed).expect("a network").run().expect("it comes to its end"))
        .collect();
    let mut delays: Vec<f64> = runs.iter().flat_map(delays).collect();
    delays.sort_by(f64::total_cmp);
    let line = |of: fn(&LinkSummary) -> u64| runs.iter().map(|run| of(&run.links[0])).sum::<u64>() as f64;
    let carried = |name: &str| {
        let flows = runs.iter().flat_map(|run| &run.flows).filter(|flow| flow.flow.starts_with(name));
        flows.map(|flow| flow.goodput).sum::<f64>() / 10e6 / SEEDS as f64
    };
    Seen {
        median: delays[delays.len() / 2],
        high: delays[delays.len() * 95 / 100],
        dropped: line(|line| line.queue_drops) / line(|line| line.offered_frames),
        datagrams: carried("burst"),
        tcp: carried("file"),
    }
}

/// Time that the queue takes to drain, in milliseconds, after the warm-up.
fn delays(measured: &Measurements) -> Vec<f64> {
    let samples = &measured.samples;
    let metric = Metric::ALL.iter().position(|metric| *metric == Metric::Queue).expect("a metric") as u8;
    let wanted =
        (0..samples.time.len()).filter(|&at| samples.metric[at] == metric && samples.time[at] > 10.0);
    wanted.map(|at| samples.value[at] * 8.0 / 10e6 * 1e3).collect()
}

/// Ten sources with peak rates of a tenth of the link each never exceed it.
#[test]
fn half_a_line_waits_for_nothing() {
    for queue in ALL {
        let seen = through(queue, 0.5, 0);
        assert!(seen.high < 10.0 && seen.dropped < 0.001, "{queue}: {seen:?}");
    }
}

/// At nine tenths the link is overloaded briefly: drop-tail keeps all packets; the disciplines keep the queue
/// short and drop some percent.
#[test]
fn bursts_wait_in_a_tail_and_are_cut_by_disciplines() {
    let tail = through(TAIL, 0.9, 0);
    assert!(tail.high > 250.0 && tail.dropped == 0.0, "{tail:?}");
    for queue in [CODEL, FQ_CODEL, PIE, RED] {
        let seen = through(queue, 0.9, 0);
        assert!(seen.high < 0.6 * tail.high, "{queue}: {seen:?} {tail:?}");
        assert!((0.01..0.09).contains(&seen.dropped), "{queue}: {seen:?}");
    }
}

/// 150% load by unresponsive senders. CoDel increases its drop rate too slowly and does not limit them (RFC
/// 8289 section 1 requires responsive senders). FQ-CoDel does so in ten sub-queues at once. PIE's probability
/// and RED's second threshold limit them.
#[test]
fn who_does_not_listen_is_held_by_pie_and_red_and_not_by_codel() {
    let [codel, fq_codel, pie, red, tail] = ALL.map(|queue| through(queue, 1.5, 0));
    assert!(tail.median > 1150.0, "{tail:?}");
    assert!(codel.median > 300.0 && codel.high > 1000.0, "{codel:?}");
    assert!((100.0..400.0).contains(&fq_codel.median), "{fq_codel:?}");
    assert!(pie.median < 25.0, "{pie:?}");
    assert!((60.0..78.0).contains(&red.median), "{red:?}");
    for seen in [codel, fq_codel, pie, red, tail] {
        assert!((0.25..0.42).contains(&seen.dropped) && seen.datagrams > 0.91, "{seen:?}");
    }
}

/// Five CUBIC flows in addition. The datagrams leave 15% of the link. With sub-queues per flow, TCP gets its
/// share of five in fifteen, and the capacity that others leave.
#[test]
fn tcp_gets_what_is_left_or_its_share() {
    let rows = through(FQ_CODEL, 0.9, 5);
    assert!((0.35..0.50).contains(&rows.tcp), "{rows:?}");
    for queue in [CODEL, PIE, RED, TAIL] {
        let seen = through(queue, 0.9, 5);
        assert!((0.09..0.27).contains(&seen.tcp), "{queue}: {seen:?}");
        assert!(seen.datagrams > rows.datagrams + 0.1, "{queue}: {seen:?} {rows:?}");
    }
    let tail = through(TAIL, 0.5, 5);
    for queue in [CODEL, FQ_CODEL, PIE, RED] {
        let seen = through(queue, 0.5, 5);
        assert!((0.38..0.55).contains(&seen.tcp) && seen.median < 0.1 * tail.median, "{queue}: {seen:?}");
    }
}
