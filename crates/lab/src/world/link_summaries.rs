//! Summaries of the link directions of a run: their counters, MAC retries and time in use, for the results.

use mptcp_clock::Instant;
use netsim::{LinkId, Network};

use crate::measurements::LinkSummary;
use crate::scenario::Scenario;

pub(super) fn of(scenario: &Scenario, ids: &[LinkId], network: &mut Network<u32>) -> Vec<LinkSummary> {
    let mut links = Vec::new();
    for (link, id) in scenario.links.iter().zip(ids) {
        for (way, direction) in [(id.forward(), "forward"), (id.backward(), "backward")] {
            let counters = network.counters(way);
            let used = (network.link_use(way), network.now().since(Instant::ZERO).as_secs_f64());
            let retries = network.mac(way).map_or(0, |mac| mac.retries);
            links.push(LinkSummary::of(link, direction, &counters, retries, used));
        }
    }
    links
}
