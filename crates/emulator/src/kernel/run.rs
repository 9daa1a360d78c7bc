//! Runs all flows of a scenario on kernel sockets over emulated links, to compare Linux's MPTCP with the
//! simulator. The measurements have the form of the simulator's tables.
//!
//! Owns two threads per flow, one for each end, and the check that the kernel applied the socket options. A
//! tally has the counters of a flow; the course samples all flows and links until the run ends.

use std::net::{Shutdown, SocketAddrV4};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::{io, thread};

use mptcp_lab::scenario::{Flow, Scenario};
use mptcp_live::kernel::{Options, given, info};

use super::ends::{Sender, Task, accept, open, ready};
use crate::driver::Driver;
use crate::flows::course::{Course, load};
use crate::flows::report::{FlowReport, Ran};
use crate::flows::tally::Tally;
use crate::flows::{FIRST_PORT, address_of};
use crate::plan::Plan;

/// The scenario of a run, its planned network and the settings of its sockets.
#[derive(Clone, Debug)]
pub struct Order {
    /// The scenario with the flows to run.
    pub scenario: Arc<Scenario>,
    /// The plan of the scenario's network: hosts, devices, addresses and routes.
    pub plan: Plan,
    /// Network namespaces, by host of the plan.
    pub namespaces: Vec<String>,
    /// Socket options by flow.
    pub options: Vec<Options>,
}

/// Runs `order` over a driver that has just started, until the end of the scenario or until `stop` is set.
///
/// # Errors
/// If the system provides no socket or thread.
pub fn run(order: &Order, driver: &Driver, stop: &AtomicBool) -> io::Result<Ran> {
    let scenario = &*order.scenario;
    let tasks: Vec<Task> =
        (0..scenario.flows.len()).map(|flow| task(order, flow)).collect::<io::Result<_>>()?;
    let listeners = tasks.iter().map(ready).collect::<io::Result<Vec<_>>>()?;
    let tallies: Vec<Tally<Sender>> = tasks.iter().map(|_| Tally::new()).collect();
    let course = Course::new(scenario, &order.plan, driver);
    thread::scope(|scope| {
        for ((task, listener), tally) in tasks.iter().zip(&listeners).zip(&tallies) {
            let clock = &course.clock;
            scope.spawn(move || accept(task, listener, clock, tally));
            scope.spawn(move || open(task, clock, tally));
        }
        let measured = course.look_on(&tallies, stop, |(stream, ends)| info(stream, *ends).ok());
        let reports = scenario.flows.iter().zip(&tasks).zip(&tallies);
        let flows = reports.map(|((flow, task), tally)| report(flow, &task.options, tally)).collect();
        for (stream, _) in tallies.iter().filter_map(Tally::sender) {
            // Wakes blocked writers; errors of closed sockets are irrelevant.
            stream.shutdown(Shutdown::Both).ok();
        }
        Ok(Ran { measured, flows })
    })
}

fn report(flow: &Flow, wanted: &Options, tally: &Tally<Sender>) -> FlowReport {
    let sender = tally.sender().and_then(|(stream, _)| given(&*stream).ok());
    let sender = sender.map(|(congestion, _, buffer)| (congestion, buffer));
    let problem = tally.problem().or_else(|| mismatch(wanted, sender.as_ref(), tally.receive_buffer()));
    let (congestion, send) = sender.unwrap_or_default();
    let buffers = (tally.receive_buffer().unwrap_or_default(), send);
    FlowReport { flow: flow.name.clone(), congestion, buffers, problem }
}

/// The first difference between requested and actual settings; unknown settings are skipped.
fn mismatch(wanted: &Options, sender: Option<&(String, u32)>, receiver: Option<u32>) -> Option<String> {
    if let Some((given, _)) = sender.filter(|(given, _)| *given != wanted.congestion) {
        return Some(format!(
            "congestion {} was requested, but the kernel uses {given:?}",
            wanted.congestion
        ));
    }
    let send = sender.map(|(_, buffer)| *buffer);
    for (name, asked, given) in
        [("SO_RCVBUF", wanted.receive_buffer, receiver), ("SO_SNDBUF", wanted.send_buffer, send)]
    {
        let (Some(asked), Some(given)) = (asked, given) else { continue };
        // socket(7): the kernel doubles the value.
        if u64::from(given) != 2 * u64::from(asked) {
            return Some(format!(
                "{name} {asked} was requested, but the kernel uses {given} instead of twice that"
            ));
        }
    }
    None
}

/// A flow in terms of sockets. The flow connects to the address that the peer has on the flow's first path,
/// if that path leads to the peer.
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
        let said = format!("flow {:?}: path {first:?} has no address at a host", spec.name);
        return Err(io::Error::new(io::ErrorKind::AddrNotAvailable, said));
    };
    Ok(Task {
        namespaces: [opens, accepts],
        from,
        to: SocketAddrV4::new(to, FIRST_PORT.wrapping_add(flow as u16)),
        options: order.options.get(flow).cloned().unwrap_or_default(),
        load: load(scenario, spec),
    })
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
                "congestion cubic was requested, but the kernel uses \"reno\"",
            ),
            (sender("cubic", 100_000), 131_072, "SO_RCVBUF 100000 was requested, but the kernel uses 131072"),
            (sender("cubic", 16_384), 200_000, "SO_SNDBUF 50000 was requested, but the kernel uses 16384"),
        ] {
            let said = mismatch(&wanted, sender.as_ref(), Some(receiver)).unwrap_or_default();
            assert!(said.contains(says), "{said}");
        }
    }
}
