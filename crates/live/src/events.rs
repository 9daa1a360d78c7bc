//! Events of a driver's connections, kept in rows until somebody takes them.
//!
//! Owns the rows, as many as a limit lets in at a time, so that memory stays bounded however long a driver runs. Times are since the
//! driver began.

use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use mptcp::observe::{Columns, Log, Observer, Place, Record, Row};

use crate::Driver;

/// A bounded list of events, for [`Driver::observe`].
#[derive(Debug)]
pub struct EventLog {
    /// By the number of the interface.
    addresses: Vec<IpAddr>,
    log: Mutex<Log>,
}

impl EventLog {
    /// For the connections of a driver, with room for `limit` rows between two calls of [`Self::take`].
    #[must_use]
    pub fn new(driver: &Driver, limit: u64) -> Self {
        let addresses = driver.addresses().iter().map(|known| known.address).collect();
        Self { addresses, log: Mutex::new(Log::new(limit)) }
    }

    /// What has happened since the last call. `flow` is the place of the connection, `path` the place of our address in
    /// [`Driver::addresses`].
    pub fn take(&self) -> Columns {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).take()
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
        let row = Row {
            at: record.at,
            host: 0,
            flow: record.connection.place() as u16,
            path: of(self.path(&record.place)),
            subflow: of(record.place.subflow.number() as u16),
            kind: record.event.kind().name(),
            what: values.what,
            other: record.other.map_or(Row::NOWHERE, |other| self.path(&other)),
            numbers: values.numbers,
        };
        self.log.lock().unwrap_or_else(PoisonError::into_inner).push(&row);
    }
}
