//! The names of congestion controllers, schedulers and path managers, which the command line offers as choices.
//!
//! Owns the conversion for Python; the registry in `scenario` holds the policies.

use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::scenario::registry;

/// Names of the registered policies in order, by the flow key that selects them.
#[pyfunction]
pub(crate) fn policy_names(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let registry = registry();
    let policies = registry.policies();
    let names = PyDict::new(py);
    names.set_item("congestion", policies.congestion.names().collect::<Vec<_>>())?;
    names.set_item("scheduler", policies.schedulers.names().collect::<Vec<_>>())?;
    names.set_item("path_manager", policies.path_managers.names().collect::<Vec<_>>())?;
    Ok(names)
}
