//! A registry of policies of one type.
//!
//! Scenario files, the reference page and error messages take the names from it. Owns the names, descriptions
//! and factories. Never keeps a policy.

use std::fmt;
use std::sync::Arc;

use crate::policy::{Factory, ParameterError, Parameters};

type Make<T> = dyn Fn(&mut Parameters) -> Result<Factory<T>, ParameterError> + Send + Sync;
type Load<T> = dyn Fn(&str, &Parameters) -> Option<Result<Factory<T>, String>> + Send + Sync;

/// A named policy.
pub struct Entry<T: ?Sized> {
    name: &'static str,
    about: &'static str,
    make: Arc<Make<T>>,
}

impl<T: ?Sized> Entry<T> {
    /// Name in scenario files and commands.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Short description of the policy, with the source.
    #[must_use]
    pub fn about(&self) -> &'static str {
        self.about
    }
}

impl<T: ?Sized> Clone for Entry<T> {
    fn clone(&self) -> Self {
        Self { name: self.name, about: self.about, make: Arc::clone(&self.make) }
    }
}

/// Error of a policy lookup.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum UnknownPolicy {
    /// The name is not registered.
    #[error("unknown {kind} \"{name}\"; expected one of {known}", known = known.join(", "))]
    Name {
        /// Type of the policy, such as "scheduler".
        kind: &'static str,
        /// The unknown name.
        name: String,
        /// Registered names, in order of registration.
        known: Vec<&'static str>,
    },
    /// A parameter is invalid.
    #[error("{name}: {error}")]
    Parameter {
        /// Name of the policy.
        name: &'static str,
        /// The error.
        error: ParameterError,
    },
    /// The loader ([`Registry::set_loader`]) could not create the policy.
    #[error("{kind} \"{name}\": {problem}")]
    Load {
        /// Type of the policy, such as "scheduler".
        kind: &'static str,
        /// Name in the scenario.
        name: String,
        /// Description of the problem.
        problem: String,
    },
}

/// The policies of one type.
pub struct Registry<T: ?Sized> {
    kind: &'static str,
    entries: Vec<Entry<T>>,
    loader: Option<Arc<Load<T>>>,
}

impl<T: ?Sized> Registry<T> {
    /// Creates an empty registry; `kind` names the type in messages, such as "scheduler".
    #[must_use]
    pub fn new(kind: &'static str) -> Self {
        Self { kind, entries: Vec::new(), loader: None }
    }

    /// Adds a policy, or replaces the one with the same name. `make` reads the parameters and returns the
    /// factory.
    pub fn register(
        &mut self,
        name: &'static str,
        about: &'static str,
        make: impl Fn(&mut Parameters) -> Result<Factory<T>, ParameterError> + Send + Sync + 'static,
    ) {
        let entry = Entry { name, about, make: Arc::new(make) };
        match self.entries.iter_mut().find(|known| known.name == name) {
            Some(known) => *known = entry,
            None => self.entries.push(entry),
        }
    }

    /// Registers a policy as [`Registry::register`] does, for chained calls.
    #[must_use]
    pub fn with(
        mut self,
        name: &'static str,
        about: &'static str,
        make: impl Fn(&mut Parameters) -> Result<Factory<T>, ParameterError> + Send + Sync + 'static,
    ) -> Self {
        self.register(name, about, make);
        self
    }

    /// Sets the function that creates policies whose names are not registered, such as classes written in Python.
    /// `load` returns `None` if the name cannot belong to it, and the problem as text if the policy cannot be created.
    pub fn set_loader(
        &mut self,
        load: impl Fn(&str, &Parameters) -> Option<Result<Factory<T>, String>> + Send + Sync + 'static,
    ) {
        self.loader = Some(Arc::new(load));
    }

    /// Returns the policy `name` with default parameters.
    ///
    /// # Errors
    ///
    /// If the name is not registered.
    pub fn find(&self, name: &str) -> Result<Factory<T>, UnknownPolicy> {
        self.find_with(name, Parameters::default())
    }

    /// Returns the policy `name` with these parameters.
    ///
    /// # Errors
    ///
    /// If the name is not registered and not loaded, or a parameter is invalid or unknown.
    pub fn find_with(&self, name: &str, mut parameters: Parameters) -> Result<Factory<T>, UnknownPolicy> {
        let Some(entry) = self.entries.iter().find(|entry| entry.name == name) else {
            if let Some(loaded) = self.loader.as_ref().and_then(|load| load(name, &parameters)) {
                return loaded.map_err(|problem| UnknownPolicy::Load {
                    kind: self.kind,
                    name: name.into(),
                    problem,
                });
            }
            let known = self.names().collect();
            return Err(UnknownPolicy::Name { kind: self.kind, name: name.into(), known });
        };
        let made = (entry.make)(&mut parameters).and_then(|made| parameters.finish().map(|()| made));
        made.map_err(|error| UnknownPolicy::Parameter { name: entry.name, error })
    }

    /// Name of the policy type in messages.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// All entries, in order of registration.
    #[must_use]
    pub fn entries(&self) -> &[Entry<T>] {
        &self.entries
    }

    /// All names, in order of registration.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.entries.iter().map(|entry| entry.name)
    }
}

impl<T: ?Sized> Clone for Registry<T> {
    fn clone(&self) -> Self {
        Self { kind: self.kind, entries: self.entries.clone(), loader: self.loader.clone() }
    }
}

impl<T: ?Sized> fmt::Debug for Registry<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}
