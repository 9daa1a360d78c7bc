//! A run: all flows at their times, a look at each of them at every sample, to the end of the scenario.
//!
//! Owns the threads and the table of samples.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration as StdDuration;
use std::{io, thread};

use mptcp_clock::Instant;
use mptcp_lab::measurements::{Measurements, Metric, Samples};
use mptcp_lab::scenario::names::DataDirection;
use mptcp_lab::scenario::{Flow, Scenario, Traffic};
use mptcp_live::kernel::{Options, given};

use super::ends::{Course, Tally, Task, accept, open, ready};
use super::summary;
use super::watch::Watch;
use crate::driver::{Driver, LinkCounters};
use crate::plan::Plan;

/// The port of the first flow; the others follow.
const FIRST_PORT: u16 = 5001;
/// Between two looks whether the run was called off.
const SLICE: StdDuration = StdDuration::from_millis(20);

/// What is to be run.
#[derive(Clone, Debug)]
pub struct Order {
    /// The scenario.
    pub scenario: Arc<Scenario>,
    /// What its network is.
    pub plan: Plan,
    /// By host of the plan: its namespace.
    pub namespaces: Vec<String>,
    /// By flow: what its sockets are.
    pub options: Vec<Options>,
}

/// What a flow was given by the kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowReport {
    /// The flow.
    pub flow: String,
    /// The congestion controller, read back.
    pub congestion: String,
    /// SO_RCVBUF of the receiver and SO_SNDBUF of the sender, read back, bytes; 0 of a flow that was never connected.
    pub buffers: (u32, u32),
    /// What went wrong, in words.
    pub problem: Option<String>,
}

/// What a run gave.
#[derive(Debug)]
pub struct Ran {
    /// As the simulator gives it.
    pub measured: Measurements,
    /// By flow.
    pub flows: Vec<FlowReport>,
}

/// Runs it over a driver that has just started, until the end of the scenario or until `off` says so.
///
/// # Errors
/// When a socket cannot be made, or the system gives no thread.
pub fn run(order: &Order, driver: &Driver, off: &AtomicBool) -> io::Result<Ran> {
    let scenario = &*order.scenario;
    let tasks: Vec<Task> =
        (0..scenario.flows.len()).map(|flow| task(order, flow)).collect::<io::Result<_>>()?;
    let listeners = tasks.iter().map(ready).collect::<io::Result<Vec<_>>>()?;
    let tallies: Vec<Tally> = tasks.iter().map(|_| Tally::new()).collect();
    let course = Course { epoch: driver.epoch(), over: Arc::new(AtomicBool::new(false)) };
    thread::scope(|scope| {
        let ends = tasks.iter().zip(&listeners).zip(&tallies);
        for ((task, listener), tally) in ends {
            let course = &course;
            scope.spawn(move || accept(task, listener, course, tally));
            scope.spawn(move || open(task, course, tally));
        }
        let ran = look_on(order, &tasks, &tallies, &course, driver, off);
        course.over.store(true, Ordering::Relaxed);
        Ok(ran)
    })
}

