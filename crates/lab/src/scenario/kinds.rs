//! Kinds by name: what the built-in ones and those of other crates have in common.
//!
//! Owns a list for each sort of thing, and how a kind reads its part of a scenario. Never knows what a kind does.

use std::fmt;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};

use super::error::ScenarioError;
use super::parameters::Parameters;
use super::tree::Node;

/// Where the keys of a middlebox from another crate stand.
pub(crate) const PARAMETERS: &str = "parameters";

/// A key of a built-in kind: what schema and reference say of it.
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) schema: fn(&mut SchemaGenerator) -> Schema,
}

impl Key {
    pub(crate) const fn of<T: JsonSchema>(name: &'static str, about: &'static str) -> Self {
        Self { name, about, schema: schema_of::<T> }
    }
}

fn schema_of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

type Read<M> = Arc<dyn Fn(&mut Parameters<'_>) -> Result<M, ScenarioError> + Send + Sync>;

/// A kind of something: its name, what it is, and how it reads what a scenario says to it. Reading gives a maker, which
/// the run asks for as many as it needs.
pub(crate) struct Kind<M> {
    pub(crate) name: String,
    pub(crate) about: String,
    /// The keys of a built-in kind stand beside those that all kinds have.
    pub(crate) keys: &'static [Key],
    pub(crate) built_in: bool,
    read: Read<M>,
}

impl<M> Kind<M> {
    pub(crate) fn built_in(
        name: &str,
        about: &str,
        keys: &'static [Key],
        read: impl Fn(&mut Parameters<'_>) -> Result<M, ScenarioError> + Send + Sync + 'static,
    ) -> Self {
        let (name, about) = (name.to_owned(), about.to_owned());
        Self { name, about, keys, built_in: true, read: Arc::new(read) }
    }

    pub(crate) fn registered(
        name: &str,
        about: &str,
        read: impl Fn(&mut Parameters<'_>) -> Result<M, ScenarioError> + Send + Sync + 'static,
    ) -> Self {
        Self { built_in: false, ..Self::built_in(name, about, &[], read) }
    }

    /// Reads the table at `at`, in which `others` stand beside the keys of the kind.
    pub(super) fn choose(
        &self,
        root: &Node,
        at: &[&str],
        others: &[&str],
    ) -> Result<Chosen<M>, ScenarioError> {
        let mut parameters = Parameters::new(root, at);
        let make = (self.read)(&mut parameters)?;
        Ok(Chosen {
            kind: self.name.clone(),
            built_in: self.built_in,
            values: parameters.finish(others)?,
            make,
        })
    }
}

impl<M> fmt::Debug for Kind<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kind({})", self.name)
    }
}

/// Kinds of one sort, in the order in which they came.
pub(crate) struct Kinds<M>(Vec<Kind<M>>);

impl<M> fmt::Debug for Kinds<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<M> Kinds<M> {
    pub(crate) fn new(built_in: Vec<Kind<M>>) -> Self {
        Self(built_in)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Kind<M>> {
        self.0.iter()
    }

    pub(crate) fn registered(&self) -> impl Iterator<Item = &Kind<M>> {
        self.all().filter(|kind| !kind.built_in)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Kind<M>> {
        self.all().find(|kind| kind.name == name)
    }

    pub(crate) fn add(&mut self, kind: Kind<M>) {
        self.0.push(kind);
    }
}

/// A kind that a scenario names, with what it says to it. Two are equal if they say the same.
#[derive(Clone)]
pub struct Chosen<M> {
    kind: String,
    built_in: bool,
    values: toml::Table,
    make: M,
}

impl<M> Chosen<M> {
    pub(super) fn new(kind: String, built_in: bool, values: toml::Table, make: M) -> Self {
        Self { kind, built_in, values, make }
    }

    /// The name of the kind.
    #[must_use]
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// Whether it comes with this crate.
    #[must_use]
    pub fn is_built_in(&self) -> bool {
        self.built_in
    }

    /// The values of its keys, defaults filled in; of a policy, those that were given.
    #[must_use]
    pub fn values(&self) -> &toml::Table {
        &self.values
    }

    pub(crate) fn make(&self) -> &M {
        &self.make
    }

    /// What tells it from others, as TOML: the kind, and its values in the order of their keys. In which order a kind asks for them may
    /// depend on what is given.
    pub(crate) fn identity(&self) -> String {
        let mut keys: Vec<_> = self.table().into_iter().collect();
        keys.sort_by(|(one, _), (other, _)| (one != "kind", one).cmp(&(other != "kind", other)));
        keys.into_iter().collect::<toml::Table>().to_string()
    }

    /// The kind and its values in one table.
    pub(crate) fn table(&self) -> toml::Table {
        let kind = ("kind".to_owned(), toml::Value::String(self.kind.clone()));
        std::iter::once(kind).chain(self.values.clone()).collect()
    }
}

impl<M> PartialEq for Chosen<M> {
    fn eq(&self, other: &Self) -> bool {
        (&self.kind, &self.values) == (&other.kind, &other.values)
    }
}

impl<M> fmt::Debug for Chosen<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.kind, self.values)
    }
}
