//! Writes a change into the text of a scenario, so that the text always describes the whole run.
//!
//! Owns the form of the text: comments and order of the rest stay. Before the run starts, a change replaces a value;
//! later it becomes an event, or something that starts at the present time. Checks nothing but names that it needs: the
//! scenario is parsed afterwards, with all its checks.

use std::fmt;

use mptcp_lab::scenario::{LinkKind, Scenario};
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, TableLike, Value};

use crate::action::{Action, LinkValues};

/// A change that cannot be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditError(pub String);

impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for EditError {}

fn refused<T>(problem: impl Into<String>) -> Result<T, EditError> {
    Err(EditError(problem.into()))
}

/// The text of `scenario` with a change at `now`, seconds since the start of the run.
///
/// # Errors
/// Text that is not TOML, or a link, flow or middlebox that does not exist or exists already.
pub fn apply(text: &str, scenario: &Scenario, action: &Action, now: f64) -> Result<String, EditError> {
    let document = text.parse::<DocumentMut>().map_err(|error| EditError(error.message().to_owned()))?;
    let mut edit = Edit { document, scenario, at: (now > 0.0).then(|| (now * 1e3).floor() as u64 + 1) };
    edit.write(action)?;
    Ok(edit.document.to_string())
}

struct Edit<'a> {
    document: DocumentMut,
    scenario: &'a Scenario,
    /// The time of the change, milliseconds: the next full one. `None` before the start.
    at: Option<u64>,
}

