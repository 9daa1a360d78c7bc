//! Policies of a flow, as they were chosen: what the run is built of, and what is written back.
//!
//! Owns nothing but these words. Which policies there are is the business of `mptcp::policy`.

use mptcp::path_manager::PathManager;
use mptcp::policy::Factory;

use super::file::PolicyValue;
use super::kinds::Chosen;

/// Subflows of a connection, at most.
pub(crate) const MOST_SUBFLOWS: u32 = 8;
/// The path manager that `subflows` is for, where it stands beside the name.
pub(super) const PORTS: &str = "ndiffports";
/// How many subflows share a path.
pub(super) const SUBFLOWS: &str = "subflows";

/// A congestion controller, scheduler or path manager that a flow names. Its values are those that the scenario gives.
pub type Policy<T> = Chosen<Factory<T>>;

impl<T: ?Sized> Policy<T> {
    /// One that comes with the protocol, with no values.
    pub(crate) fn own(make: Factory<T>) -> Self {
        Self::new(make.name().to_owned(), true, toml::Table::new(), make)
    }
}

impl Policy<dyn PathManager> {
    /// How many subflows it opens between two addresses, if it opens several.
    pub(super) fn ports(&self) -> Option<u32> {
        if !self.make().build().shares_addresses() {
            return None;
        }
        let said = self.values().get(SUBFLOWS).and_then(toml::Value::as_integer);
        let said = said.and_then(|count| u32::try_from(count).ok());
        Some(said.map_or(MOST_SUBFLOWS, |count| count.min(MOST_SUBFLOWS)))
    }
}

/// The values of `path_manager` and `subflows`.
pub(super) fn path_manager(chosen: &Policy<dyn PathManager>) -> (PolicyValue, Option<u32>) {
    match chosen.kind() {
        PORTS => (PolicyValue::Name(PORTS.to_owned()), chosen.ports()),
        _ => (written(chosen), None),
    }
}

/// As short as it can be said.
pub(super) fn written<T: ?Sized>(chosen: &Policy<T>) -> PolicyValue {
    if chosen.values().is_empty() {
        PolicyValue::Name(chosen.kind().to_owned())
    } else {
        PolicyValue::Table(chosen.table())
    }
}
