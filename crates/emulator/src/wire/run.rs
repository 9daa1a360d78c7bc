//! A run of all flows on mptcplab's stack.
//!
//! Owns the threads, the notification of hosts about their links, and the conversion of connection states. A
//! tally has the counters of a flow; the course samples all flows and links until the run ends. The
//! emulator's [`Driver`] runs the links; each host has a `mptcp_live::Driver`, which runs its endpoint.

use std::net::{SocketAddr, SocketAddrV4};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration as StdDuration;
use std::{io, thread};

use mptcp_clock::{Duration, Instant};
use mptcp_lab::mptcp::{ConnectionInfo, InterfaceId, Mode, SubflowInfo};
use mptcp_lab::scenario::names::DownMode;
use mptcp_lab::scenario::{Flow, Scenario};
use mptcp_lab::{accepting_config, flow_config};
use mptcp_live::kernel::{PathInfo, SocketInfo};

use super::ends::{Sender, Task, accept, open, ready};
use super::hosts::Hosts;
use crate::driver::Driver;
use crate::flows::course::{Course, load};
use crate::flows::report::{FlowReport, Ran};
use crate::flows::tally::{Clock, Tally};
use crate::flows::{FIRST_PORT, address_of};
use crate::plan::Plan;

/// Interval between checks for due notifications.
const SLICE: StdDuration = StdDuration::from_millis(1);

/// The scenario of a run, its planned network and its hosts.
#[derive(Debug)]
pub struct Order {
    /// The scenario with the flows to run.
    pub scenario: Arc<Scenario>,
    /// The plan of the scenario's network: hosts, devices, addresses and routes.
    pub plan: Plan,
    /// The hosts of the plan.
    pub hosts: Arc<Hosts>,
}

/// Runs `order` over a driver that has just started, until the end of the scenario or until `stop` is set.
///
/// # Errors
/// If an endpoint cannot listen, or the system provides no thread.
pub fn run(order: &Order, driver: &Driver, stop: &AtomicBool) -> io::Result<Ran> {
    let scenario = &*order.scenario;
    let tasks: Vec<Task<'_>> =
        (0..scenario.flows.len()).map(|flow| task(order, flow)).collect::<io::Result<_>>()?;
    let listeners = tasks.iter().map(ready).collect::<io::Result<Vec<_>>>()?;
    let tallies: Vec<Tally<Sender>> = tasks.iter().map(|_| Tally::new()).collect();
    let course = Course::new(scenario, &order.plan, driver);
    thread::scope(|scope| {
        let clock = &course.clock;
        for ((task, listener), tally) in tasks.iter().zip(&listeners).zip(&tallies) {
            scope.spawn(move || accept(task, listener, clock, tally));
            scope.spawn(move || open(task, clock, tally));
        }
        scope.spawn(move || tell(order, clock));
        let measured = course.look_on(&tallies, stop, |stream| stream.info().ok().map(|info| said(&info)));
        let flows = scenario.flows.iter().zip(&tallies).map(|(flow, tally)| report(flow, tally));
        Ok(Ran { measured, flows: flows.collect() })
    })
}

fn report(flow: &Flow, tally: &Tally<Sender>) -> FlowReport {
    let sender = tally.sender().and_then(|stream| stream.info().ok());
    let send = sender.as_ref().map_or(0, |_| u32::try_from(flow.tcp.sndbuf).unwrap_or(u32::MAX));
    FlowReport {
        flow: flow.name.clone(),
        congestion: sender.map_or_else(String::new, |info| info.congestion.to_owned()),
        buffers: (tally.receive_buffer().unwrap_or_default(), send),
        problem: tally.problem(),
    }
}

/// Notifies hosts of link changes when they are due.
fn tell(order: &Order, clock: &Clock) {
    for notice in &order.plan.notices {
        while clock.now() < Instant::ZERO + notice.at && !clock.is_over() {
            thread::sleep(SLICE);
        }
        if clock.is_over() {
            return;
        }
        // For a lost route, the emulated link drops the packets.
        if notice.how == DownMode::Route {
            continue;
        }
        if let Some(driver) = order.hosts.driver(notice.host) {
            // A stopped endpoint has already notified its flows.
            let _ = driver.set_interface(InterfaceId(notice.device as u32), notice.up);
        }
    }
}

/// A flow in terms of mptcplab's sockets. The flow connects to the address that the peer has on the flow's first
/// path, if the peer opens flows too. Otherwise it connects to the peer's first address.
fn task(order: &Order, flow: usize) -> io::Result<Task<'_>> {
    let (scenario, hosts) = (&*order.scenario, &order.plan.hosts);
    let spec = &scenario.flows[flow];
    let place = |name: &str| hosts.iter().position(|host| host.name == name);
    let first = spec.paths.first().map_or("", String::as_str);
    let (Some(from), Some(to)) = (place(&spec.from), place(&spec.to)) else {
        return Err(lost(&spec.name, first));
    };
    let on_path = address_of(&order.plan, &spec.to, first).filter(|_| hosts[to].opens);
    let address = on_path.or_else(|| hosts[to].devices.first().map(|device| device.address));
    let drivers = (order.hosts.driver(from), order.hosts.driver(to));
    let (Some(address), (Some(opens), Some(accepts))) = (address, drivers) else {
        return Err(lost(&spec.name, first));
    };
    let config = flow_config(scenario, spec, |path| Hosts::interface(&hosts[from], path));
    Ok(Task {
        from: opens,
        to: accepts,
        remote: SocketAddr::V4(SocketAddrV4::new(address, FIRST_PORT.wrapping_add(flow as u16))),
        accepting: accepting_config(spec, &config),
        config,
        load: load(scenario, spec),
    })
}

fn lost(flow: &str, path: &str) -> io::Error {
    let said = format!("flow {flow:?}: path {path:?} has no address at a host");
    io::Error::new(io::ErrorKind::AddrNotAvailable, said)
}

/// The state of a connection, in the form that a kernel socket reports.
fn said(info: &ConnectionInfo) -> SocketInfo {
    SocketInfo {
        multipath: info.mode == Mode::Multipath,
        reinjected: info.reinjected_bytes,
        paths: info.past.iter().chain(&info.subflows).filter_map(path).collect(),
    }
}

fn path(subflow: &SubflowInfo) -> Option<PathInfo> {
    let (SocketAddr::V4(local), SocketAddr::V4(remote)) = (subflow.local, subflow.remote) else {
        return None;
    };
    let segments = |bytes: u64| (bytes / subflow.mss.max(1)).min(u64::from(u32::MAX)) as u32;
    let micros = |time: Duration| (time.as_nanos() / 1000).min(u64::from(u32::MAX)) as u32;
    Some(PathInfo {
        local,
        remote,
        bytes_sent: subflow.stats.bytes_sent,
        bytes_acked: subflow.stats.bytes_acked,
        retransmits: subflow.retransmissions,
        timeouts: subflow.timeouts,
        mss: subflow.mss as u32,
        cwnd: segments(subflow.cwnd),
        ssthresh: subflow.ssthresh.map(segments),
        unacked: segments(subflow.in_flight),
        srtt_us: micros(subflow.srtt.unwrap_or_default()),
        rttvar_us: micros(subflow.rttvar),
    })
}
