//! A scheduler written in Python.
//!
//! Owns the call of `choose` and the check of its answer. After the first error, it answers with the first path that
//! has space, until the run stops.

use std::fmt;
use std::sync::Arc;

use mptcp_lab::mptcp::scheduler::{Scheduler, SendView as View};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::failure;
use super::python_class::PythonClass;
use super::send_view::{SendPath, SendView};

/// An object of a Python class, for one connection.
pub(super) struct PythonScheduler {
    class: Arc<PythonClass>,
    /// The bound method `choose` and its argument; `None` if the object could not be created.
    parts: Option<(Py<PyAny>, Py<SendView>)>,
}

impl PythonScheduler {
    pub(super) fn new(class: Arc<PythonClass>) -> Self {
        let parts = Python::attach(|py| {
            let object = class.instance(py)?;
            let view = Py::new(py, SendView::new(py))?;
            PyResult::Ok((object.getattr(py, "choose")?, view))
        });
        let parts = parts.map_err(|error| failure::store(class.name(), error)).ok();
        Self { class, parts }
    }

    fn ask(&self, view: &View<'_>) -> PyResult<Option<usize>> {
        let Some((choose, filled)) = &self.parts else { return Ok(first_available(view)) };
        Python::attach(|py| {
            filled.borrow_mut(py).fill(py, view)?;
            let answer = choose.call1(py, (filled,))?;
            self.position(answer.bind(py), view.candidates.len())
        })
    }

    /// The position that `choose` has returned.
    fn position(&self, answer: &Bound<'_, PyAny>, paths: usize) -> PyResult<Option<usize>> {
        if answer.is_none() {
            return Ok(None);
        }
        let index = match answer.cast::<SendPath>() {
            Ok(path) => Some(path.get().index),
            Err(_) => answer.extract::<usize>().ok(),
        };
        index.filter(|index| *index < paths).map(Some).ok_or_else(|| {
            let answer = answer.repr().map_or_else(|_| "an object".to_owned(), |text| text.to_string());
            PyValueError::new_err(format!(
                "{}.choose returned {answer}; expected a path of view.paths, its index (0 to {}), or None to wait",
                self.class.name(),
                paths - 1,
            ))
        })
    }
}

impl Scheduler for PythonScheduler {
    fn name(&self) -> &'static str {
        self.class.name()
    }

    fn choose(&mut self, view: &View<'_>) -> Option<usize> {
        if failure::has_failed() {
            return first_available(view);
        }
        self.ask(view).unwrap_or_else(|error| {
            failure::store(self.class.name(), error);
            first_available(view)
        })
    }
}

fn first_available(view: &View<'_>) -> Option<usize> {
    view.candidates.iter().position(|candidate| candidate.is_available)
}

impl fmt::Debug for PythonScheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.class.name())
    }
}
