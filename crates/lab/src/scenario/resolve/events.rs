//! Resolves events and filters: fills in defaults, and refuses values that the link cannot take.
//!
//! An event changes a link during the run. A filter adds delay and loss to the frames of selected flows on a
//! link. `world` applies both.

use mptcp_clock::Duration;

use super::context::{Context, flow_names};
use crate::scenario::error::ScenarioError;
use crate::scenario::file::{EventTable, ScenarioFile, SetTable};
use crate::scenario::model::{Adjustment, Event, Filter, Flow, Link, LinkKind, Way};
use crate::scenario::names::{DownMode, Side};
use crate::scenario::reach::way_out;
use crate::scenario::units::{Percent, Span};

pub(super) fn resolve(
    context: &Context<'_>,
    file: &ScenarioFile,
    links: &[Link],
    flows: &[Flow],
    duration: Duration,
) -> Result<Vec<Event>, ScenarioError> {
    let mut events = Vec::new();
    let of_links = |table: &EventTable| table.middlebox.is_none() && table.flow.is_none();
    for (index, table) in file.events.iter().flatten().enumerate().filter(|(_, table)| of_links(table)) {
        events.push(event(context, &index.to_string(), table, (links, flows), duration)?);
    }
    events.sort_by_key(|event| event.at);
    Ok(events)
}

/// The time of an event, which must be before the end of the run.
pub(super) fn time(
    context: &Context<'_>,
    index: &str,
    table: &EventTable,
    duration: Duration,
) -> Result<Duration, ScenarioError> {
    let Some(Span(when)) = table.at else {
        return Err(context.error(&["events", index], "needs a time (try at = \"7s\")"));
    };
    if when >= duration {
        let problem = format!("must not be after the end of the run (duration {})", Span(duration));
        return Err(context.error(&["events", index, "at"], problem));
    }
    Ok(when)
}

fn event(
    context: &Context<'_>,
    index: &str,
    table: &EventTable,
    (links, flows): (&[Link], &[Flow]),
    duration: Duration,
) -> Result<Event, ScenarioError> {
    let at = |key| ["events", index, key];
    let when = time(context, index, table, duration)?;
    let names = [table.path.as_deref(), table.link.as_deref(), table.station.as_deref()];
    let link = context.link(&["events", index], names, links)?;
    let set = adjustment(table.set.as_ref());
    if table.set.as_ref().is_some_and(|set| set.on.is_some()) {
        let problem = "needs a middlebox (for a path, try set = { up = true })";
        return Err(context.error(&["events", index, "set", "on"], problem));
    }
    for key in ["scheduler", "congestion"] {
        let given = table.set.as_ref().is_some_and(|set| match key {
            "scheduler" => set.scheduler.is_some(),
            _ => set.congestion.is_some(),
        });
        if given {
            return Err(context.error(&["events", index, "set", key], "needs a flow (try flow = \"NAME\")"));
        }
    }
    let wrong = if link.kind == LinkKind::Station {
        [("rate", set.rate.is_some()), ("jitter", set.jitter.is_some()), ("path_mtu", set.path_mtu.is_some())]
            .iter()
            .find(|(_, set)| *set)
            .map(|(key, _)| (*key, "needs a path or link (for a station, set distance)"))
    } else {
        set.distance.map(|_| ("distance", "needs a station (for a path, set rate or loss)"))
    };
    let wrong = wrong.or_else(|| {
        let lines = match table.direction {
            None => vec![&link.forward, &link.backward],
            Some(Side::Forward) => vec![&link.forward],
            Some(Side::Backward) => vec![&link.backward],
        };
        let kept = set.queue.is_some() && lines.iter().any(|line| line.discipline.is_some());
        kept.then_some(("queue", "needs a drop-tail queue: the limit of a discipline cannot change"))
    });
    let wrong = wrong.or_else(|| {
        let recorded = set.rate.is_some() && link.is_recorded();
        recorded.then_some(("rate", "must not be set where the link has a trace"))
    });
    if let Some((key, problem)) = wrong {
        return Err(context.error(&["events", index, "set", key], problem));
    }
    context.number(&["events", index, "set", "path_mtu"], set.path_mtu, 68..=65_535, 1500)?;
    if set == Adjustment::default() {
        let problem = "must change something (try set = { up = false })";
        return Err(context.error(&["events", index], problem));
    }
    if table.how.is_some() && set.up.is_none() {
        let problem = "needs set.up: it selects how the path goes down or comes up";
        return Err(context.error(&at("how"), problem));
    }
    if table.direction.is_some() && table.how.is_some_and(|how| how != DownMode::Blackhole) {
        let problem = "must not be set for one direction (try how = \"blackhole\" for that)";
        return Err(context.error(&at("how"), problem));
    }
    let of_a_host = matches!(table.how, Some(DownMode::Endpoint | DownMode::Route));
    if of_a_host && way_out(link, flows).is_none() {
        let problem = "needs a link of a host that opens flows";
        return Err(context.error(&at("how"), problem));
    }
    let otherwise = if table.direction.is_some() { DownMode::Blackhole } else { DownMode::Admin };
    let (way, how) = (way(table.direction), table.how.unwrap_or(otherwise));
    Ok(Event { at: when, link: link.name.clone(), way, set, how })
}

