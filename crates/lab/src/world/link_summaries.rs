//! What each direction of each link did over the whole run.

use netsim::{LinkId, Network};

use crate::measurements::LinkSummary;
use crate::scenario::Scenario;

pub(super) fn of(scenario: &Scenario, ids: &[LinkId], network: &mut Network<u32>) -> Vec<LinkSummary> {
    let mut links = Vec::new();
    for (link, id) in scenario.links.iter().zip(ids) {
        let (marks, impairs) = (link.marks(), link.impairs());
        for (way, direction) in [(id.forward(), "forward"), (id.backward(), "backward")] {
            let counters = network.counters(way);
            links.push(LinkSummary {
                link: link.name.clone(),
                direction,
                offered_frames: counters.offered_frames,
                sent_frames: counters.sent_frames,
                sent_bytes: counters.sent_bytes,
                queue_drops: counters.dropped_frames,
                random_losses: counters.lost_frames,
                mac_retries: network.mac(way).map_or(0, |mac| mac.retries),
                mac_drops: counters.retry_drops,
                longest_queue: counters.max_backlog_bytes,
                queue_marks: marks.then_some(counters.marked_frames),
                duplicated: impairs.then_some(counters.duplicated_frames),
                corrupted: impairs.then_some(counters.corrupted_frames),
            });
        }
    }
    links
}
