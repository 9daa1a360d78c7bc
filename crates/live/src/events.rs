//! Event log of the connections of a driver, the thread that runs an endpoint, in the format of the
//! simulator's events.
//!
//! Owns the rows, one for each event. A limit on their number bounds memory. Times are relative to the start
//! of the driver.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use mptcp::ConnectionId;
use mptcp::observe::{Columns, Log, Observer, Place, Record, Row};

use crate::Driver;

/// A bounded event log, for [`Driver::observe`].
#[derive(Debug)]
pub struct EventLog {
    /// Addresses by interface number.
    addresses: Vec<IpAddr>,
    kept: Mutex<Kept>,
}

#[derive(Debug)]
struct Kept {
    log: Log,
    /// Connection numbers in order of appearance. Unlike connection ids, they are never reused.
    numbers: HashMap<ConnectionId, u16>,
}

impl Kept {
    /// The number of a connection; connections beyond 65,535 have none.
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
    /// A log for the connections of a driver, with up to `limit` rows between two calls of [`Self::take`].
    #[must_use]
    pub fn new(driver: &Driver, limit: u64) -> Self {
        let addresses = driver.addresses().iter().map(|known| known.address).collect();
        Self { addresses, kept: Mutex::new(Kept { log: Log::new(limit), numbers: HashMap::new() }) }
    }

    /// The events since the last call. `flow` is the number of the connection in order of appearance, `path`
    /// the index of the local address in [`Driver::addresses`].
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
