//! The registry: all middleboxes, loss models, queue disciplines and applications that a scenario can name.
//!
//! A kind is one named model of these, such as one middlebox or one queue discipline. It is built in, or
//! another crate registers it here. Owns the lists of kinds, and their part of the JSON schema and of the
//! reference page. `mptcp::policy` has the lists of congestion controllers, schedulers and path managers.

use std::sync::{Arc, LazyLock, OnceLock};

use mptcp::policy::{self, Policies};
use netsim::{LossModel, QueueDiscipline};
use serde_json::Value;

use crate::application::{self, Application};
use crate::middlebox::{
    self, Middlebox, Site, bleach_ecn, coalesce, early_ack, mark_ecn, nat, rewrite_payload, rewrite_sequence,
    split, strip_options,
};
use crate::queues;
use crate::scenario::ScenarioError;
use crate::scenario::kinds::{Kind, Kinds};
use crate::scenario::parameters::Parameters;
use crate::scenario::{kind_schema, reference, schema};

mod policies;

/// A factory of a loss model.
pub(crate) type LossMaker = Arc<dyn Fn() -> Box<dyn LossModel> + Send + Sync>;

/// Description of keys that take a loss model.
const LOSS_KEYS: &str = "A registered loss model, instead of `loss` and `gilbert_elliott`.";
/// Description of keys that take a queue discipline.
const QUEUE_KEYS: &str = "A queue discipline with its keys.";
/// Description of keys that take an application.
const APPLICATION_KEYS: &str = "A registered application, instead of `bulk`, `bytes` or `blocks`.";

/// A refused registration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// The name is taken.
    #[error("there is a {what} called {name:?} already")]
    Taken {
        /// The type of element, such as "middlebox".
        what: &'static str,
        /// The requested name.
        name: String,
    },
    /// The name is not valid in scenario files.
    #[error(
        "the name {name:?} of a {what} must begin with a letter and use only lower-case letters, digits and -"
    )]
    Name {
        /// The type of element, such as "middlebox".
        what: &'static str,
        /// The requested name.
        name: String,
    },
}

/// Kinds by name. Start from [`Registry::new`], add your kinds, and pass the registry to
/// [`crate::scenario::Draft::load_with`] or [`crate::cli::run`]. Scenarios can then use their names.
///
/// ```
/// use mptcp_lab::middlebox::{Middlebox, Travelling};
/// use mptcp_lab::scenario::names::Side;
/// use mptcp_lab::{Instant, Registry, Segment};
///
/// /// Loses every nth segment.
/// #[derive(Debug)]
/// struct Nth { n: u64, count: u64 }
///
/// impl Middlebox for Nth {
///     fn take(&mut self, _now: Instant, side: Side, segment: Segment, out: &mut Vec<Travelling>) {
///         self.count += 1;
///         if !self.count.is_multiple_of(self.n) {
///             out.push((side, segment));
///         }
///     }
/// }
///
/// let registry = Registry::new().middlebox("nth", "Loses every nth segment.", |keys| {
///     let n = keys.number("n", 2..=1_000_000, 100)?;
///     Ok(move |_site| Nth { n, count: 0 })
/// })?;
/// assert!(registry.json_schema().to_string().contains("Loses every nth segment."));
/// # Ok::<(), mptcp_lab::RegistryError>(())
/// ```
#[derive(Debug)]
pub struct Registry {
    middleboxes: Kinds<middlebox::Maker>,
    losses: Kinds<LossMaker>,
    queues: Kinds<queues::Maker>,
    applications: Kinds<application::Maker>,
    policies: Policies,
    /// Created on demand.
    schema: OnceLock<Value>,
}

impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}

impl Registry {
    /// A registry with the built-in kinds.
    #[must_use]
    pub fn new() -> Self {
        Self {
            middleboxes: Kinds::new(vec![
                nat::kind(),
                rewrite_sequence::kind(),
                strip_options::kind(),
                split::kind(),
                coalesce::kind(),
                early_ack::kind(),
                rewrite_payload::kind(),
                bleach_ecn::kind(),
                mark_ecn::kind(),
            ]),
            // The built-in loss models have their own keys, `loss` and `gilbert_elliott`.
            losses: Kinds::new(Vec::new()),
            queues: Kinds::new(queues::kinds()),
            // The built-in applications have their own keys, because estimates of the run need them.
            applications: Kinds::new(Vec::new()),
            policies: Policies::default(),
            schema: OnceLock::new(),
        }
    }

