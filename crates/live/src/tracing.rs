//! Passes connection events to subscribers of the `tracing` crate, for example the log of an application.
//!
//! Owns the format. The target is `mptcp`. Events of single packets have level TRACE, others DEBUG.

use mptcp::observe::{Kind, Observer, Record};

/// Forwards events, for [`crate::Driver::observe`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Tracing;

impl Observer for Tracing {
    fn observe(&self, record: &Record) {
        let kind = record.event.kind();
        let (what, numbers) = (record.event.values().what, record.event.numbers());
        let (connection, subflow) = (record.connection.slot(), record.place.subflow.number());
        let (name, local) = (kind.name(), record.place.local);
        match kind {
            Kind::Window | Kind::RoundTrip | Kind::Schedule | Kind::DssIn | Kind::DssOut | Kind::Limit => {
                tracing::trace!(target: "mptcp", connection, subflow, %local, what, %numbers, "{name}");
            }
            _ => tracing::debug!(target: "mptcp", connection, subflow, %local, what, %numbers, "{name}"),
        }
    }
}
