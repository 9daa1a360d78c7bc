//! Refuses flows that would send endlessly at one instant.
//!
//! Virtual time advances only if a rate or delay takes time, so such a run would never end. Owns one
//! question: does anything between two transmissions take time? The run itself detects cases in which links
//! change or timeouts are zero.

use std::collections::BTreeSet;

use netsim::Rate;

use super::context::Context;
use crate::scenario::error::ScenarioError;
use crate::scenario::model::{Flow, Link, LinkDirection, Traffic};
use crate::scenario::names::DataDirection;
use crate::scenario::reach::Reach;

/// Length of a frame without data, bytes, including the Ethernet header.
const LEAST: u32 = 54;

pub(super) fn check(context: &Context<'_>, links: &[Link], flows: &[Flow]) -> Result<(), ScenarioError> {
    if !links
        .iter()
        .any(|link| no_serialisation(link, &link.forward) || no_serialisation(link, &link.backward))
    {
        return Ok(());
    }
    let hosts: BTreeSet<&str> =
        flows.iter().flat_map(|flow| [flow.from.as_str(), flow.to.as_str()]).collect();
    let reach = Reach::new(links, &hosts);
    for flow in flows {
        for link in reach.own(&flow.from).filter(|link| flow.paths.contains(&link.name)) {
            let from_first = link.ends[0] == flow.from;
            let outward = if from_first == (flow.direction == DataDirection::Upload) {
                &link.forward
            } else {
                &link.backward
            };
            let greedy = match flow.traffic {
                // The flow sends at each departure from the local queue.
                Traffic::Datagrams { rate: None, .. } => no_serialisation(link, outward),
                // The flow sends at each acknowledgement.
                Traffic::Bulk | Traffic::Blocks { rate: None, .. } | Traffic::Custom(_) => {
                    reach.leads_over(link, &flow.from, &flow.to, takes_no_time)
                }
                _ => false,
            };
            if greedy {
                let key = link.kind.key().to_owned() + "s";
                let problem = format!(
                    "flow {:?} would send over this {} for ever at one instant, because nothing on the way takes \
                     time (give it a rate, such as \"1Gbit\", or a delay)",
                    flow.name,
                    link.kind.key()
                );
                let rate = [key.as_str(), &link.name, "rate"];
                let at = if context.tree.get(&rate).is_some() { &rate[..] } else { &rate[..2] };
                return Err(context.error(at, problem));
            }
        }
    }
    Ok(())
}

/// Whether a frame departs at the instant of its arrival.
fn no_serialisation(link: &Link, line: &LinkDirection) -> bool {
    let service = |rate| Rate::new(rate).map_or(0, |rate| rate.serialisation(LEAST).as_nanos());
    link.station.is_none() && line.rate.is_none_or(|rate| service(rate) == 0)
}

/// Whether a frame and its acknowledgement pass a link in zero time.
fn takes_no_time(link: &Link) -> bool {
    let at_once = |line: &LinkDirection| {
        let data = 1_000;
        let service = |rate| Rate::new(rate).map_or(0, |rate| rate.serialisation(data).as_nanos());
        line.delay.is_zero() && line.jitter.is_zero() && line.rate.is_none_or(|rate| service(rate) == 0)
    };
    link.station.is_none() && at_once(&link.forward) && at_once(&link.backward)
}
