//! A rate-based controller from outside the crate, which uses only the public interface.

use std::sync::Arc;

use mptcp_lab::Registry;
use mptcp_lab::mptcp::congestion::{Acked, CongestionControl, Lost, Path, Sample};
use mptcp_lab::scenario::Draft;

use super::*;

/// Sends at the highest observed rate, slightly faster in every eighth RTT, with at most two BDPs in flight.
#[derive(Clone, Debug, Default)]
struct Steady {
    best: f64,
    rounds: u32,
    round_end: u64,
    lost: u64,
}

impl CongestionControl for Steady {
    fn name(&self) -> &'static str {
        "steady"
    }

    fn needs_samples(&self) -> bool {
        true
    }

    fn on_ack(&mut self, _paths: &mut [Path], _path: usize, _acked: Acked) {
        unreachable!("windows are its own");
    }

    fn on_lost(&mut self, _paths: &mut [Path], _path: usize, lost: &Lost) {
        self.lost += lost.bytes;
    }

    fn on_sample(&mut self, paths: &mut [Path], path: usize, sample: &Sample) {
        if sample.delivered_before.is_some_and(|before| before >= self.round_end) {
            (self.rounds, self.round_end) = (self.rounds + 1, sample.total_delivered);
        }
        self.best = self.best.max(sample.rate.filter(|_| !sample.app_limited).unwrap_or(0.0));
        let state = &mut paths[path];
        let gain = if self.rounds < 12 || self.rounds.is_multiple_of(8) { 2.0 } else { 0.98 };
        let product = self.best * state.min_rtt.map_or(0.0, |rtt| rtt.as_secs_f64());
        state.cwnd = ((2.0 * product) as u64).max(10 * state.mss);
        state.pacing = (self.best > 0.0).then_some(gain * self.best);
        assert!(sample.in_flight <= sample.in_flight_before && sample.newly_lost <= self.lost);
    }
}

#[test]
fn rates_windows_and_pace_are_open_to_others() {
    let registry = Registry::new().congestion("steady", "The best rate", |_| Ok(Steady::default().into()));
    let registry = Arc::new(registry.expect("no name is taken"));
    let text = "duration = \"20s\"\nwarmup = \"5s\"\n[paths.p]\nrate = \"50Mbit\"\nrtt = \"50ms\"\nqueue = \"600kB\"\n\
                [paths.p.forward]\nloss = \"1%\"\n[flows.f]\ntransport = \"tcp\"\ncongestion = \"steady\"\n";
    let scenario = Draft::parse_with(text, "outside", &registry).and_then(|draft| draft.finish());
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
    let measured = World::new(&scenario, 1).expect("a network").run().expect("it comes to its end");
    println!("{:.1}", goodput(&measured, 'f'));
    assert!(measured.flows[0].intact);
    assert!(goodput(&measured, 'f') > 40.0, "{}", goodput(&measured, 'f'));
}
