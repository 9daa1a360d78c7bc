//! A congestion controller written in Python.
//!
//! Owns the calls of the methods that the class defines, and the checks of the windows that they set. After the first
//! error, the windows stay as they are until the run stops.

use std::fmt;
use std::sync::Arc;

use mptcp_clock::{Duration, Instant};
use mptcp_lab::mptcp::congestion::{Acked, CongestionControl, Lost, Mark, Repair, Sample};
use mptcp_lab::mptcp::path::Path;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::congestion_view::{CongestionView, threshold};
use super::failure;
use super::python_class::PythonClass;

/// An object of a Python class, for one connection.
pub(super) struct PythonCongestion {
    class: Arc<PythonClass>,
    /// The object and the argument of its methods; `None` if the object could not be created.
    parts: Option<(Methods, Py<CongestionView>)>,
    /// Time of the last call that had one, seconds.
    now: f64,
}

/// The bound methods; `None` for those that the class does not define.
struct Methods {
    on_ack: Option<Py<PyAny>>,
    on_progress: Option<Py<PyAny>>,
    on_loss: Option<Py<PyAny>>,
    on_mark: Option<Py<PyAny>>,
    on_timeout: Option<Py<PyAny>>,
    on_sample: Option<Py<PyAny>>,
    on_lost: Option<Py<PyAny>>,
    on_restart: Option<Py<PyAny>>,
    on_undo: Option<Py<PyAny>>,
    on_path_change: Option<Py<PyAny>>,
}

impl Methods {
    fn of(py: Python<'_>, class: &PythonClass) -> PyResult<Self> {
        let object = class.instance(py)?;
        let method = |name: &str| class.has(name).then(|| object.getattr(py, name)).transpose();
        Ok(Self {
            on_ack: method("on_ack")?,
            on_progress: method("on_progress")?,
            on_loss: method("on_loss")?,
            on_mark: method("on_mark")?,
            on_timeout: method("on_timeout")?,
            on_sample: method("on_sample")?,
            on_lost: method("on_lost")?,
            on_restart: method("on_restart")?,
            on_undo: method("on_undo")?,
            on_path_change: method("on_path_change")?,
        })
    }
}

impl PythonCongestion {
    pub(super) fn new(class: Arc<PythonClass>) -> Self {
        let parts = Python::attach(|py| {
            PyResult::Ok((Methods::of(py, &class)?, Py::new(py, CongestionView::new(py))?))
        });
        let parts = parts.map_err(|error| failure::store(class.name(), error)).ok();
        Self { class, parts, now: 0.0 }
    }