pub(super) fn way(side: Option<Side>) -> Way {
    side.map_or(Way::Both, Way::One)
}

fn adjustment(table: Option<&SetTable>) -> Adjustment {
    let Some(table) = table else { return Adjustment::default() };
    Adjustment {
        up: table.up,
        rate: table.rate.map(|rate| rate.0),
        delay: table.delay.map(|span| span.0),
        loss: table.loss.map(Percent::fraction),
        queue: table.queue.map(netsim::QueueLimit::from),
        path_mtu: table.path_mtu,
        jitter: table.jitter.map(|span| span.0),
        distance: table.distance.map(|distance| distance.0),
    }
}

pub(super) fn filters(
    context: &Context<'_>,
    file: &ScenarioFile,
    links: &[Link],
    flows: &[Flow],
) -> Result<Vec<Filter>, ScenarioError> {
    let mut filters = Vec::new();
    for (index, table) in file.filters.iter().flatten().enumerate() {
        let index = index.to_string();
        let names = [table.path.as_deref(), table.link.as_deref(), table.station.as_deref()];
        let link = context.link(&["filters", &index], names, links)?;
        let mut matched = None;
        for (number, word) in table.flows.iter().flatten().enumerate() {
            let found: Vec<String> = flow_names(flows, word).map(|flow| flow.name.clone()).collect();
            if found.is_empty() {
                let path = ["filters", &index, "flows", &number.to_string()];
                return Err(context.unknown(
                    &path,
                    "flow",
                    word,
                    flows.iter().map(|flow| flow.name.as_str()),
                ));
            }
            matched.get_or_insert_with(Vec::new).extend(found);
        }
        for (number, word) in table.paths.iter().flatten().enumerate() {
            if !links.iter().any(|link| link.name == *word) {
                let path = ["filters", &index, "paths", &number.to_string()];
                let names = links.iter().map(|link| link.name.as_str());
                return Err(context.unknown(&path, "path or link", word, names));
            }
        }
        if table.delay.is_none() && table.loss.is_none() {
            let problem = "must delay or lose something (try delay = \"50ms\" or loss = \"1%\")";
            return Err(context.error(&["filters", &index], problem));
        }
        filters.push(Filter {
            link: link.name.clone(),
            way: way(table.direction),
            flows: matched,
            paths: table.paths.clone(),
            delay: table.delay.map_or(Duration::ZERO, |span| span.0),
            loss: table.loss.map_or(0.0, Percent::fraction),
        });
    }
    Ok(filters)
}