/// Samples until the end.
fn look_on(
    order: &Order,
    tasks: &[Task],
    tallies: &[Tally],
    course: &Course,
    driver: &Driver,
    off: &AtomicBool,
) -> Ran {
    let scenario = &*order.scenario;
    let names: Vec<String> = scenario.links.iter().map(|link| link.name.clone()).collect();
    let mut samples = Samples::default();
    let addresses =
        |flow: &Flow| names.iter().map(|link| address_of(&order.plan, &flow.from, link)).collect();
    let flows = scenario.flows.iter().enumerate();
    let mut watches: Vec<Watch> = flows.map(|(at, flow)| Watch::new(at, addresses(flow))).collect();
    let (warmup, end) = (Instant::ZERO + scenario.warmup, Instant::ZERO + scenario.duration);
    let mut before: (Instant, Vec<LinkCounters>) = (Instant::ZERO, Vec::new());
    let mut nominal = Instant::ZERO;
    while nominal < end && !off.load(Ordering::Relaxed) && driver.is_running() {
        nominal = (nominal + scenario.sample).min(end);
        while course.now() < nominal && !off.load(Ordering::Relaxed) {
            thread::sleep(StdDuration::from_nanos(nominal.since(course.now()).as_nanos()).min(SLICE));
        }
        let now = course.now();
        for ((watch, task), tally) in watches.iter_mut().zip(tasks).zip(tallies) {
            watch.look(nominal, now, warmup, task, tally, &mut samples);
        }
        let snapshot = driver.snapshot();
        let at = Instant::ZERO + snapshot.elapsed;
        sample_links(nominal, tasks.len(), (at, &snapshot.links), &before, &mut samples);
        before = (at, snapshot.links);
    }
    let counters = driver.snapshot().links;
    let reports = scenario.flows.iter().zip(tasks).zip(tallies);
    let reports = reports.map(|((flow, task), tally)| report(flow, &task.options, tally));
    let sums = scenario.flows.iter().zip(&watches).zip(tallies);
    let measured = Measurements {
        flow_names: scenario.flows.iter().map(|flow| flow.name.clone()).collect(),
        flows: sums
            .map(|((flow, watch), tally)| summary::flow(flow, &names, scenario.warmup, end, watch, tally))
            .collect(),
        links: scenario
            .links
            .iter()
            .zip(&counters)
            .flat_map(|(link, both)| summary::link(link, both))
            .collect(),
        data_packets: counters.iter().flatten().map(|counters| counters.delivered_frames).sum(),
        path_names: names,
        samples,
        events: None,
    };
    Ran { measured, flows: reports.collect() }
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

fn report(flow: &Flow, wanted: &Options, tally: &Tally) -> FlowReport {
    let sender = tally.sender().and_then(|(stream, _)| given(&*stream).ok());
    let sender = sender.map(|(congestion, _, buffer)| (congestion, buffer));
    let problem = tally.problem().or_else(|| mismatch(wanted, sender.as_ref(), tally.receive_buffer()));
    let (congestion, send) = sender.unwrap_or_default();
    let buffers = (tally.receive_buffer().unwrap_or_default(), send);
    FlowReport { flow: flow.name.clone(), congestion, buffers, problem }
}

/// Where the kernel gave something else than what was asked for; of what nobody could ask, nothing is said.
fn mismatch(wanted: &Options, sender: Option<&(String, u32)>, receiver: Option<u32>) -> Option<String> {
    if let Some((given, _)) = sender.filter(|(given, _)| *given != wanted.congestion) {
        return Some(format!(
            "congestion {} was asked for, and the kernel gave {given:?}",
            wanted.congestion
        ));
    }
    let send = sender.map(|(_, buffer)| *buffer);
    for (name, asked, given) in
        [("SO_RCVBUF", wanted.receive_buffer, receiver), ("SO_SNDBUF", wanted.send_buffer, send)]
    {
        let (Some(asked), Some(given)) = (asked, given) else { continue };
        // socket(7): the kernel doubles it.
        if u64::from(given) != 2 * u64::from(asked) {
            return Some(format!(
                "{name} {asked} was asked for, and the kernel gave {given} in place of its double"
            ));
        }
    }
    None
}

/// A flow in the words of sockets. It goes to the peer's address on its first path, if that leads to the peer.
fn task(order: &Order, flow: usize) -> io::Result<Task> {
    let scenario = &*order.scenario;
    let spec = &scenario.flows[flow];
    let namespace = |name: &String| {
        let at = order.plan.hosts.iter().position(|host| host.name == *name);
        at.and_then(|at| order.namespaces.get(at)).cloned()
    };
    let first = spec.paths.first().map_or("", String::as_str);
    let near = address_of(&order.plan, &spec.from, first);
    let there = order.plan.hosts.iter().find(|host| host.name == spec.to);
    let far = address_of(&order.plan, &spec.to, first)
        .or_else(|| there.and_then(|host| host.devices.first()).map(|device| device.address));
    let hosts = (namespace(&spec.from), namespace(&spec.to));
    let (Some(from), Some(to), (Some(opens), Some(accepts))) = (near, far, hosts) else {
        let said = format!("flow {:?}: path {first:?} has no address at its ends", spec.name);
        return Err(io::Error::new(io::ErrorKind::AddrNotAvailable, said));
    };
    let end = Instant::ZERO + scenario.duration;
    Ok(Task {
        namespaces: [opens, accepts],
        from,
        to: SocketAddrV4::new(to, FIRST_PORT.wrapping_add(flow as u16)),
        options: order.options.get(flow).cloned().unwrap_or_default(),
        upload: spec.direction == DataDirection::Upload,
        bytes: if let Traffic::File { bytes } = spec.traffic { Some(bytes) } else { None },
        start: Instant::ZERO + spec.start,
        stop: spec.stop.map_or(end, |stop| Instant::ZERO + stop),
    })
}

fn address_of(plan: &Plan, host: &str, link: &str) -> Option<Ipv4Addr> {
    let host = plan.hosts.iter().find(|known| known.name == host)?;
    host.devices.iter().find(|device| device.link == link).map(|device| device.address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_gave_is_held_against_what_was_asked_for() {
        let wanted = Options {
            congestion: "cubic".to_owned(),
            receive_buffer: Some(100_000),
            send_buffer: Some(50_000),
            ..Options::default()
        };
        let sender = |name: &str, buffer| Some((name.to_owned(), buffer));
        assert_eq!(mismatch(&wanted, sender("cubic", 100_000).as_ref(), Some(200_000)), None);
        assert_eq!(mismatch(&wanted, None, None), None);
        for (sender, receiver, says) in [
            (
                sender("reno", 100_000),
                200_000,
                "congestion cubic was asked for, and the kernel gave \"reno\"",
            ),
            (sender("cubic", 100_000), 131_072, "SO_RCVBUF 100000 was asked for, and the kernel gave 131072"),
            (sender("cubic", 16_384), 200_000, "SO_SNDBUF 50000 was asked for, and the kernel gave 16384"),
        ] {
            let said = mismatch(&wanted, sender.as_ref(), Some(receiver)).unwrap_or_default();
            assert!(said.contains(says), "{said}");
        }
    }
}
