//! Middleboxes, and the events that switch them.

use mptcp_clock::Duration;

use super::{Context, events};
use crate::scenario::error::ScenarioError;
use crate::scenario::file::{EventTable, MiddleboxTable, ScenarioFile, SetTable};
use crate::scenario::model::{Deed, Link, Middlebox, Switch};
use crate::scenario::names::{BoxKind, SegmentKind, Stripped};
use crate::scenario::units::{Size, Span};

/// The most bytes that a change of the payload puts in.
const MOST_GROWTH: u64 = 64;

pub(super) fn resolve(
    context: &Context<'_>,
    file: &ScenarioFile,
    links: &[Link],
) -> Result<Vec<Middlebox>, ScenarioError> {
    let mut middleboxes = Vec::new();
    for (name, table) in file.middleboxes.iter().flatten() {
        let at = ["middleboxes", name.as_str()];
        context.name(&at, name)?;
        let Some(kind) = table.kind else {
            return Err(context.error(&at, "says no kind (try kind = \"nat\")"));
        };
        let names = [table.path.as_deref(), table.link.as_deref(), table.station.as_deref()];
        let link = context.link(&at, names, links)?.name.clone();
        strangers(context, name, table, kind)?;
        let way = events::way(table.direction);
        let deed = deed(context, name, table, kind)?;
        middleboxes.push(Middlebox { name: name.clone(), link, way, on: table.on.unwrap_or(true), deed });
    }
    Ok(middleboxes)
}

/// Keys that belong to another kind.
fn strangers(
    context: &Context<'_>,
    name: &str,
    table: &MiddleboxTable,
    kind: BoxKind,
) -> Result<(), ScenarioError> {
    let keys = [
        ("timeout", table.timeout.is_some(), BoxKind::Nat),
        ("options", table.options.is_some(), BoxKind::StripOptions),
        ("from", table.from.is_some(), BoxKind::StripOptions),
        ("size", table.size.is_some(), BoxKind::Split),
        ("wait", table.wait.is_some(), BoxKind::Coalesce),
        ("buffer", table.buffer.is_some(), BoxKind::EarlyAck),
        ("every", table.every.is_some(), BoxKind::RewritePayload),
        ("grow", table.grow.is_some(), BoxKind::RewritePayload),
    ];
    for (key, given, owner) in keys {
        if given && owner != kind {
            let problem = format!("is for {owner}, and this one is of the kind {kind}");
            return Err(context.error(&["middleboxes", name, key], problem));
        }
    }
    if kind == BoxKind::Nat && table.direction.is_some() {
        let problem = "a nat works in both directions: its inside is the first end of the path";
        return Err(context.error(&["middleboxes", name, "direction"], problem));
    }
    Ok(())
}

fn deed(
    context: &Context<'_>,
    name: &str,
    table: &MiddleboxTable,
    kind: BoxKind,
) -> Result<Deed, ScenarioError> {
    let at = |key| ["middleboxes", name, key];
    let bytes = |key: &str, size: Option<Size>, default: u64| match size {
        Some(Size(0)) => Err(context.error(&["middleboxes", name, key], "is 1B or more (nearest: 1B)")),
        size => Ok(size.map_or(default, |size| size.0)),
    };
    let time = |key: &str, span: Option<Span>, default: Duration| match span {
        Some(Span(span)) if span.is_zero() => {
            Err(context.error(&["middleboxes", name, key], "is longer than 0s (try \"5s\")"))
        }
        span => Ok(span.map_or(default, |span| span.0)),
    };
    Ok(match kind {
        // RFC 5382 section 5, REQ-5: 2 hours and 4 minutes for established connections.
        BoxKind::Nat => Deed::Nat { timeout: time("timeout", table.timeout, Duration::from_secs(124 * 60))? },
        BoxKind::RewriteSequence => Deed::RewriteSequence,
        BoxKind::StripOptions => {
            let from = table.from.clone().unwrap_or_else(|| SegmentKind::ALL.to_vec());
            if from.is_empty() {
                let problem = "removes nothing (try from = [\"syn\"])";
                return Err(context.error(&at("from"), problem));
            }
            Deed::StripOptions { options: table.options.unwrap_or(Stripped::Mptcp), from }
        }
        BoxKind::Split => Deed::Split { size: bytes("size", table.size, 536)? },
        BoxKind::Coalesce => Deed::Coalesce { wait: time("wait", table.wait, Duration::from_millis(1))? },
        BoxKind::EarlyAck => Deed::EarlyAck { buffer: bytes("buffer", table.buffer, 64 << 10)? },
        BoxKind::RewritePayload => {
            let grow = table.grow.map_or(0, |size| size.0);
            if grow > MOST_GROWTH {
                let problem = format!("a change puts in 0B to {MOST_GROWTH}B (nearest: {MOST_GROWTH}B)");
                return Err(context.error(&at("grow"), problem));
            }
            Deed::RewritePayload { every: bytes("every", table.every, 64 << 10)?, grow }
        }
    })
}

/// The events that switch middleboxes; the others are the business of `events`.
pub(super) fn switches(
    context: &Context<'_>,
    file: &ScenarioFile,
    middleboxes: &[Middlebox],
    duration: Duration,
) -> Result<Vec<Switch>, ScenarioError> {
    let mut switches = Vec::new();
    for (index, table) in file.events.iter().flatten().enumerate() {
        if let Some(name) = &table.middlebox {
            let index = index.to_string();
            let at = events::time(context, &index, table, duration)?;
            if !middleboxes.iter().any(|known| known.name == *name) {
                let names = middleboxes.iter().map(|known| known.name.as_str());
                return Err(context.unknown(&["events", &index, "middlebox"], "middlebox", name, names));
            }
            let on = switch(context, &index, table)?;
            switches.push(Switch { at, middlebox: name.clone(), on });
        }
    }
    switches.sort_by_key(|switch| switch.at);
    Ok(switches)
}

fn switch(context: &Context<'_>, index: &str, table: &EventTable) -> Result<bool, ScenarioError> {
    let foreign = [
        ("path", table.path.is_some()),
        ("link", table.link.is_some()),
        ("station", table.station.is_some()),
        ("direction", table.direction.is_some()),
        ("how", table.how.is_some()),
    ];
    if let Some((key, _)) = foreign.iter().find(|(_, given)| *given) {
        let problem = format!("an event about a middlebox only sets on (leave {key} out)");
        return Err(context.error(&["events", index, key], problem));
    }
    match &table.set {
        Some(set) if set.on.is_some() && *set == (SetTable { on: set.on, ..SetTable::default() }) => {
            Ok(set.on == Some(true))
        }
        _ => {
            let problem = "a middlebox comes or goes, and nothing else (try set = { on = false })";
            Err(context.error(&["events", index], problem))
        }
    }
}
