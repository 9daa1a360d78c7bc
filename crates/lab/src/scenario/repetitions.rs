//! Whether runs of a scenario with other seeds differ. The command line warns if they hardly differ.

use netsim::Loss;

use super::model::{LinkDirection, Scenario, Traffic};
use super::names::Routing;
use super::recording::{Recorded, Start};

impl Scenario {
    /// Whether the seed affects more than the `jitter` of hosts: losses, delays, positions in recordings,
    /// queue disciplines, the WiFi channel, routes, on and off periods, or registered applications.
    #[must_use]
    pub fn draws_its_network(&self) -> bool {
        let lines = self.links.iter().flat_map(|link| [&link.forward, &link.backward]);
        let by_events = self.events.iter().any(|event| {
            event.set.loss.is_some_and(|loss| loss > 0.0)
                || event.set.jitter.is_some_and(|jitter| !jitter.is_zero())
        });
        lines.into_iter().any(draws)
            || by_events
            || !self.cells.is_empty()
            || self.routing != Routing::First
            || self.filters.iter().any(|filter| filter.loss > 0.0)
            || self.flows.iter().any(|flow| {
                matches!(flow.traffic, Traffic::Custom(_) | Traffic::Datagrams { activity: Some(_), .. })
            })
    }

    /// Whether a recording starts at the same position in every run.
    #[must_use]
    pub fn replays_a_recording(&self) -> bool {
        let lines = self.links.iter().flat_map(|link| [&link.forward, &link.backward]);
        lines.filter_map(|line| line.recording.as_ref()).any(|recording| recording.start != Start::Random)
    }
}

fn draws(line: &LinkDirection) -> bool {
    let recorded = line.recording.as_ref().is_some_and(|recording| {
        let loses = match &recording.what {
            Recorded::Steps(steps) => steps.iter().any(|step| step.loss.is_some_and(|loss| loss > 0.0)),
            Recorded::Opportunities(..) => false,
        };
        loses || recording.start == Start::Random
    });
    recorded
        || line.loss != Loss::None
        || !line.jitter.is_zero()
        || line.duplicate > 0.0
        || line.corrupt > 0.0
        || line.discipline.is_some()
}
