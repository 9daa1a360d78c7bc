//! Registration of congestion controllers, schedulers and path managers from other crates, so that scenarios
//! can name them.
//!
//! Owns the check that a name is valid and new. `mptcp::policy` owns the lists.

use mptcp::congestion::CongestionControl;
use mptcp::path_manager::PathManager;
use mptcp::policy::{self, Factory, ParameterError};
use mptcp::scheduler::Scheduler;

use super::{Registry, RegistryError, check_name};

impl Registry {
    /// Adds a congestion controller: `congestion = "NAME"` or `{ kind = "NAME", ... }` of a flow. `make`
    /// reads the parameters and returns a factory, called once per connection. `about` describes the
    /// controller and names its source, such as a paper.
    ///
    /// # Errors
    /// As [`Self::middlebox`].
    pub fn congestion<R>(
        mut self,
        name: &'static str,
        about: &'static str,
        make: R,
    ) -> Result<Self, RegistryError>
    where
        R: Fn(&mut policy::Parameters) -> Result<Factory<dyn CongestionControl>, ParameterError>
            + Send
            + Sync
            + 'static,
    {
        add_policy(&mut self.policies.congestion, name)?.register(name, about, make);
        Ok(self.changed())
    }

    /// Adds a scheduler: `scheduler = "NAME"` or `{ kind = "NAME", ... }` of a flow. The rest is as in
    /// [`Self::congestion`].
    ///
    /// # Errors
    /// As [`Self::middlebox`].
    pub fn scheduler<R>(
        mut self,
        name: &'static str,
        about: &'static str,
        make: R,
    ) -> Result<Self, RegistryError>
    where
        R: Fn(&mut policy::Parameters) -> Result<Factory<dyn Scheduler>, ParameterError>
            + Send
            + Sync
            + 'static,
    {
        add_policy(&mut self.policies.schedulers, name)?.register(name, about, make);
        Ok(self.changed())
    }

    /// Adds a path manager: `path_manager = "NAME"` or `{ kind = "NAME", ... }` of a flow. The rest is as in
    /// [`Self::congestion`]. If several subflows share one pair of addresses, the manager must read their
    /// number from the parameter `subflows`, because the result tables use it.
    ///
    /// # Errors
    /// As [`Self::middlebox`].
    pub fn path_manager<R>(
        mut self,
        name: &'static str,
        about: &'static str,
        make: R,
    ) -> Result<Self, RegistryError>
    where
        R: Fn(&mut policy::Parameters) -> Result<Factory<dyn PathManager>, ParameterError>
            + Send
            + Sync
            + 'static,
    {
        add_policy(&mut self.policies.path_managers, name)?.register(name, about, make);
        Ok(self.changed())
    }
}

/// The registry, if it accepts a policy of this name.
fn add_policy<'a, T: ?Sized>(
    policies: &'a mut policy::Registry<T>,
    name: &str,
) -> Result<&'a mut policy::Registry<T>, RegistryError> {
    check_name(policies.kind(), name, policies.names().any(|known| known == name))?;
    Ok(policies)
}
