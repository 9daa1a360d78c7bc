//! The policies of a flow: congestion controller, scheduler and path manager, with their parameters.
//!
//! Owns their type, the number of subflows that a path manager opens, and the form of a policy in a scenario
//! file, which `write` needs. Never knows the list of policies, which `mptcp::policy` has.

use mptcp::path_manager::PathManager;
use mptcp::policy::Factory;

use super::file::PolicyValue;
use super::kinds::Chosen;

/// Maximum number of subflows of a connection.
pub(crate) const MAX_SUBFLOWS: u32 = 8;
/// The path manager to which the key `subflows` applies.
pub(super) const PORTS: &str = "ndiffports";
/// The parameter with the number of subflows per path.
pub(super) const SUBFLOWS: &str = "subflows";

/// A congestion controller, scheduler or path manager of a flow, with the parameters of the scenario.
pub type Policy<T> = Chosen<Factory<T>>;

impl<T: ?Sized> Policy<T> {
    /// A built-in policy without parameters.
    pub(crate) fn own(make: Factory<T>) -> Self {
        Self::new(make.name().to_owned(), true, toml::Table::new(), make)
    }
}

impl Policy<dyn PathManager> {
    /// Number of subflows per pair of addresses; `None` if the path manager opens only one.
    pub(super) fn ports(&self) -> Option<u32> {
        if !self.make().build().shares_addresses() {
            return None;
        }
        let said = self.values().get(SUBFLOWS).and_then(toml::Value::as_integer);
        let said = said.and_then(|count| u32::try_from(count).ok());
        Some(said.map_or(MAX_SUBFLOWS, |count| count.min(MAX_SUBFLOWS)))
    }
}

/// The values of `path_manager` and `subflows`.
pub(super) fn path_manager(chosen: &Policy<dyn PathManager>) -> (PolicyValue, Option<u32>) {
    match chosen.kind() {
        PORTS => (PolicyValue::Name(PORTS.to_owned()), chosen.ports()),
        _ => (written(chosen), None),
    }
}

/// The shortest form in a scenario file: only the name, if the policy has no parameters.
pub(super) fn written<T: ?Sized>(chosen: &Policy<T>) -> PolicyValue {
    if chosen.values().is_empty() {
        PolicyValue::Name(chosen.kind().to_owned())
    } else {
        PolicyValue::Table(chosen.table())
    }
}
