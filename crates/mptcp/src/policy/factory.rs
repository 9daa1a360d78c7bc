//! Factories, which create a policy for each connection. A configuration holds factories, because many
//! connections share it and policies have state.

use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

use crate::congestion::CongestionControl;
use crate::path_manager::PathManager;
use crate::scheduler::Scheduler;

/// Creates a new policy for each connection. Every policy that implements `Clone` converts to a factory:
/// `config.scheduler = OnTime::default().into()` gives each connection its own copy.
pub struct Factory<T: ?Sized> {
    name: &'static str,
    make: Arc<dyn Fn() -> Box<T> + Send + Sync>,
}

impl<T: ?Sized> Factory<T> {
    /// Calls `make` for each connection; `name` is the name in results.
    pub fn new(name: &'static str, make: impl Fn() -> Box<T> + Send + Sync + 'static) -> Self {
        Self { name, make: Arc::new(make) }
    }

    /// Name of the policy.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Creates a policy in its initial state.
    #[must_use]
    pub fn build(&self) -> Box<T> {
        (self.make)()
    }
}

impl<T: ?Sized> Clone for Factory<T> {
    fn clone(&self) -> Self {
        Self { name: self.name, make: Arc::clone(&self.make) }
    }
}

/// Shows the policy in its initial state.
impl<T: ?Sized + fmt::Debug> fmt::Debug for Factory<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.build().fmt(f)
    }
}

// A factory only creates new values, so a panic leaves no broken state.
impl<T: ?Sized> UnwindSafe for Factory<T> {}
impl<T: ?Sized> RefUnwindSafe for Factory<T> {}

impl<C: CongestionControl + Clone + Sync + 'static> From<C> for Factory<dyn CongestionControl> {
    fn from(policy: C) -> Self {
        Self::new(policy.name(), move || Box::new(policy.clone()))
    }
}

impl<S: Scheduler + Clone + Sync + 'static> From<S> for Factory<dyn Scheduler> {
    fn from(policy: S) -> Self {
        Self::new(policy.name(), move || Box::new(policy.clone()))
    }
}

impl<P: PathManager + Clone + Sync + 'static> From<P> for Factory<dyn PathManager> {
    fn from(policy: P) -> Self {
        Self::new(policy.name(), move || Box::new(policy.clone()))
    }
}
