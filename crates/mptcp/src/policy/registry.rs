//! The policies of one kind, by name.

use std::fmt;
use std::sync::Arc;

use crate::policy::{Factory, ParameterError, Parameters};

type Make<T> = dyn Fn(&mut Parameters) -> Result<Factory<T>, ParameterError> + Send + Sync;

/// A policy that can be named.
pub struct Entry<T: ?Sized> {
    name: &'static str,
    about: &'static str,
    make: Arc<Make<T>>,
}

impl<T: ?Sized> Entry<T> {
    /// The name that scenario files and commands use.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// What it is, in a few words with its source.
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

/// Why a name or what came with it cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum UnknownPolicy {
    /// Nothing of that name is registered.
    #[error("there is no {kind} \"{name}\"; there is {known}", known = known.join(", "))]
    Name {
        /// What was looked for, such as "scheduler".
        kind: &'static str,
        /// The name.
        name: String,
        /// The names there are, in their order.
        known: Vec<&'static str>,
    },
    /// One of its parameters is wrong.
    #[error("{name}: {error}")]
    Parameter {
        /// The policy.
        name: &'static str,
        /// What is wrong.
        error: ParameterError,
    },
}

/// The policies of one kind.
pub struct Registry<T: ?Sized> {
    kind: &'static str,
    entries: Vec<Entry<T>>,
}

impl<T: ?Sized> Registry<T> {
    /// With nothing in it; `kind` is what messages call its entries, such as "scheduler".
    #[must_use]
    pub fn new(kind: &'static str) -> Self {
        Self { kind, entries: Vec::new() }
    }

    /// Adds a policy, or replaces the one of that name. `make` reads the parameters that it takes, and says what each
    /// connection gets.
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

    /// As [`Registry::register`], in a chain.
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

    /// The policy called `name`, with the defaults of its parameters.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn find(&self, name: &str) -> Result<Factory<T>, UnknownPolicy> {
        self.find_with(name, Parameters::default())
    }

    /// The policy called `name`, with parameters.
    ///
    /// # Errors
    /// When there is none of that name, or one of the parameters is wrong or not known.
    pub fn find_with(&self, name: &str, mut parameters: Parameters) -> Result<Factory<T>, UnknownPolicy> {
        let Some(entry) = self.entries.iter().find(|entry| entry.name == name) else {
            let known = self.names().collect();
            return Err(UnknownPolicy::Name { kind: self.kind, name: name.into(), known });
        };
        let made = (entry.make)(&mut parameters).and_then(|made| parameters.finish().map(|()| made));
        made.map_err(|error| UnknownPolicy::Parameter { name: entry.name, error })
    }

    /// What messages call its entries.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// What there is, in the order of registration.
    #[must_use]
    pub fn entries(&self) -> &[Entry<T>] {
        &self.entries
    }

    /// The names there are, in the order of registration.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.entries.iter().map(|entry| entry.name)
    }
}

impl<T: ?Sized> Clone for Registry<T> {
    fn clone(&self) -> Self {
        Self { kind: self.kind, entries: self.entries.clone() }
    }
}

impl<T: ?Sized> fmt::Debug for Registry<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}
