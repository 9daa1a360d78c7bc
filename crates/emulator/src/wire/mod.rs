//! The flows of a scenario on mptcplab's stack, in real time over the emulated links, inside one process.
//!
//! Owns the mapping from flows to connections. Each host is an endpoint of `mptcp-live`, which pipes connect
//! to the emulator ([`Hosts`]), so a run needs no namespaces, devices or privileges. `ends` has the sockets,
//! `run` the threads.

mod ends;
mod hosts;
mod run;

use mptcp_lab::scenario::names::SendQueueRule;
use mptcp_lab::scenario::{Scenario, Traffic};

use crate::error::EmulatorError;

pub use crate::flows::report::{FlowReport, Ran};
pub use hosts::Hosts;
pub use run::{Order, run};

/// Refuses unsupported flows.
///
/// # Errors
/// A flow with traffic other than bulk and files, or with a key that needs the length of the local queue.
pub fn refuse(scenario: &Scenario) -> Result<(), EmulatorError> {
    for flow in &scenario.flows {
        let what = match &flow.traffic {
            Traffic::Bulk | Traffic::File { .. } => None,
            Traffic::Blocks { .. } => Some("blocks"),
            Traffic::Custom(_) => Some("a custom application"),
            Traffic::Datagrams { .. } => Some("datagrams"),
        };
        let name = || flow.name.clone();
        if let Some(what) = what {
            return Err(EmulatorError::Traffic { flow: name(), what });
        }
        if flow.tcp.small_queues.is_some() {
            return Err(EmulatorError::Departures { flow: name(), key: "small_queues" });
        }
        if flow.send_queue_rule != SendQueueRule::Off {
            return Err(EmulatorError::Departures { flow: name(), key: "send_queue_rule" });
        }
    }
    Ok(())
}
