//! Kinds: the types of a scenario element by name, such as `nat` among middleboxes. They are built in or come
//! from other crates, and all have the form `kind = "NAME"` in a scenario.
//!
//! Owns the list of kinds of one element, and a kind together with its parameters.

use std::fmt;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};

use super::error::ScenarioError;
use super::parameters::Parameters;
use super::tree::Node;

/// The table with the keys of a middlebox from another crate.
pub(crate) const PARAMETERS: &str = "parameters";

/// A key of a built-in kind, for the JSON Schema and the reference page.
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

/// A kind: its name, description, and function that reads parameters. The function returns a factory, which
/// the run calls for each instance.
pub(crate) struct Kind<M> {
    pub(crate) name: String,
    pub(crate) about: String,
    /// Keys of a built-in kind, in the same table as the common keys. Empty for other kinds.
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

    /// Reads the parameters from the table at `at`. Its keys `others` are no parameters.
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

/// The kinds of one registry, in order of registration.
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

/// A kind with the parameters of a scenario. Two values are equal if kind and parameters are equal.
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

    /// Whether the kind is built in.
    #[must_use]
    pub fn is_built_in(&self) -> bool {
        self.built_in
    }

    /// The parameters, including defaults. For a policy, only the parameters that the scenario sets.
    #[must_use]
    pub fn values(&self) -> &toml::Table {
        &self.values
    }

    pub(crate) fn make(&self) -> &M {
        &self.make
    }

    /// The kind and its parameters as TOML, to compare two choices. Parameters are sorted by key, because the
    /// order of reading may depend on values.
    pub(crate) fn identity(&self) -> String {
        let mut keys: Vec<_> = self.table().into_iter().collect();
        keys.sort_by(|(one, _), (other, _)| (one != "kind", one).cmp(&(other != "kind", other)));
        keys.into_iter().collect::<toml::Table>().to_string()
    }

    /// The kind and its parameters in one table.
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
