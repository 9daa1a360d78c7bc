//! Middleboxes and their switches, written back with every value in full.

use super::file::{EventTable, MiddleboxTable, SetTable};
use super::model::{Deed, Middlebox, Switch};
use super::names::BoxKind;
use super::units::{Size, Span};

/// The table of a middlebox; `names` is its link, as path, link or station.
pub(super) fn middlebox(one: &Middlebox, names: [Option<String>; 3]) -> MiddleboxTable {
    let [path, link, station] = names;
    let table = MiddleboxTable {
        path,
        link,
        station,
        direction: super::write::direction(one.way),
        on: Some(one.on),
        ..MiddleboxTable::default()
    };
    match &one.deed {
        Deed::Nat { timeout } => {
            MiddleboxTable { kind: Some(BoxKind::Nat), timeout: Some(Span(*timeout)), ..table }
        }
        Deed::RewriteSequence => MiddleboxTable { kind: Some(BoxKind::RewriteSequence), ..table },
        Deed::StripOptions { options, from } => MiddleboxTable {
            kind: Some(BoxKind::StripOptions),
            options: Some(*options),
            from: Some(from.clone()),
            ..table
        },
        Deed::Split { size } => {
            MiddleboxTable { kind: Some(BoxKind::Split), size: Some(Size(*size)), ..table }
        }
        Deed::Coalesce { wait } => {
            MiddleboxTable { kind: Some(BoxKind::Coalesce), wait: Some(Span(*wait)), ..table }
        }
        Deed::EarlyAck { buffer } => {
            MiddleboxTable { kind: Some(BoxKind::EarlyAck), buffer: Some(Size(*buffer)), ..table }
        }
        Deed::RewritePayload { every, grow } => MiddleboxTable {
            kind: Some(BoxKind::RewritePayload),
            every: Some(Size(*every)),
            grow: Some(Size(*grow)),
            ..table
        },
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