    /// Calls a method with the view, the path, and `extra` if it is given. Returns its answer; `None` if the class
    /// lacks the method or has failed.
    fn call(
        &self,
        paths: &mut [Path],
        path: usize,
        name: &str,
        of: impl Fn(&Methods) -> &Option<Py<PyAny>>,
        extra: impl FnOnce(Python<'_>) -> PyResult<Option<Py<PyAny>>>,
    ) -> Option<f64> {
        let (methods, view) = self.parts.as_ref()?;
        let method = of(methods).as_ref().filter(|_| !failure::has_failed())?;
        let answer = Python::attach(|py| {
            view.borrow_mut(py).fill(py, paths, self.now)?;
            let object = view.borrow(py).path(py, path)?;
            let answer = match extra(py)? {
                Some(extra) => method.call1(py, (view, object, extra))?,
                None => method.call1(py, (view, object))?,
            };
            let place = || format!("{}.{name}", self.class.name());
            view.borrow(py).read_back(py, paths, &place())?;
            let answer = answer.bind(py);
            if answer.is_none() {
                return Ok(None);
            }
            let number = answer.extract::<f64>().map_err(|_| {
                let text = answer.repr().map_or_else(|_| "an object".to_owned(), |text| text.to_string());
                PyValueError::new_err(format!(
                    "{} returned {text}; expected a number of bytes, or None",
                    place()
                ))
            })?;
            Ok(Some(number))
        });
        answer.unwrap_or_else(|error| {
            failure::store(self.class.name(), error);
            None
        })
    }

    fn notify(
        &self,
        paths: &mut [Path],
        path: usize,
        name: &str,
        of: impl Fn(&Methods) -> &Option<Py<PyAny>>,
        extra: impl FnOnce(Python<'_>) -> PyResult<Option<Py<PyAny>>>,
    ) {
        self.call(paths, path, name, of, extra);
    }

    /// Calls a method that returns a threshold. Default: half of the window (RFC 5681 equation 4).
    fn threshold(
        &self,
        paths: &mut [Path],
        path: usize,
        name: &str,
        of: impl Fn(&Methods) -> &Option<Py<PyAny>>,
    ) -> u64 {
        let (half, mss) = ((paths[path].cwnd / 2).max(2 * paths[path].mss), paths[path].mss);
        let Some(answer) = self.call(paths, path, name, of, |_| Ok(None)) else { return half };
        let place = format!("{}.{name} set ssthresh of path {path}", self.class.name());
        threshold(answer, mss, &place).unwrap_or_else(|error| {
            failure::store(self.class.name(), error);
            half
        })
    }

    fn at(&mut self, now: Instant) -> &Self {
        self.now = now.as_secs_f64();
        self
    }
}

fn number(py: Python<'_>, value: f64) -> PyResult<Option<Py<PyAny>>> {
    Ok(Some(value.into_pyobject(py)?.into_any().unbind()))
}

impl CongestionControl for PythonCongestion {
    fn name(&self) -> &'static str {
        self.class.name()
    }

    fn on_progress(&mut self, paths: &mut [Path], path: usize, acked: Acked) {
        let bytes = acked.bytes as f64;
        self.at(acked.now).notify(paths, path, "on_progress", |m| &m.on_progress, |py| number(py, bytes));
    }

    fn needs_progress(&self) -> bool {
        self.class.has("on_progress")
    }

    fn on_ack(&mut self, paths: &mut [Path], path: usize, acked: Acked) {
        let bytes = acked.bytes as f64;
        self.at(acked.now).notify(paths, path, "on_ack", |m| &m.on_ack, |py| number(py, bytes));
    }

    fn on_loss(&mut self, paths: &mut [Path], path: usize, now: Instant) -> u64 {
        self.at(now).threshold(paths, path, "on_loss", |m| &m.on_loss)
    }

    fn on_mark(&mut self, paths: &mut [Path], path: usize, mark: Mark) -> u64 {
        if self.class.has("on_mark") {
            self.at(mark.now).threshold(paths, path, "on_mark", |m| &m.on_mark)
        } else {
            self.on_loss(paths, path, mark.now)
        }
    }

    fn needs_marks(&self) -> bool {
        self.class.needs_ecn()
    }

    fn needs_samples(&self) -> bool {
        self.class.has("on_sample")
    }

    fn on_sample(&mut self, paths: &mut [Path], path: usize, sample: &Sample) {
        self.at(sample.now).notify(
            paths,
            path,
            "on_sample",
            |m| &m.on_sample,
            |py| sample_row(py, sample).map(|row| Some(row.into_any().unbind())),
        );
    }

    fn on_lost(&mut self, paths: &mut [Path], path: usize, lost: &Lost) {
        let bytes = lost.bytes as f64;
        self.at(lost.now).notify(paths, path, "on_lost", |m| &m.on_lost, |py| number(py, bytes));
    }

    fn on_restart(&mut self, paths: &mut [Path], path: usize, now: Instant, idle: Duration) {
        let idle = idle.as_secs_f64();
        self.at(now).notify(paths, path, "on_restart", |m| &m.on_restart, |py| number(py, idle));
    }

    fn on_undo(&mut self, paths: &mut [Path], path: usize, _delivered: u64) {
        self.notify(paths, path, "on_undo", |m| &m.on_undo, |_| Ok(None));
    }

    fn on_timeout(&mut self, paths: &mut [Path], path: usize) {
        self.notify(paths, path, "on_timeout", |m| &m.on_timeout, |_| Ok(None));
    }

    fn on_path_change(&mut self, paths: &mut [Path], path: usize) {
        self.notify(paths, path, "on_path_change", |m| &m.on_path_change, |_| Ok(None));
    }
}

/// A delivery rate sample as a dictionary.
fn sample_row<'py>(py: Python<'py>, sample: &Sample) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    row.set_item("rate", sample.rate)?;
    row.set_item("delivered", sample.delivered)?;
    row.set_item("delivered_before", sample.delivered_before)?;
    row.set_item("total_delivered", sample.total_delivered)?;
    row.set_item("newly_delivered", sample.newly_delivered)?;
    row.set_item("newly_lost", sample.newly_lost)?;
    row.set_item("lost", sample.lost)?;
    row.set_item("in_flight", sample.in_flight)?;
    row.set_item("rtt", sample.rtt.map(Duration::as_secs_f64))?;
    row.set_item("app_limited", sample.app_limited)?;
    row.set_item("window_limited", sample.window_limited)?;
    row.set_item("in_recovery", sample.repair != Repair::None)?;
    Ok(row)
}

impl fmt::Debug for PythonCongestion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.class.name())
    }
}
