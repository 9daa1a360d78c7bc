//! Resolves the policies of flows: congestion controllers, schedulers and path managers.
//!
//! Owns the creation of a policy from its name and parameters, and errors that name the key in the scenario.
//! `mptcp::policy` has the list of policies.

use mptcp::congestion::CongestionControl;
use mptcp::path_manager::PathManager;
use mptcp::policy::{self, Parameters, Policies, UnknownPolicy, Value};
use mptcp::scheduler::Scheduler;

use super::context::Context;
use crate::registry::Registry;
use crate::scenario::error::ScenarioError;
use crate::scenario::file::{FlowTable, PolicyValue};
use crate::scenario::kinds::Chosen;
use crate::scenario::policies::{MAX_SUBFLOWS, PORTS, Policy, SUBFLOWS};

pub(super) fn congestion(
    context: &Context<'_>,
    flow: &str,
    wanted: &PolicyValue,
) -> Result<Policy<dyn CongestionControl>, ScenarioError> {
    congestion_at(context, vec!["flows", flow, "congestion"], wanted)
}

/// The congestion controller at any place of the scenario.
pub(super) fn congestion_at(
    context: &Context<'_>,
    path: Vec<&str>,
    wanted: &PolicyValue,
) -> Result<Policy<dyn CongestionControl>, ScenarioError> {
    let said = PolicyKey::new(context, path, Some(wanted), "reno")?;
    said.choose(context, |policies| &policies.congestion)
}

/// The scheduler at any place of the scenario.
pub(super) fn scheduler_at(
    context: &Context<'_>,
    path: Vec<&str>,
    wanted: &PolicyValue,
) -> Result<Policy<dyn Scheduler>, ScenarioError> {
    let said = PolicyKey::new(context, path, Some(wanted), "minrtt")?;
    said.choose(context, |policies| &policies.schedulers)
}

pub(super) fn scheduler(
    context: &Context<'_>,
    flow: &str,
    table: &FlowTable,
    default: &str,
) -> Result<Policy<dyn Scheduler>, ScenarioError> {
    let path = vec!["flows", flow, "scheduler"];
    let said = PolicyKey::new(context, path, table.scheduler.as_ref(), default)?;
    said.choose(context, |policies| &policies.schedulers)
}

/// Resolves `path_manager`, and the key `subflows`, which is a parameter of ndiffports.
pub(super) fn path_manager(
    context: &Context<'_>,
    flow: &str,
    table: &FlowTable,
) -> Result<Policy<dyn PathManager>, ScenarioError> {
    let beside = ["flows", flow, SUBFLOWS];
    let mut said = PolicyKey::new(
        context,
        vec!["flows", flow, "path_manager"],
        table.path_manager.as_ref(),
        "fullmesh",
    )?;
    match (table.subflows, said.values.contains_key(SUBFLOWS)) {
        (Some(_), _) if said.name != PORTS => {
            let problem = "needs path_manager = \"ndiffports\"; fullmesh opens one over each path";
            return Err(context.error(&beside, problem));
        }
        (Some(_), true) => {
            return Err(context.error(&beside, "is also given in path_manager; give only one of them"));
        }
        (count, false) if said.name == PORTS => {
            let count = context.number(&beside, count, 1..=MAX_SUBFLOWS, 2)?;
            said.values.insert(SUBFLOWS.to_owned(), toml::Value::Integer(i64::from(count)));
        }
        _ => {}
    }
    said.choose(context, |policies| &policies.path_managers)
}

/// The policy of a flow as written.
struct PolicyKey<'a> {
    /// The key in the scenario, such as `flows`, name of the flow, type of policy.
    path: Vec<&'a str>,
    name: String,
    values: toml::Table,
}

impl<'a> PolicyKey<'a> {
    fn new(
        context: &Context<'_>,
        path: Vec<&'a str>,
        given: Option<&PolicyValue>,
        default: &str,
    ) -> Result<Self, ScenarioError> {
        let (name, values) = match given {
            None => (default.to_owned(), toml::Table::new()),
            Some(PolicyValue::Name(name)) => (name.clone(), toml::Table::new()),
            Some(PolicyValue::Table(table)) => {
                let mut values = table.clone();
                let Some(toml::Value::String(name)) = values.remove("kind") else {
                    return Err(context.error(&path, format!("needs a kind (try kind = {default:?})")));
                };
                (name, values)
            }
        };
        Ok(Self { path, name, values })
    }

    /// Creates the policy from the registry that `of` selects.
    fn choose<T: ?Sized>(
        self,
        context: &Context<'_>,
        of: impl Fn(&Policies) -> &policy::Registry<T>,
    ) -> Result<Policy<T>, ScenarioError> {
        let error = |key: &str, problem: String| {
            let path: Vec<&str> = self.path.iter().copied().chain([key]).collect();
            context.error(&path, problem)
        };
        let mut parameters = Parameters::default();
        for (key, value) in &self.values {
            let Some(value) = plain(value) else {
                return Err(error(key, "expected a number, a text, true or false".to_owned()));
            };
            parameters = parameters.with(key, value);
        }
        let known = of(context.registry.policies());
        let make = known.find_with(&self.name, parameters).map_err(|unknown| match unknown {
            UnknownPolicy::Parameter { error: wrong, .. } => error(&wrong.key, wrong.problem),
            UnknownPolicy::Name { kind, name, known } => {
                context.unknown(&self.path, kind, &name, known.into_iter())
            }
            UnknownPolicy::Load { problem, .. } => context.error(&self.path, problem),
        })?;
        let built_in = of(Registry::built_in().policies()).names().any(|name| name == self.name);
        Ok(Chosen::new(self.name, built_in, self.values, make))
    }
}

fn plain(value: &toml::Value) -> Option<Value> {
    match value {
        toml::Value::Integer(value) => Some(Value::Integer(*value)),
        toml::Value::Float(value) => Some(Value::Float(*value)),
        toml::Value::Boolean(value) => Some(Value::Boolean(*value)),
        toml::Value::String(value) => Some(Value::Text(value.clone())),
        toml::Value::Datetime(_) | toml::Value::Array(_) | toml::Value::Table(_) => None,
    }
}
