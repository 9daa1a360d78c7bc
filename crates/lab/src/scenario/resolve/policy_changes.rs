//! Resolves the events that change the policies of a flow.

use mptcp_clock::Duration;

use super::context::{Context, flow_names};
use super::{events, policies};
use crate::scenario::error::ScenarioError;
use crate::scenario::file::{EventTable, ScenarioFile, SetTable};
use crate::scenario::model::{Flow, PolicyChange};
use crate::scenario::names::Transport;

/// The events that change policies. `events` and `middleboxes` handle all other events.
pub(super) fn resolve(
    context: &Context<'_>,
    file: &ScenarioFile,
    flows: &[Flow],
    duration: Duration,
) -> Result<Vec<PolicyChange>, ScenarioError> {
    let mut changes = Vec::new();
    for (index, table) in file.events.iter().flatten().enumerate() {
        if let Some(flow) = &table.flow {
            changes.push(change(context, &index.to_string(), (table, flow), flows, duration)?);
        }
    }
    changes.sort_by_key(|change| change.at);
    Ok(changes)
}

fn change(
    context: &Context<'_>,
    index: &str,
    (table, flow): (&EventTable, &str),
    flows: &[Flow],
    duration: Duration,
) -> Result<PolicyChange, ScenarioError> {
    let at = events::time(context, index, table, duration)?;
    let foreign = [
        ("path", table.path.is_some()),
        ("link", table.link.is_some()),
        ("station", table.station.is_some()),
        ("middlebox", table.middlebox.is_some()),
        ("direction", table.direction.is_some()),
        ("how", table.how.is_some()),
    ];
    if let Some((key, _)) = foreign.iter().find(|(_, given)| *given) {
        let problem = format!("must not be set in an event of a flow (omit {key})");
        return Err(context.error(&["events", index, key], problem));
    }
    let Some(first) = flow_names(flows, flow).next() else {
        let names = flows.iter().map(|known| known.name.as_str());
        return Err(context.unknown(&["events", index, "flow"], "flow", flow, names));
    };
    let set = table.set.clone().unwrap_or_default();
    let SetTable { scheduler, congestion, .. } = &set;
    let rest = SetTable { scheduler: None, congestion: None, ..set.clone() };
    if rest != SetTable::default() || (scheduler.is_none() && congestion.is_none()) {
        let problem = "must set only scheduler or congestion (try set = { scheduler = \"minrtt\" })";
        return Err(context.error(&["events", index], problem));
    }
    if first.transport == Transport::Udp {
        return Err(context.error(&["events", index, "flow"], "needs a flow of mptcp or tcp"));
    }
    if scheduler.is_some() && first.transport == Transport::Tcp {
        let problem = "needs an mptcp flow: a TCP connection has one subflow";
        return Err(context.error(&["events", index, "set", "scheduler"], problem));
    }
    let place = |key| vec!["events", index, "set", key];
    let scheduler = scheduler.as_ref();
    let congestion = congestion.as_ref();
    Ok(PolicyChange {
        at,
        flow: flow.to_owned(),
        scheduler: scheduler
            .map(|given| policies::scheduler_at(context, place("scheduler"), given))
            .transpose()?,
        congestion: congestion
            .map(|given| policies::congestion_at(context, place("congestion"), given))
            .transpose()?,
    })
}