    /// The shared registry of the built-in kinds.
    #[must_use]
    pub fn built_in() -> Arc<Self> {
        static BUILT_IN: LazyLock<Arc<Registry>> = LazyLock::new(|| Arc::new(Registry::new()));
        BUILT_IN.clone()
    }

    /// Adds a kind of middlebox: `kind = "NAME"`, with its keys under `parameters`. `read` reads the keys and
    /// returns a factory, which is called each time the middlebox is switched on. `about` is one sentence for
    /// the schema and the reference page.
    ///
    /// # Errors
    /// A name that is taken or invalid.
    pub fn middlebox<B, M, R>(mut self, name: &str, about: &str, read: R) -> Result<Self, RegistryError>
    where
        B: Middlebox + 'static,
        M: Fn(Site) -> B + Send + Sync + 'static,
        R: Fn(&mut Parameters<'_>) -> Result<M, ScenarioError> + Send + Sync + 'static,
    {
        let read = move |keys: &mut Parameters<'_>| read(keys).map(middlebox::maker);
        add(&mut self.middleboxes, "middlebox", Kind::registered(name, about, read))?;
        Ok(self.changed())
    }

    /// Adds a loss model: `loss_model = { kind = "NAME", ... }` of a path or link. `read` returns a factory,
    /// called once per direction.
    ///
    /// # Errors
    /// As [`Self::middlebox`].
    pub fn loss<L, M, R>(mut self, name: &str, about: &str, read: R) -> Result<Self, RegistryError>
    where
        L: LossModel + 'static,
        M: Fn() -> L + Send + Sync + 'static,
        R: Fn(&mut Parameters<'_>) -> Result<M, ScenarioError> + Send + Sync + 'static,
    {
        let read = move |keys: &mut Parameters<'_>| -> Result<LossMaker, ScenarioError> {
            let make = read(keys)?;
            Ok(Arc::new(move || Box::new(make())))
        };
        add(&mut self.losses, "loss model", Kind::registered(name, about, read))?;
        Ok(self.changed())
    }

    /// Adds a queue discipline: `queue = { kind = "NAME", ... }` of a path or link. `read` returns a factory,
    /// called once per direction.
    ///
    /// # Errors
    /// As [`Self::middlebox`].
    pub fn queue<Q, M, R>(mut self, name: &str, about: &str, read: R) -> Result<Self, RegistryError>
    where
        Q: QueueDiscipline + 'static,
        M: Fn() -> Q + Send + Sync + 'static,
        R: Fn(&mut Parameters<'_>) -> Result<M, ScenarioError> + Send + Sync + 'static,
    {
        let read = move |keys: &mut Parameters<'_>| read(keys).map(queues::maker);
        add(&mut self.queues, "queue discipline", Kind::registered(name, about, read))?;
        Ok(self.changed())
    }

    /// Adds an application: `application = { kind = "NAME", ... }` of a flow. `read` returns a factory,
    /// called once per flow.
    ///
    /// # Errors
    /// As [`Self::middlebox`].
    pub fn application<A, M, R>(mut self, name: &str, about: &str, read: R) -> Result<Self, RegistryError>
    where
        A: Application + 'static,
        M: Fn() -> A + Send + Sync + 'static,
        R: Fn(&mut Parameters<'_>) -> Result<M, ScenarioError> + Send + Sync + 'static,
    {
        let read = move |keys: &mut Parameters<'_>| -> Result<application::Maker, ScenarioError> {
            let make = read(keys)?;
            Ok(Arc::new(move || Box::new(make())))
        };
        add(&mut self.applications, "application", Kind::registered(name, about, read))?;
        Ok(self.changed())
    }

    /// The JSON Schema (draft 2020-12) of scenarios that use the names of this registry.
    #[must_use]
    pub fn json_schema(&self) -> &Value {
        self.schema.get_or_init(|| {
            let mut schema = schema::of_files();
            kind_schema::add_middleboxes(&mut schema, &self.middleboxes);
            let line = |table: &str| {
                ["", "/properties/forward", "/properties/backward"]
                    .map(|side| format!("/properties/{table}/additionalProperties{side}/properties"))
            };
            let topology =
                ["", "/properties/hosts"].map(|place| format!("/properties/topology{place}/properties"));
            let lines = [&line("paths")[..], &line("links"), &topology].concat();
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            kind_schema::add_kinds(&mut schema, &lines, "loss_model", LOSS_KEYS, &self.losses);
            kind_schema::add_form(&mut schema, &lines, "queue", QUEUE_KEYS, &self.queues);
            let flows =
                ["/properties/flows/additionalProperties/properties", "/properties/defaults/properties"];
            kind_schema::add_kinds(&mut schema, &flows, "application", APPLICATION_KEYS, &self.applications);
            let sets = "/properties/events/items/properties/set/properties";
            let with_sets = [&flows[..], &[sets]].concat();
            kind_schema::add_policies(&mut schema, &with_sets, "congestion", &self.policies.congestion, true);
            kind_schema::add_policies(&mut schema, &with_sets, "scheduler", &self.policies.schedulers, true);
            kind_schema::add_policies(
                &mut schema,
                &flows,
                "path_manager",
                &self.policies.path_managers,
                false,
            );
            schema
        })
    }

    /// The reference page, in Markdown.
    #[must_use]
    pub fn reference_page(&self) -> String {
        let mut page = reference::page(self.json_schema());
        page += &section("Middleboxes", "`kind = \"NAME\"` of `[middleboxes.NAME]`.", &self.middleboxes);
        page +=
            &section("Loss models", "`loss_model = { kind = \"NAME\" }` of a path or link.", &self.losses);
        page += &reference::kinds(
            "Queue disciplines",
            "`queue = { kind = \"NAME\", … }` of a path or link, or of one direction. Defaults and sources: \
             [queues.md](queues.md).",
            self.queues.all().map(|kind| (&*kind.name, &*kind.about)),
        );
        page +=
            &section("Applications", "`application = { kind = \"NAME\" }` of a flow.", &self.applications);
        let own = Policies::default();
        let Policies { congestion, schedulers, path_managers } = &self.policies;
        page += &policy_section("Congestion controllers", "congestion", congestion, &own.congestion);
        page += &policy_section("Schedulers", "scheduler", schedulers, &own.schedulers);
        page += &policy_section("Path managers", "path_manager", path_managers, &own.path_managers);
        page
    }

    /// The congestion controllers, schedulers and path managers.
    #[must_use]
    pub fn policies(&self) -> &Policies {
        &self.policies
    }

    /// Changes the congestion controllers, schedulers and path managers, for example to set their loaders.
    #[must_use]
    pub fn with_policies(mut self, change: impl FnOnce(&mut Policies)) -> Self {
        change(&mut self.policies);
        self.changed()
    }

    pub(crate) fn middleboxes(&self) -> &Kinds<middlebox::Maker> {
        &self.middleboxes
    }

    pub(crate) fn losses(&self) -> &Kinds<LossMaker> {
        &self.losses
    }

    pub(crate) fn queues(&self) -> &Kinds<queues::Maker> {
        &self.queues
    }

    pub(crate) fn applications(&self) -> &Kinds<application::Maker> {
        &self.applications
    }

    fn changed(mut self) -> Self {
        self.schema = OnceLock::new();
        self
    }
}

fn add<M>(kinds: &mut Kinds<M>, what: &'static str, kind: Kind<M>) -> Result<(), RegistryError> {
    check_name(what, &kind.name, kinds.get(&kind.name).is_some())?;
    kinds.add(kind);
    Ok(())
}

fn check_name(what: &'static str, name: &str, taken: bool) -> Result<(), RegistryError> {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let name = name.to_owned();
    if !name.starts_with(|c: char| c.is_ascii_lowercase()) || !name.chars().all(fits) {
        return Err(RegistryError::Name { what, name });
    }
    if taken { Err(RegistryError::Taken { what, name }) } else { Ok(()) }
}

fn of_this_build(title: &str) -> String {
    format!("{title} of this build")
}

fn section<M>(title: &str, place: &str, kinds: &Kinds<M>) -> String {
    reference::kinds(&of_this_build(title), place, kinds.registered().map(|kind| (&*kind.name, &*kind.about)))
}

fn policy_section<T: ?Sized>(
    title: &str,
    key: &str,
    all: &policy::Registry<T>,
    own: &policy::Registry<T>,
) -> String {
    let place = format!("`{key} = \"NAME\"` or `{key} = {{ kind = \"NAME\" }}` of a flow.");
    let others = all.entries().iter().skip(own.entries().len());
    reference::kinds(&of_this_build(title), &place, others.map(|entry| (entry.name(), entry.about())))
}

/// The JSON Schema of scenarios with built-in names only.
#[must_use]
pub fn json_schema() -> Value {
    Registry::built_in().json_schema().clone()
}

/// The reference page of the built-in names, in Markdown.
#[must_use]
pub fn reference_page() -> String {
    Registry::built_in().reference_page()
}
