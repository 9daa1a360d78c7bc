//! Resolves middleboxes, and the events that switch them on and off.
//!
//! A kind is a type of middlebox, such as `nat`, and reads its own parameters. Owns the check that a table
//! has no key of another kind, because the file format allows the keys of all kinds.

use mptcp_clock::Duration;

use super::context::Context;
use super::events;
use crate::middlebox::Maker;
use crate::scenario::error::ScenarioError;
use crate::scenario::file::{EventTable, MiddleboxTable, ScenarioFile, SetTable};
use crate::scenario::kinds::{Kind, PARAMETERS};
use crate::scenario::model::{Link, Middlebox, Switch};

/// Keys that every middlebox has.
const COMMON: [&str; 6] = ["kind", "path", "link", "station", "direction", "on"];

pub(super) fn resolve(
    context: &Context<'_>,
    file: &ScenarioFile,
    links: &[Link],
) -> Result<Vec<Middlebox>, ScenarioError> {
    let mut middleboxes = Vec::new();
    for (name, table) in file.middleboxes.iter().flatten() {
        let at = ["middleboxes", name.as_str()];
        context.name(&at, name)?;
        let kinds = context.registry.middleboxes();
        let Some(kind) = table.kind.as_ref().and_then(|kind| kinds.get(kind)) else {
            return Err(context.error(&at, "needs a kind (try kind = \"nat\")"));
        };
        let names = [table.path.as_deref(), table.link.as_deref(), table.station.as_deref()];
        let link = context.link(&at, names, links)?.name.clone();
        reject_foreign_keys(context, name, table, kind)?;
        let way = events::way(table.direction);
        let what = if kind.built_in {
            kind.choose(context.tree, &at, &COMMON)?
        } else {
            kind.choose(context.tree, &[at[0], at[1], PARAMETERS], &[])?
        };
        middleboxes.push(Middlebox { name: name.clone(), link, way, on: table.on.unwrap_or(true), what });
    }
    Ok(middleboxes)
}

/// Refuses keys of another kind.
fn reject_foreign_keys(
    context: &Context<'_>,
    name: &str,
    table: &MiddleboxTable,
    kind: &Kind<Maker>,
) -> Result<(), ScenarioError> {
    for key in table.own.keys() {
        let has = |kind: &Kind<Maker>| {
            kind.keys.iter().any(|own| own.name == key) || (!kind.built_in && key == PARAMETERS)
        };
        if !has(kind) {
            let kinds = context.registry.middleboxes().all();
            let owners: Vec<&str> = kinds.filter(|kind| has(kind)).map(|kind| &*kind.name).collect();
            let (owners, kind) = (owners.join(" and "), &kind.name);
            let problem = format!("needs kind = {owners}, but the kind is {kind}");
            return Err(context.error(&["middleboxes", name, key], problem));
        }
    }
    Ok(())
}

/// The events that switch middleboxes. `events` handles all other events.
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
        ("flow", table.flow.is_some()),
    ];
    if let Some((key, _)) = foreign.iter().find(|(_, given)| *given) {
        let problem = format!("must not be set in an event of a middlebox (omit {key})");
        return Err(context.error(&["events", index, key], problem));
    }
    match &table.set {
        Some(set) if set.on.is_some() && *set == (SetTable { on: set.on, ..SetTable::default() }) => {
            Ok(set.on == Some(true))
        }
        _ => {
            let problem = "must set only on (try set = { on = false })";
            Err(context.error(&["events", index], problem))
        }
    }
}
