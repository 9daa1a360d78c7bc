//! A scheduler written in Python.
//!
//! Owns the calls of `choose` and `copies`, and the check of their answers. After the first error, it answers with the first path that
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
    /// `None` if the object could not be created.
    parts: Option<Parts>,
}

/// The bound methods of an object, and the view that they get.
struct Parts {
    choose: Py<PyAny>,
    copies: Option<Py<PyAny>>,
    view: Py<SendView>,
}

impl PythonScheduler {
    pub(super) fn new(class: Arc<PythonClass>) -> Self {
        let parts = Python::attach(|py| {
            let object = class.instance(py)?;
            let view = Py::new(py, SendView::new(py))?;
            let copies = class.has("copies").then(|| object.getattr(py, "copies")).transpose()?;
            PyResult::Ok(Parts { choose: object.getattr(py, "choose")?, copies, view })
        });
        let parts = parts.map_err(|error| failure::store(class.name(), error)).ok();
        Self { class, parts }
    }

    fn ask(&self, view: &View<'_>) -> PyResult<Option<usize>> {
        let Some(parts) = &self.parts else { return Ok(first_available(view)) };
        Python::attach(|py| {
            parts.view.borrow_mut(py).fill(py, view)?;
            let answer = parts.choose.call1(py, (&parts.view,))?;
            let answer = answer.bind(py);
            if answer.is_none() {
                return Ok(None);
            }
            let known = position(answer, view.candidates.len());
            known.map(Some).ok_or_else(|| self.invalid("choose", answer, view, ", or None to wait"))
        })
    }

    /// Adds the positions that `copies` returns for the segment on `chosen`.
    fn ask_for_copies(&self, view: &View<'_>, chosen: usize, found: &mut Vec<usize>) -> PyResult<()> {
        let Some(Parts { copies: Some(copies), view: filled, .. }) = &self.parts else { return Ok(()) };
        Python::attach(|py| {
            filled.borrow_mut(py).fill(py, view)?;
            let paths = filled.borrow(py).path_tuple(py);
            let answer = copies.call1(py, (filled, paths.bind(py).get_item(chosen)?))?;
            let answer = answer.bind(py);
            let Ok(entries) = answer.try_iter() else {
                return Err(self.invalid("copies", answer, view, " in a list"));
            };
            for entry in entries {
                let entry = entry?;
                let Some(at) = position(&entry, view.candidates.len()).filter(|at| *at != chosen) else {
                    return Err(self.invalid("copies", &entry, view, ", other than the chosen one"));
                };
                if !found.contains(&at) {
                    found.push(at);
                }
            }
            Ok(())
        })
    }

    fn invalid(&self, method: &str, answer: &Bound<'_, PyAny>, view: &View<'_>, or: &str) -> PyErr {
        let answer = answer.repr().map_or_else(|_| "an object".to_owned(), |text| text.to_string());
        PyValueError::new_err(format!(
            "{}.{method} returned {answer}; expected a path of view.paths, its index (0 to {}){or}",
            self.class.name(),
            view.candidates.len() - 1,
        ))
    }
}

/// The position of a path that a method has returned; `None` for an unknown one.
fn position(answer: &Bound<'_, PyAny>, paths: usize) -> Option<usize> {
    let index = match answer.cast::<SendPath>() {
        Ok(path) => Some(path.get().index),
        Err(_) => answer.extract::<usize>().ok(),
    };
    index.filter(|index| *index < paths)
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

    fn makes_copies(&self) -> bool {
        self.class.has("copies")
    }

    fn copies(&mut self, view: &View<'_>, chosen: usize, copies: &mut Vec<usize>) {
        if failure::has_failed() {
            return;
        }
        if let Err(error) = self.ask_for_copies(view, chosen, copies) {
            copies.clear();
            failure::store(self.class.name(), error);
        }
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
