//! A Python class that scenarios use as a policy.
//!
//! Owns the class, its parameters and the names of its methods. `loading` finds it, and the adapters `scheduler` and
//! `congestion` create an object of it for each connection.

use std::collections::HashSet;

use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A class with its parameters.
pub(super) struct PythonClass {
    name: &'static str,
    class: Py<PyAny>,
    parameters: Py<PyDict>,
    /// Names of the methods that the class defines.
    methods: HashSet<String>,
    /// The value of `needs_ecn`.
    needs_ecn: bool,
}

impl PythonClass {
    pub(super) fn new(
        name: &'static str,
        class: Py<PyAny>,
        parameters: Py<PyDict>,
        methods: HashSet<String>,
        needs_ecn: bool,
    ) -> Self {
        Self { name, class, parameters, methods, needs_ecn }
    }

    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    /// Whether its subflows negotiate ECN.
    pub(super) fn needs_ecn(&self) -> bool {
        self.needs_ecn
    }

    pub(super) fn has(&self, method: &str) -> bool {
        self.methods.contains(method)
    }

    /// Creates an object of the class.
    pub(super) fn instance(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        Ok(self.class.bind(py).call((), Some(self.parameters.bind(py)))?.unbind())
    }
}
