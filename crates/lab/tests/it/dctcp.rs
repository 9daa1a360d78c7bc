//! DCTCP (RFC 8257) compared with Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010: figure 1 (queues
//! of two flows), section 3.3 (analysis) and figure 14 (throughput by K). Direction and magnitude, not curves.

use mptcp_lab::measurements::{Measurements, Metric};
use mptcp_lab::scenario::Scenario;
use mptcp_lab::world::World;

/// K at 1 Gb/s in packets (section 3.4 of the paper).
const K: f64 = 20.0;
/// A full frame on the line, bytes.
const FRAME: f64 = 1514.0;

/// `flows` bulk flows over a link of 1 Gb/s with an RTT of 100 us, all with the same controller.
fn run(flows: u32, keys: &str, mark: &str) -> Measurements {
    let text = format!(
        "duration = \"3s\"\njitter = {{ start = \"0s\", processing = \"0s\" }}\nwarmup = \"500ms\"\nsample = \"1ms\"\n[paths.p]\nrate = \"1Gbit\"\nrtt = \"100us\"\n\
         queue = \"700kB\"\n{mark}\n[flows.f]\ntransport = \"tcp\"\ncount = {flows}\n{keys}\n"
    );
    let scenario = Scenario::parse(&text, "dctcp").unwrap_or_else(|error| panic!("{error}\n{text}"));
    World::new(&scenario, 1).expect("a network").run().expect("it comes to its end")
}

/// Queue length in packets, at each sample after the warm-up.
fn queue(measured: &Measurements) -> Vec<f64> {
    let samples = &measured.samples;
    let metric = Metric::ALL.iter().position(|metric| *metric == Metric::Queue).expect("a metric") as u8;
    let wanted = (0..samples.time.len()).filter(|&at| samples.metric[at] == metric && samples.time[at] > 0.5);
    wanted.map(|at| samples.value[at] / FRAME).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn goodput(measured: &Measurements) -> f64 {
    measured.flows.iter().map(|flow| flow.goodput).sum()
}

/// Share of marked data packets.
fn marked(measured: &Measurements) -> f64 {
    let line = &measured.links[0];
    line.queue_marks.expect("it marks") as f64 / line.sent_frames as f64
}

const MARK: &str = "mark = \"20p\"";
const DCTCP: &str = "congestion = \"dctcp\"";

/// Figure 1: two flows keep the queue at about K packets, where TCP fills it.
#[test]
fn the_queue_stays_around_the_threshold() {
    let (ours, tcp) = (run(2, DCTCP, MARK), run(2, "", ""));
    let (short, long) = (queue(&ours), queue(&tcp));
    assert!((0.5 * K..K + 4.0).contains(&mean(&short)), "mean {}", mean(&short));
    // Section 3.3, equation 10: at most K + N, and a packet of each flow for delayed acknowledgements.
    let highest = short.iter().copied().fold(0.0, f64::max);
    assert!(highest <= K + 8.0, "highest {highest}");
    println!("mean {:.1}, highest {highest:.0}, TCP's mean {:.0}", mean(&short), mean(&long));
    assert!(mean(&long) > 10.0 * mean(&short), "TCP's mean {}", mean(&long));
    let drops: u64 = ours.links.iter().map(|link| link.queue_drops).sum();
    assert_eq!(drops, 0);
}

/// Figure 14: with K above the bound of the analysis (a seventh of the bandwidth-delay product), throughput is
/// not reduced.
#[test]
fn the_line_is_full_all_the_same() {
    let (ours, tcp) = (goodput(&run(2, DCTCP, MARK)), goodput(&run(2, "", "")));
    println!("{:.3} of TCP's", ours / tcp);
    assert!(ours > 0.98 * tcp, "{ours} against {tcp}");
    // Halving at the same marks (RFC 3168) reduces throughput at a low threshold.
    let low = "mark = \"3p\"";
    let (ours, halving) = (goodput(&run(1, DCTCP, low)), goodput(&run(1, "ecn = \"on\"", low)));
    assert!(ours > halving, "{ours} against {halving}");
}

/// Section 3.3, equation 6: alpha is about the square root of 2 / W*, where W* = (C RTT + K) / N, and the
/// share of marks is alpha. The paper's windows grow in every RTT. Here, as in every kernel, they pause for
/// one RTT after a mark and have a minimum of two segments, so small windows get fewer marks.
#[test]
fn the_share_of_marks_follows_the_window() {
    let product = 1e9 / 8.0 * 100e-6 / FRAME;
    let keys = format!("{DCTCP}\ndelayed_ack = false");
    let shares = [1, 2, 4, 8].map(|flows| {
        let share = marked(&run(flows, &keys, MARK));
        let window = (product + K) / f64::from(flows);
        let expected = (2.0 / window).sqrt();
        println!("{flows} flows: {:.2} of what is expected", share / expected);
        assert!((0.6..1.2).contains(&(share / expected)), "{flows} flows: {share} for {expected}");
        share
    });
    // A quarter of the window gives twice the marks.
    for (few, many) in [(shares[0], shares[2]), (shares[1], shares[3])] {
        assert!((1.5..2.3).contains(&(many / few)), "{many} after {few}");
    }
}
