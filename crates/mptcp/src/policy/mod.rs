//! Policies by name: congestion controllers, schedulers and path managers.
//!
//! Owns the lookup from a name and parameters to a policy, for built-in policies and for those of other
//! crates. Never calls a policy.

mod factory;
mod parameters;
mod registry;

use crate::congestion::CongestionControl;
use crate::path_manager::PathManager;
pub use crate::policy::factory::Factory;
pub use crate::policy::parameters::{ParameterError, Parameters, Value};
pub use crate::policy::registry::{Entry, Registry, UnknownPolicy};
use crate::scheduler::Scheduler;

/// One registry for each type of policy. [`Policies::default`] contains the built-in policies;
/// [`Registry::register`] adds others.
///
/// ```
/// use mptcp::policy::Policies;
/// use mptcp::scheduler::{Scheduler, SendView};
///
/// /// Uses the last subflow that has room.
/// #[derive(Clone, Debug)]
/// struct Last;
///
/// impl Scheduler for Last {
///     fn name(&self) -> &'static str {
///         "last"
///     }
///
///     fn choose(&mut self, view: &SendView<'_>) -> Option<usize> {
///         view.candidates.iter().rposition(|candidate| candidate.is_available)
///     }
/// }
///
/// let mut policies = Policies::default();
/// policies.schedulers.register("last", "The last subflow that has room", |_| Ok(Last.into()));
/// let config = mptcp::Config { scheduler: policies.schedulers.find("last")?, ..Default::default() };
/// # Ok::<(), mptcp::policy::UnknownPolicy>(())
/// ```
#[derive(Clone, Debug)]
pub struct Policies {
    /// Congestion controllers.
    pub congestion: Registry<dyn CongestionControl>,
    /// Schedulers.
    pub schedulers: Registry<dyn Scheduler>,
    /// Path managers.
    pub path_managers: Registry<dyn PathManager>,
}
