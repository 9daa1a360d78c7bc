//! Converts resolved middleboxes, and the events that switch them, to tables of the file format. `write`
//! needs these tables to write a scenario as TOML.

use indexmap::IndexMap;

use super::file::{EventTable, MiddleboxTable, SetTable};
use super::kinds::PARAMETERS;
use super::model::{Middlebox, Switch};
use super::units::Span;
use super::written::direction;

/// The table of a middlebox. `names` are the path, link and station of the middlebox; one is set.
pub(super) fn middlebox(one: &Middlebox, names: [Option<String>; 3]) -> MiddleboxTable {
    let [path, link, station] = names;
    let mut own: IndexMap<String, toml::Value> = one.what.values().clone().into_iter().collect();
    if !one.what.is_built_in() {
        own = IndexMap::from([(PARAMETERS.to_owned(), own.into_iter().collect::<toml::Table>().into())]);
    }
    MiddleboxTable {
        kind: Some(one.what.kind().to_owned()),
        path,
        link,
        station,
        direction: direction(one.way),
        on: Some(one.on),
        own,
    }
}

/// The event that switches a middlebox.
pub(super) fn switch(one: &Switch) -> EventTable {
    EventTable {
        at: Some(Span(one.at)),
        middlebox: Some(one.middlebox.clone()),
        set: Some(SetTable { on: Some(one.on), ..SetTable::default() }),
        ..EventTable::default()
    }
}
