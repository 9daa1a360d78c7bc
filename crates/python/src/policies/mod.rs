//! Policies written in Python, and the names of all policies.
//!
//! A scheduler or congestion controller can be a Python class, which a scenario names as `"module:Class"`. This module
//! owns the adapters, which the protocol calls like any other policy. An adapter fills an array with the state, calls
//! the method of the class, and checks the answer. `mptcplab.policies.loading` finds the class.

mod congestion;
mod congestion_view;
mod failure;
mod loading;
mod python_class;
mod scheduler;
mod send_view;
mod state;

pub(crate) use congestion_view::{CongestionPath, CongestionView};
pub(crate) use failure::{RunState, Watch, has_failed, policy_seed};
pub(crate) use loading::with_python_classes;
pub(crate) use send_view::{SendPath, SendView};

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
