//! Controllers in competition and alone, compared with papers and drafts. Each test names its source; the
//! table of `docs/congestion.md` has the results.
//!
//! Owns the network: one bottleneck with bulk TCP flows.

mod bbr;
mod bbr3;
mod coupled;
mod cubic;
mod multipath;
mod outside;
mod page;

use mptcp_lab::measurements::{Measurements, Metric};
use mptcp_lab::scenario::Scenario;
use mptcp_lab::world::World;

/// A bottleneck and its flows.
#[derive(Clone)]
struct Bottleneck {
    /// Mb/s.
    rate: f64,
    /// RTT, ms.
    rtt: f64,
    /// Buffer in BDPs.
    buffer: f64,
    /// Random loss, percent.
    loss: f64,
    seconds: f64,
    warmup: f64,
    seed: u64,
    /// Letter, controller, number.
    flows: Vec<(char, String, usize)>,
}

impl Bottleneck {
    fn new(rate: f64, rtt: f64, buffer: f64) -> Self {
        Self { rate, rtt, buffer, loss: 0.0, seconds: 20.0, warmup: 0.0, seed: 1, flows: Vec::new() }
    }

    /// Bandwidth-delay product, bytes.
    fn product(&self) -> f64 {
        self.rate * 1e6 / 8.0 * self.rtt / 1e3
    }

    fn lasting(self, seconds: f64, warmup: f64) -> Self {
        Self { seconds, warmup, ..self }
    }

    fn losing(self, loss: f64) -> Self {
        Self { loss, ..self }
    }

    fn seeded(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Adds `count` flows of a controller, named by the letter.
    fn with(mut self, letter: char, congestion: &str, count: usize) -> Self {
        self.flows.push((letter, congestion.into(), count));
        self
    }

    /// Flows start about 0.1 s apart, at random times.
    fn written(&self) -> String {
        let all = self.flows.iter().flat_map(|(letter, congestion, count)| {
            (0..*count).map(move |n| (format!("{letter}{n}"), congestion.as_str()))
        });
        all.zip(0_u64..).fold(String::new(), |text, ((name, congestion), at)| {
            let start = 100 * at + self.seed * 37 * (at + 1) % 97;
            format!(
                "{text}[flows.{name}]\ntransport = \"tcp\"\ncongestion = {congestion}\nstart = \"{start}ms\"\n\
                 rcvbuf = \"64MB\"\nsndbuf = \"64MB\"\n"
            )
        })
    }

    fn run(&self) -> Measurements {
        let queue = (self.product() * self.buffer).max(3000.0) as u64;
        let text = format!(
            "duration = \"{}s\"\njitter = {{ start = \"0s\", processing = \"0s\" }}\nwarmup = \"{}s\"\nsample = \"10ms\"\n[paths.p]\nrate = \"{}Mbit\"\nrtt = \"{}ms\"\n\
             queue = \"{queue}B\"\n[paths.p.forward]\nloss = \"{}%\"\n{}",
            self.seconds,
            self.warmup,
            self.rate,
            self.rtt,
            self.loss,
            self.written()
        );
        let scenario =
            Scenario::parse(&text, "competition").unwrap_or_else(|error| panic!("{error}\n{text}"));
        World::new(&scenario, self.seed).expect("a network").run().expect("it comes to its end")
    }
}

/// Goodput in Mb/s of the flows whose names start with the letter.
fn goodput(measured: &Measurements, letter: char) -> f64 {
    let flows = measured.flows.iter().filter(|flow| flow.flow.starts_with(letter));
    flows.map(|flow| flow.goodput).sum::<f64>() / 1e6
}

/// Share of these flows in the total.
fn share(measured: &Measurements, letter: char) -> f64 {
    let all: f64 = measured.flows.iter().map(|flow| flow.goodput).sum();
    goodput(measured, letter) * 1e6 / all
}

/// The values of a metric from `from` seconds on, with their times.
fn series(measured: &Measurements, metric: Metric, from: f64) -> Vec<(f64, f64)> {
    let samples = &measured.samples;
    let metric = Metric::ALL.iter().position(|known| *known == metric).expect("a metric") as u8;
    let wanted =
        (0..samples.time.len()).filter(|&at| samples.metric[at] == metric && samples.time[at] > from);
    wanted.map(|at| (samples.time[at], samples.value[at])).collect()
}

fn mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let (count, sum) = values.into_iter().fold((0.0, 0.0), |(count, sum), value| (count + 1.0, sum + value));
    sum / count
}

/// Share of data frames that the bottleneck queue dropped.
fn dropped(measured: &Measurements) -> f64 {
    let line = &measured.links[0];
    line.queue_drops as f64 / line.offered_frames as f64
}

/// The values of `measure` for runs with these seeds.
fn each(seeds: std::ops::RangeInclusive<u64>, measure: impl Fn(u64) -> f64) -> Vec<f64> {
    seeds.map(measure).collect()
}

fn lowest(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

fn highest(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// Mean queue from `from` seconds on, in BDPs.
fn mean_queue(network: &Bottleneck, measured: &Measurements, from: f64) -> f64 {
    mean(series(measured, Metric::Queue, from).iter().map(|sample| sample.1)) / network.product()
}

/// Start and duration of each interval in which the only flow had less than `part` of the BDP in flight.
fn dips(network: &Bottleneck, measured: &Measurements, part: f64, from: f64) -> Vec<(f64, f64)> {
    let mut dips: Vec<(f64, f64)> = Vec::new();
    let mut inside = false;
    for (time, value) in series(measured, Metric::InFlight, from) {
        let low = value < part * network.product();
        match (low, inside, dips.last_mut()) {
            (true, true, Some(last)) => last.1 = time - last.0,
            (true, _, _) => dips.push((time, 0.0)),
            _ => {}
        }
        inside = low;
    }
    dips
}
