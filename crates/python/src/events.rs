//! Python bindings of the events that explain a run: filters and columns.
//!
//! Owns the conversion of values; records nothing.

use mptcp_lab::Instant;
use mptcp_lab::events::{Events, Filter, RENAMED_KINDS, kinds};
use mptcp_lab::mptcp::observe::{Columns, Field};
use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Names of event types, and the start and end of the recorded interval in seconds.
pub(crate) type Trace = (Vec<String>, f64, f64);

fn instant(seconds: f64) -> Instant {
    // The conversion saturates at the clock's maximum.
    Instant::from_nanos((seconds.max(0.0) * 1e9) as u64)
}

/// The filter for a request from Python. With an empty list of types, a run measures only what limits each path. None
/// without a request.
pub(crate) fn filter(trace: Option<Trace>) -> PyResult<Option<Filter>> {
    let Some((names, from, until)) = trace else { return Ok(None) };
    let filter = Filter::named(names.iter().map(String::as_str))
        .map_err(|name| PyValueError::new_err(format!("there is no event type {name:?}")))?;
    Ok(Some(Filter { from: instant(from), until: instant(until), ..filter }))
}

/// Event types: name, description, and the columns of numbers.
#[pyfunction]
pub(crate) fn event_kinds() -> Vec<(&'static str, &'static str, Vec<&'static str>)> {
    kinds()
}

/// Renamed types of events: old name, new name.
#[pyfunction]
pub(crate) fn renamed_event_kinds() -> Vec<(&'static str, &'static str)> {
    RENAMED_KINDS.to_vec()
}

/// Columns of events: name and description.
#[pyfunction]
pub(crate) fn event_fields() -> Vec<(&'static str, &'static str)> {
    Field::ALL.iter().map(|field| (field.name(), field.says())).collect()
}

/// The events of a run as numpy columns.
pub(crate) fn columns<'py>(py: Python<'py>, events: Events) -> PyResult<Bound<'py, PyDict>> {
    let row = plain_columns(py, events.columns)?;
    row.set_item("hosts", events.hosts)?;
    Ok(row)
}

pub(crate) fn plain_columns(py: Python<'_>, columns: Columns) -> PyResult<Bound<'_, PyDict>> {
    let row = PyDict::new(py);
    row.set_item("at", PyArray1::from_vec(py, columns.at))?;
    row.set_item("host", PyArray1::from_vec(py, columns.host))?;
    row.set_item("flow", PyArray1::from_vec(py, columns.flow))?;
    row.set_item("path", PyArray1::from_vec(py, columns.path))?;
    row.set_item("subflow", PyArray1::from_vec(py, columns.subflow))?;
    row.set_item("kind", PyArray1::from_vec(py, columns.kind))?;
    row.set_item("what", PyArray1::from_vec(py, columns.what))?;
    row.set_item("other", PyArray1::from_vec(py, columns.other))?;
    let numbers = columns.numbers.map(|column| PyArray1::from_vec(py, column));
    row.set_item("numbers", numbers.to_vec())?;
    row.set_item("words", columns.words)?;
    row.set_item("dropped", columns.dropped)?;
    Ok(row)
}
