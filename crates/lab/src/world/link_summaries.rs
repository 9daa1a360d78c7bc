//! What each direction of each link did over the whole run.

use netsim::{LinkId, Network};

use crate::measurements::LinkSummary;
use crate::scenario::Scenario;

pub(super) fn of(scenario: &Scenario, ids: &[LinkId], network: &mut Network<u32>) -> Vec<LinkSummary> {
    let mut links = Vec::new();
    for (link, id) in scenario.links.iter().zip(ids) {
        for (way, direction) in [(id.forward(), "forward"), (id.backward(), "backward")] {
            let counters = network.counters(way);
            let retries = network.mac(way).map_or(0, |mac| mac.retries);
            links.push(LinkSummary::of(link, direction, &counters, retries));
        }
    }
    links
}
