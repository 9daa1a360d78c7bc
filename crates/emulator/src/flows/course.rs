//! Samples all flows and links of a run on real packets at a fixed interval, until the run ends.
//!
//! Owns the table of samples, which has the form of the simulator's. A course takes the samples in one
//! thread. Other threads, of `kernel` (Linux's sockets) or `wire` (mptcplab's stack), move the data and count
//! it in a tally for each flow. For these threads, `load` converts the traffic of a flow to a direction,
//! bytes and times.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration as StdDuration;

use mptcp_clock::Instant;
use mptcp_lab::measurements::{Measurements, Metric, Samples};
use mptcp_lab::scenario::names::DataDirection;
use mptcp_lab::scenario::{Flow, Scenario, Traffic};
use mptcp_live::kernel::SocketInfo;

use super::tally::{Clock, Tally};
use super::transfer::Load;
use super::watch::Watch;
use super::{address_of, summary};
use crate::driver::{Driver, LinkCounters};
use crate::plan::Plan;

/// Interval between checks for an abort.
const SLICE: StdDuration = StdDuration::from_millis(20);

/// A run: its scenario, links and clock.
pub(crate) struct Course<'a> {
    pub scenario: &'a Scenario,
    pub plan: &'a Plan,
    pub driver: &'a Driver,
    pub clock: Clock,
}

impl<'a> Course<'a> {
    /// A run over a driver that has just started.
    pub(crate) fn new(scenario: &'a Scenario, plan: &'a Plan, driver: &'a Driver) -> Self {
        let clock = Clock { epoch: driver.epoch(), over: Arc::new(AtomicBool::new(false)) };
        Self { scenario, plan, driver, clock }
    }

    /// Samples until the end, or until `stop` is set; `ask` queries the sending socket. Then sets the clock's
    /// `over`, which ends all threads of the run.
    pub(crate) fn look_on<S: Clone>(
        &self,
        tallies: &[Tally<S>],
        stop: &AtomicBool,
        ask: impl Fn(&S) -> Option<SocketInfo>,
    ) -> Measurements {
        let scenario = self.scenario;
        let mut samples = Samples::default();
        let mut watches: Vec<Watch> =
            scenario.flows.iter().enumerate().map(|(at, flow)| self.watch(at, flow)).collect();
        let (warmup, end) = (Instant::ZERO + scenario.warmup, Instant::ZERO + scenario.duration);
        let mut before: (Instant, Vec<LinkCounters>) = (Instant::ZERO, Vec::new());
        let mut nominal = Instant::ZERO;
        while nominal < end
            && !stop.load(Ordering::Relaxed)
            && self.driver.is_running()
            && !self.is_done(tallies)
        {
            nominal = (nominal + scenario.sample).min(end);
            while self.clock.now() < nominal && !stop.load(Ordering::Relaxed) {
                let left = StdDuration::from_nanos(nominal.since(self.clock.now()).as_nanos());
                thread::sleep(left.min(SLICE));
            }
            let now = self.clock.now();
            for (watch, tally) in watches.iter_mut().zip(tallies) {
                let said = tally.sender().and_then(|sender| ask(&sender));
                watch.look((nominal, now), warmup, said, tally, &mut samples);
            }
            let snapshot = self.driver.snapshot();
            let at = Instant::ZERO + snapshot.elapsed;
            sample_links(nominal, tallies.len(), (at, &snapshot.links), &before, &mut samples);
            before = (at, snapshot.links);
        }
        let measured = self.sum_up(&watches, tallies, samples, nominal);
        self.clock.over.store(true, Ordering::Relaxed);
        measured
    }

    /// Whether the run can end early.
    fn is_done<S: Clone>(&self, tallies: &[Tally<S>]) -> bool {
        let mut files = self.scenario.flows.iter().zip(tallies).filter(|(flow, _)| flow.has_a_file());
        self.scenario.until_done && files.all(|(_, tally)| tally.has_ended())
    }

    fn watch(&self, at: usize, flow: &Flow) -> Watch {
        let links = self.scenario.links.iter();
        let addresses = links.map(|link| address_of(self.plan, &flow.from, &link.name)).collect();
        Watch::new(at, flow.direction == DataDirection::Upload, addresses)
    }

    fn sum_up<S: Clone>(
        &self,
        watches: &[Watch],
        tallies: &[Tally<S>],
        samples: Samples,
        end: Instant,
    ) -> Measurements {
        let scenario = self.scenario;
        let names: Vec<String> = scenario.links.iter().map(|link| link.name.clone()).collect();
        let snapshot = self.driver.snapshot();
        let (counters, seconds) = (snapshot.links, snapshot.elapsed.as_secs_f64());
        let sums = scenario.flows.iter().zip(watches).zip(tallies);
        Measurements {
            flow_names: scenario.flows.iter().map(|flow| flow.name.clone()).collect(),
            flows: sums
                .map(|((flow, watch), tally)| summary::flow(flow, &names, scenario.warmup, end, watch, tally))
                .collect(),
            links: scenario
                .links
                .iter()
                .zip(counters.iter().zip(&snapshot.uses))
                .flat_map(|(link, (both, uses))| summary::link(link, both, uses, seconds))
                .collect(),
            measured: end.since(Instant::ZERO + scenario.warmup).as_secs_f64(),
            data_packets: counters.iter().flatten().map(|counters| counters.delivered_frames).sum(),
            path_names: names,
            samples,
            events: None,
        }
    }
}

/// Traffic of a flow.
pub(crate) fn load(scenario: &Scenario, flow: &Flow) -> Load {
    let end = Instant::ZERO + scenario.duration;
    Load {
        upload: flow.direction == DataDirection::Upload,
        bytes: if let Traffic::File { bytes } = flow.traffic { Some(bytes) } else { None },
        start: Instant::ZERO + flow.start,
        stop: flow.stop.map_or(end, |stop| Instant::ZERO + stop),
    }
}

fn sample_links(
    nominal: Instant,
    no_flow: usize,
    now: (Instant, &[LinkCounters]),
    then: &(Instant, Vec<LinkCounters>),
    samples: &mut Samples,
) {
    let span = now.0.since(then.0).as_secs_f64();
    for (path, [out, back]) in now.1.iter().enumerate() {
        let [old_out, old_back] = then.1.get(path).copied().unwrap_or_default();
        let rate = |now: u64, then: u64| (now - then) as f64 * 8.0 / span.max(1e-9);
        let (sent, received) =
            (rate(out.sent_bytes, old_out.sent_bytes), rate(back.delivered_bytes, old_back.delivered_bytes));
        samples.push(nominal, no_flow, path, Metric::InterfaceThroughput, sent);
        samples.push(nominal, no_flow, path, Metric::InterfaceReceived, received);
        let both = |pick: fn(&netsim::Counters) -> u64| (pick(out) + pick(back)) as f64;
        samples.push(nominal, no_flow, path, Metric::Queue, both(|c| c.backlog_bytes));
        samples.push(nominal, no_flow, path, Metric::QueueDrops, both(|c| c.dropped_frames));
        samples.push(nominal, no_flow, path, Metric::RandomLosses, both(|c| c.lost_frames));
    }
}