impl Edit<'_> {
    fn write(&mut self, action: &Action) -> Result<(), EditError> {
        match action {
            Action::Link { link, direction, set, how } => {
                self.link(link, direction.as_deref(), set, how.as_deref())
            }
            Action::AddPath { name, rate, rtt, loss, queue_frames } => {
                let mut values = Table::new();
                values["rate"] = rate_text(*rate).into();
                values["rtt"] = time_text(*rtt).into();
                if *loss > 0.0 {
                    values["loss"] = percent_text(*loss).into();
                }
                values["queue"] = format!("{queue_frames}p").into();
                self.add_path(name, values)
            }
            Action::AddFlow { name, transport, paths, rate } => self.add_flow(name, transport, paths, *rate),
            Action::AddMiddlebox { name, kind, link } => self.add_middlebox(name, kind, link),
            Action::Switch { middlebox, on } => self.switch(middlebox, *on),
            Action::Policy { flow, scheduler, congestion, rcvbuf, m1, m2 } => {
                let named = [("scheduler", scheduler), ("congestion", congestion)];
                let named = named.into_iter().filter_map(|(key, name)| Some((key, name.as_deref()?)));
                self.policy(flow, named.collect())?;
                // A flow has its buffer and its mechanisms from the start on.
                if let Some(bytes) = rcvbuf {
                    self.flow(flow)?.insert("rcvbuf", format!("{bytes}B").into());
                }
                for (key, on) in [("opportunistic_retransmission", m1), ("penalisation", m2)] {
                    if let Some(on) = on {
                        self.flow(flow)?.insert(key, (*on).into());
                    }
                }
                Ok(())
            }
            Action::StopFlow { flow } => {
                let at = self.at.unwrap_or(1);
                self.flow(flow)?.insert("stop", milliseconds(at).into());
                Ok(())
            }
        }
    }

    fn link(
        &mut self,
        name: &str,
        direction: Option<&str>,
        set: &LinkValues,
        how: Option<&str>,
    ) -> Result<(), EditError> {
        let Some(link) = self.scenario.links.iter().find(|link| link.name == name) else {
            let names: Vec<&str> = self.scenario.links.iter().map(|link| link.name.as_str()).collect();
            return refused(format!("there is no link {name:?} (links: {})", names.join(", ")));
        };
        let kind = link.kind;
        let mut values = InlineTable::new();
        if let Some(up) = set.up {
            values.insert("up", up.into());
        }
        if let Some(rate) = set.rate {
            values.insert("rate", rate_text(rate).into());
        }
        if let Some(delay) = set.delay {
            values.insert("delay", time_text(delay).into());
        }
        if let Some(loss) = set.loss {
            values.insert("loss", percent_text(loss).into());
        }
        if let Some(frames) = set.queue_frames {
            values.insert("queue", format!("{frames}p").into());
        }
        if let Some(distance) = set.distance {
            values.insert("distance", format!("{distance}m").into());
        }
        // Before the start, the values of the link itself change. A generated or included link has no table.
        if self.at.is_none()
            && let Some(table) = self.table_of(kind, name)
        {
            let table = match direction {
                Some(side) => table.entry(side).or_insert(Item::Value(InlineTable::new().into())),
                None => {
                    if set.delay.is_some() {
                        table.remove("rtt");
                    }
                    return fill(table, &values, name);
                }
            };
            let Some(table) = table.as_table_like_mut() else {
                return refused(format!("{} of {name} is not a table", direction.unwrap_or_default()));
            };
            return fill(table, &values, name);
        }
        let mut event = Table::new();
        event["at"] = milliseconds(self.at.unwrap_or(1)).into();
        event[kind.key()] = name.into();
        if let Some(side) = direction {
            event["direction"] = side.into();
        }
        event["set"] = Item::Value(values.into());
        if let Some(how) = how.filter(|_| set.up.is_some()) {
            event["how"] = how.into();
        }
        self.push_event(event)
    }

    fn table_of(&mut self, kind: LinkKind, name: &str) -> Option<&mut dyn TableLike> {
        let group = match kind {
            LinkKind::Path => "paths",
            LinkKind::Link => "links",
            LinkKind::Station => "stations",
        };
        self.document.get_mut(group)?.as_table_like_mut()?.get_mut(name)?.as_table_like_mut()
    }

    fn push_event(&mut self, event: Table) -> Result<(), EditError> {
        let events = self.document.entry("events").or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
        match events {
            Item::ArrayOfTables(events) => events.push(event),
            Item::Value(Value::Array(events)) => events.push(event.into_inline_table()),
            _ => return refused("events must be an array of tables"),
        }
        Ok(())
    }

    fn add_path(&mut self, name: &str, mut values: Table) -> Result<(), EditError> {
        if self.scenario.links.iter().any(|link| link.name == name) {
            return refused(format!("there is already a link {name:?}"));
        }
        let Some(flow) = self.scenario.flows.first() else { return refused("the scenario has no flow") };
        let between_paths = self.scenario.links.iter().any(|link| link.kind == LinkKind::Path);
        let (group, key) = if between_paths { ("paths", "path") } else { ("links", "link") };
        if !between_paths {
            let mut ends = Array::new();
            ends.push(flow.from.as_str());
            ends.push(flow.to.as_str());
            values["ends"] = Item::Value(ends.into());
        }
        let written = flow.name.clone();
        if let Some(at) = self.at {
            values["up"] = false.into();
            let mut event = Table::new();
            event["at"] = milliseconds(at).into();
            event[key] = name.into();
            event["set"] = Item::Value(InlineTable::from_iter([("up", Value::from(true))]).into());
            self.push_event(event)?;
        }
        self.named(group, name, values)?;
        // A flow that lists its paths uses the new one only if the list has it.
        if let Ok(table) = self.flow(&written)
            && let Some(paths) = table.get_mut("paths").and_then(Item::as_array_mut)
        {
            paths.push(name);
        }
        Ok(())
    }

    fn add_flow(
        &mut self,
        name: &str,
        transport: &str,
        paths: &[String],
        rate: Option<f64>,
    ) -> Result<(), EditError> {
        if self.scenario.flows.iter().any(|flow| flow.name == name) {
            return refused(format!("there is already a flow {name:?}"));
        }
        let Some(flow) = self.scenario.flows.first() else { return refused("the scenario has no flow") };
        let mut values = Table::new();
        values["transport"] = transport.into();
        if !self.scenario.links.iter().any(|link| link.kind == LinkKind::Path) {
            values["from"] = flow.from.as_str().into();
            values["to"] = flow.to.as_str().into();
        }
        if !paths.is_empty() {
            values["paths"] = Item::Value(paths.iter().map(String::as_str).collect::<Array>().into());
        }
        if let Some(rate) = rate {
            values["rate"] = rate_text(rate).into();
        }
        if let Some(at) = self.at {
            values["start"] = milliseconds(at).into();
        }
        self.named("flows", name, values)
    }

    fn add_middlebox(&mut self, name: &str, kind: &str, link: &str) -> Result<(), EditError> {
        if self.scenario.middleboxes.iter().any(|known| known.name == name) {
            return refused(format!("there is already a middlebox {name:?}"));
        }
        let Some(known) = self.scenario.links.iter().find(|known| known.name == link) else {
            return refused(format!("there is no link {link:?}"));
        };
        let mut values = Table::new();
        values["kind"] = kind.into();
        values[known.kind.key()] = link.into();
        if self.at.is_some() {
            values["on"] = false.into();
        }
        self.named("middleboxes", name, values)?;
        if self.at.is_some() { self.push_switch(name, true) } else { Ok(()) }
    }

    fn policy(&mut self, flow: &str, named: Vec<(&str, &str)>) -> Result<(), EditError> {
        let Some(at) = self.at else {
            let table = self.flow(flow)?;
            for (key, name) in named {
                table.insert(key, name.into());
            }
            return Ok(());
        };
        if named.is_empty() {
            return Ok(());
        }
        if !self.scenario.flows.iter().any(|known| known.name == flow) {
            return refused(format!("there is no flow {flow:?}"));
        }
        let mut event = Table::new();
        event["at"] = milliseconds(at).into();
        event["flow"] = flow.into();
        let set = named.into_iter().map(|(key, name)| (key, Value::from(name)));
        event["set"] = Item::Value(InlineTable::from_iter(set).into());
        self.push_event(event)
    }

    fn switch(&mut self, name: &str, on: bool) -> Result<(), EditError> {
        if !self.scenario.middleboxes.iter().any(|known| known.name == name) {
            return refused(format!("there is no middlebox {name:?}"));
        }
        if self.at.is_some() {
            return self.push_switch(name, on);
        }
        let group = self.document.get_mut("middleboxes").and_then(Item::as_table_like_mut);
        let table = group.and_then(|group| group.get_mut(name)).and_then(Item::as_table_like_mut);
        let Some(table) = table else { return refused(format!("the middlebox {name:?} is in another file")) };
        table.insert("on", on.into());
        Ok(())
    }

    fn push_switch(&mut self, name: &str, on: bool) -> Result<(), EditError> {
        let mut event = Table::new();
        event["at"] = milliseconds(self.at.unwrap_or(1)).into();
        event["middlebox"] = name.into();
        event["set"] = Item::Value(InlineTable::from_iter([("on", Value::from(on))]).into());
        self.push_event(event)
    }

    /// Adds `[group.name]`.
    fn named(&mut self, group: &str, name: &str, values: Table) -> Result<(), EditError> {
        let mut implicit = Table::new();
        implicit.set_implicit(true);
        let tables = self.document.entry(group).or_insert(Item::Table(implicit));
        match tables {
            Item::Table(tables) => tables.insert(name, Item::Table(values)),
            Item::Value(Value::InlineTable(tables)) => {
                tables.insert(name, values.into_inline_table().into()).map(Item::Value)
            }
            _ => return refused(format!("{group} must be a table")),
        };
        Ok(())
    }

    /// The table of a flow. A copy by `count` has none of its own.
    fn flow(&mut self, name: &str) -> Result<&mut dyn TableLike, EditError> {
        let group = self.document.get_mut("flows").and_then(Item::as_table_like_mut);
        let table = group.and_then(|group| group.get_mut(name)).and_then(Item::as_table_like_mut);
        let problem =
            || EditError(format!("[flows.{name}] is not in this text: change the flow in the editor"));
        table.ok_or_else(problem)
    }
}

fn fill(table: &mut dyn TableLike, values: &InlineTable, name: &str) -> Result<(), EditError> {
    if values.is_empty() {
        return refused(format!("nothing changes on {name}"));
    }
    for (key, value) in values {
        table.insert(key, Item::Value(value.clone()));
    }
    Ok(())
}

fn milliseconds(at: u64) -> String {
    format!("{at}ms")
}

fn rate_text(rate: f64) -> String {
    let bits = rate.round().max(1.0) as u64;
    match bits {
        _ if bits.is_multiple_of(1_000_000) => format!("{}Mbit", bits / 1_000_000),
        _ if bits.is_multiple_of(1_000) => format!("{}kbit", bits / 1_000),
        _ => format!("{bits}bit"),
    }
}

fn time_text(seconds: f64) -> String {
    let micros = (seconds.max(0.0) * 1e6).round() as u64;
    if micros.is_multiple_of(1_000) { format!("{}ms", micros / 1_000) } else { format!("{micros}us") }
}

fn percent_text(share: f64) -> String {
    // Four digits after the point: enough for any slider, and never in scientific notation.
    let text = format!("{:.4}", share.clamp(0.0, 1.0) * 100.0);
    format!("{}%", text.trim_end_matches('0').trim_end_matches('.'))
}
