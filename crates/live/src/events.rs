//! Events of a driver's connections, kept in rows until somebody takes them.
//!
//! Owns the rows, as many as a limit lets in at a time, so that memory stays bounded however long a driver runs. Times are since the
//! driver began.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use mptcp::ConnectionId;
use mptcp::observe::{Columns, Log, Observer, Place, Record, Row};

use crate::Driver;

/// A bounded list of events, for [`Driver::observe`].
#[derive(Debug)]
pub struct EventLog {
    /// By the number of the interface.
    addresses: Vec<IpAddr>,
    kept: Mutex<Kept>,
}

#[derive(Debug)]
struct Kept {
    log: Log,
    /// Connections by first sight: a place in the driver is used again, a number here is not.
    numbers: HashMap<ConnectionId, u16>,
}

impl Kept {
    /// The number of a connection; those beyond 65,535 have none.
    fn number(&mut self, connection: ConnectionId) -> u16 {
        if let Some(known) = self.numbers.get(&connection) {
            return *known;
        }
        let next = Row::place(self.numbers.len() as u64);
        if next != Row::NOWHERE {
            self.numbers.insert(connection, next);
        }
        next
    }
}

impl EventLog {
    /// For the connections of a driver, with room for `limit` rows between two calls of [`Self::take`].
    #[must_use]
    pub fn new(driver: &Driver, limit: u64) -> Self {
        let addresses = driver.addresses().iter().map(|known| known.address).collect();
        Self { addresses, kept: Mutex::new(Kept { log: Log::new(limit), numbers: HashMap::new() }) }
    }

    /// What has happened since the last call. `flow` is the number of the connection in the order in which they were seen,
    /// `path` the place of our address in [`Driver::addresses`].
    pub fn take(&self) -> Columns {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).log.take()
    }

    fn path(&self, place: &Place) -> u16 {
        let at = self.addresses.iter().position(|address| *address == place.local.ip());
        at.map_or(Row::NOWHERE, |at| at as u16)
    }
}

impl Observer for EventLog {
    fn observe(&self, record: &Record) {
        let values = record.event.values();
        let of = |number: u16| if record.whole { Row::NOWHERE } else { number };
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let row = Row {
            at: record.at,
            host: 0,
            flow: kept.number(record.connection),
            path: of(self.path(&record.place)),
            subflow: of(Row::place(record.place.subflow.number())),
            kind: record.event.kind().name(),
            what: values.what,
            other: record.other.map_or(Row::NOWHERE, |other| self.path(&other)),
            numbers: values.numbers,
        };
        kept.log.push(&row);
    }
}
