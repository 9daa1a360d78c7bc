//! The flows of a scenario on this project's own stack, in real time over the emulated links, all inside this process.
//!
//! Owns what of a flow becomes which connection. Each host is an endpoint of `mptcp-live` that is joined to the emulator by pipes
//! ([`Hosts`]), so there is neither namespace nor device, and nobody needs a privilege. `ends` has the sockets, `run` the threads.

mod ends;
mod hosts;
mod run;

use mptcp_lab::scenario::names::SendQueueRule;
use mptcp_lab::scenario::{Scenario, Traffic};

use crate::error::EmulatorError;

pub use crate::flows::report::{FlowReport, Ran};
pub use hosts::Hosts;
pub use run::{Order, run};

/// Refuses what flows cannot do here.
///
/// # Errors
/// When a flow sends neither in bulk nor a file, or looks at the queue of its own interface.
pub fn refuse(scenario: &Scenario) -> Result<(), EmulatorError> {
    for flow in &scenario.flows {
        let what = match &flow.traffic {
            Traffic::Bulk | Traffic::File { .. } => None,
            Traffic::Blocks { .. } => Some("blocks"),
            Traffic::Custom(_) => Some("an application of another kind"),
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
