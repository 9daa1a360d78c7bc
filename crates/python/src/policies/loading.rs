//! Finds the Python class that a scenario names, and registers the adapters for it.
//!
//! `mptcplab.policies.loading` imports the class and reads which methods it has. This module turns the result into a
//! factory, and an exception into the text of a scenario error.

use std::collections::HashSet;
use std::sync::{Arc, LazyLock, Mutex};

use mptcp_lab::Registry;
use mptcp_lab::mptcp::congestion::CongestionControl;
use mptcp_lab::mptcp::policy::{Factory, Parameters, Value};
use mptcp_lab::mptcp::scheduler::Scheduler;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::congestion::PythonCongestion;
use super::python_class::PythonClass;
use super::scheduler::PythonScheduler;

/// Lets scenarios name schedulers and congestion controllers written in Python.
pub(crate) fn with_python_classes(registry: Registry) -> Registry {
    registry.with_policies(|policies| {
        policies.schedulers.set_loader(|name, parameters| {
            load("scheduler", name, parameters).map(|class| {
                let class = class?;
                Ok(Factory::<dyn Scheduler>::new(class.name(), move || {
                    Box::new(PythonScheduler::new(class.clone()))
                }))
            })
        });
        policies.congestion.set_loader(|name, parameters| {
            load("congestion", name, parameters).map(|class| {
                let class = class?;
                Ok(Factory::<dyn CongestionControl>::new(class.name(), move || {
                    Box::new(PythonCongestion::new(class.clone()))
                }))
            })
        });
    })
}

/// Loads the class `name`; `None` if the name has no colon.
fn load(key: &str, name: &str, parameters: &Parameters) -> Option<Result<Arc<PythonClass>, String>> {
    let loaded = name.contains(':').then(|| {
        Python::attach(|py| find(py, key, name, parameters).map_err(|error| error.value(py).to_string()))
    });
    loaded.map(|class| class.map(Arc::new))
}

fn find(py: Python<'_>, key: &str, name: &str, parameters: &Parameters) -> PyResult<PythonClass> {
    let values = PyDict::new(py);
    for (key, value) in parameters.iter() {
        match value {
            Value::Integer(value) => values.set_item(key, value)?,
            Value::Float(value) => values.set_item(key, value)?,
            Value::Boolean(value) => values.set_item(key, value)?,
            Value::Text(value) => values.set_item(key, value)?,
        }
    }
    let loading = py.import("mptcplab.policies.loading")?;
    let (class, methods, needs_ecn) = loading.call_method1("load", (key, name, &values))?.extract()?;
    Ok(PythonClass::new(interned(name)?, class, values.unbind(), methods, needs_ecn))
}

/// A copy of the name that lives as long as the process, because policies have static names. Each name is kept once.
fn interned(name: &str) -> PyResult<&'static str> {
    static NAMES: LazyLock<Mutex<HashSet<&'static str>>> = LazyLock::new(Mutex::default);
    let mut names =
        NAMES.lock().map_err(|error| pyo3::exceptions::PyRuntimeError::new_err(error.to_string()))?;
    if let Some(known) = names.get(name) {
        return Ok(known);
    }
    let kept: &'static str = Box::leak(name.to_owned().into_boxed_str());
    names.insert(kept);
    Ok(kept)
}
