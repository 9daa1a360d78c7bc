//! Scenarios as Python objects.
//!
//! Owns the registry of this process (the policies and other entries that scenarios can name), the pickled form of a
//! scenario, and the conversion of errors and warnings. `mptcp_lab` makes all checks.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};

use mptcp_lab::scenario as lab;
use mptcp_lab::{Duration, Registry};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::create_exception;
use pyo3::exceptions::{PyFutureWarning, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};

create_exception!(_core, ScenarioError, PyValueError, "A problem in a scenario, its place, and the fix.");

/// The entries that scenarios of this process can use.
static REGISTRY: OnceLock<Arc<Registry>> = OnceLock::new();

pub(crate) fn register(registry: Registry) {
    // A module that is imported twice passes the same registry.
    let _ = REGISTRY.set(Arc::new(registry));
}

pub(crate) fn registry() -> Arc<Registry> {
    REGISTRY.get().cloned().unwrap_or_else(Registry::built_in)
}

fn error(error: &lab::ScenarioError) -> PyErr {
    ScenarioError::new_err(error.to_string())
}

/// A checked, immutable scenario. `with_values` returns a changed copy.
#[pyclass(frozen, module = "mptcplab._core")]
#[derive(Clone)]
pub struct Scenario {
    draft: Arc<lab::Draft>,
    pub(crate) inner: Arc<lab::Scenario>,
}

impl Scenario {
    /// Checks a draft, and warns of deprecated names in it, except the first `known`, which caused warnings before.
    fn checked(py: Python<'_>, draft: lab::Draft, known: usize) -> PyResult<Self> {
        for deprecation in &draft.deprecations()[known..] {
            let message = std::ffi::CString::new(deprecation.to_string())?;
            PyErr::warn(py, &py.get_type::<PyFutureWarning>(), &message, 1)?;
        }
        let inner = draft.finish().map_err(|e| error(&e))?;
        Ok(Self { draft: Arc::new(draft), inner: Arc::new(inner) })
    }
}

/// The text of a pickled scenario, and its recordings.
type Arguments<'py> = (String, Bound<'py, PyDict>);

/// Contents of recordings in a pickled scenario, by link and direction.
type Recordings = HashMap<(String, String), Contents>;

/// Contents of a recording in a pickled scenario.
#[derive(FromPyObject, IntoPyObject)]
enum Contents {
    /// Delivery times, nanoseconds as u64.
    List(Py<PyArray1<u64>>),
    /// Rows of a table: time [ns], rate [bit/s], delay [ns] and loss (0 to 1).
    Table(Vec<Row>),
}

type Row = (u64, Option<u64>, Option<u64>, Option<f64>);

impl Contents {
    fn of(py: Python<'_>, recorded: &lab::Recorded) -> Self {
        if let Some(times) = recorded.times() {
            let times = times.iter().map(|time| time.as_nanos()).collect();
            return Self::List(PyArray1::from_vec(py, times).unbind());
        }
        let lab::Recorded::Steps(steps) = recorded else { return Self::Table(Vec::new()) };
        let row =
            |step: &lab::Step| (step.at.as_nanos(), step.rate, step.delay.map(Duration::as_nanos), step.loss);
        Self::Table(steps.iter().map(row).collect())
    }

    fn recorded(self, py: Python<'_>) -> PyResult<lab::Recorded> {
        match self {
            Self::List(times) => {
                let times = times.bind(py).readonly();
                let times: Vec<_> = times.as_array().iter().copied().map(Duration::from_nanos).collect();
                let wrong = || ScenarioError::new_err("a recording has no increasing delivery times");
                lab::Recorded::list(&times).ok_or_else(wrong)
            }
            Self::Table(rows) => {
                let step = |(at, rate, delay, loss): Row| lab::Step {
                    at: Duration::from_nanos(at),
                    rate,
                    delay: delay.map(Duration::from_nanos),
                    loss,
                };
                Ok(lab::Recorded::Steps(rows.into_iter().map(step).collect()))
            }
        }
    }
}

#[pymethods]
impl Scenario {
    /// Restores a pickled scenario from its text and the contents of its recordings.
    #[new]
    fn new(py: Python<'_>, text: &str, recordings: Recordings) -> PyResult<Self> {
        let draft = lab::Draft::built_with(text, "scenario", &registry()).map_err(|e| error(&e))?;
        let recorded = recordings.into_iter().map(|(at, contents)| Ok((at, contents.recorded(py)?)));
        Self::checked(py, draft.with_recordings(recorded.collect::<PyResult<_>>()?), 0)
    }

    /// The class and its arguments: a pickled scenario needs no other file.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyType>, Arguments<'py>)> {
        let (py, inner) = (slf.py(), &slf.get().inner);
        let recordings = PyDict::new(py);
        // The order of a hash map differs between processes.
        for (at, recorded) in inner.recordings().into_iter().collect::<BTreeMap<_, _>>() {
            recordings.set_item(at, Contents::of(py, &recorded))?;
        }
        Ok((slf.get_type(), (inner.to_toml(), recordings)))
    }

    /// Reads a TOML file.
    #[staticmethod]
    fn load(py: Python<'_>, path: std::path::PathBuf) -> PyResult<Self> {
        Self::checked(py, lab::Draft::load_with(path, &registry()).map_err(|e| error(&e))?, 0)
    }

    /// Reads TOML text. Errors use `name` as the file name.
    #[staticmethod]
    #[pyo3(signature = (text, name = "scenario"))]
    fn parse(py: Python<'_>, text: &str, name: &str) -> PyResult<Self> {
        Self::checked(py, lab::Draft::parse_with(text, name, &registry()).map_err(|e| error(&e))?, 0)
    }

    /// Reads TOML text from a program. Errors state `name` and the key, without a line.
    #[staticmethod]
    fn built(py: Python<'_>, text: &str, name: &str) -> PyResult<Self> {
        Self::checked(py, lab::Draft::built_with(text, name, &registry()).map_err(|e| error(&e))?, 0)
    }

    /// Returns a copy with other values: pairs of a dotted key and a TOML value. Errors use `origin` as the source.
    #[pyo3(signature = (values, origin = "--set"))]
    fn with_values(&self, py: Python<'_>, values: Vec<(String, String)>, origin: &str) -> PyResult<Self> {
        let mut draft = lab::Draft::clone(&self.draft);
        let known = draft.deprecations().len();
        for (key, value) in values {
            draft.set_by(origin, &key, &value).map_err(|e| error(&e))?;
        }
        Self::checked(py, draft, known)
    }

    /// The scenario with all defaults filled in.
    fn to_toml(&self) -> String {
        self.inner.to_toml()
    }

    #[getter]
    fn name(&self) -> &str {
        &self.inner.name
    }

    #[getter]
    fn description(&self) -> &str {
        &self.inner.description
    }

    /// Length of a run, in seconds.
    #[getter]
    fn duration(&self) -> f64 {
        self.inner.duration.as_secs_f64()
    }

    /// Whether the seed changes the network. If not, runs differ only by the jitter of hosts.
    #[getter]
    fn draws_its_network(&self) -> bool {
        self.inner.draws_its_network()
    }

    /// Whether every run replays a recording from its start.
    #[getter]
    fn replays_a_recording(&self) -> bool {
        self.inner.replays_a_recording()
    }

    /// Length of the warm-up, in seconds.
    #[getter]
    fn warmup(&self) -> f64 {
        self.inner.warmup.as_secs_f64()
    }

    /// Whether a run ends when its last file has arrived.
    #[getter]
    fn until_done(&self) -> bool {
        self.inner.until_done
    }

    /// Sampling interval, in seconds.
    #[getter]
    fn sample(&self) -> f64 {
        self.inner.sample.as_secs_f64()
    }

    #[getter]
    fn flows(&self) -> Vec<String> {
        self.inner.flows.iter().map(|flow| flow.name.clone()).collect()
    }

    #[getter]
    fn paths(&self) -> Vec<String> {
        self.inner.links.iter().map(|link| link.name.clone()).collect()
    }

    /// Names of the schedulers and congestion controllers that are Python classes, each once.
    #[getter]
    fn python_policies(&self) -> Vec<String> {
        let names = self.inner.flows.iter().flat_map(|flow| [flow.scheduler.kind(), flow.congestion.kind()]);
        let names: std::collections::BTreeSet<_> = names.filter(|name| name.contains(':')).collect();
        names.into_iter().map(str::to_owned).collect()
    }

    /// Descriptions of the parts of the scenario that another crate has registered.
    #[getter]
    fn registered(&self) -> Vec<String> {
        mptcp_lab::registered(&self.inner)
    }

    /// The single-path runs for comparison: (flow, path, scenario) for each path of each flow with baselines. In such
    /// a run, the flow is plain TCP over that path only.
    fn baselines(&self) -> PyResult<Vec<(String, String, Self)>> {
        self.check_runs(1, false)?;
        let of = |b: mptcp_lab::Baseline| {
            (b.flow, b.path, Self { draft: self.draft.clone(), inner: Arc::new(b.scenario) })
        };
        Ok(self.inner.baselines().into_iter().map(of).collect())
    }

    /// Raises an error if this number of runs, each with its baselines, exceeds the limits. `traced` runs record
    /// events.
    #[pyo3(signature = (runs, traced = false))]
    fn check_runs(&self, runs: u64, traced: bool) -> PyResult<()> {
        let checked = if traced { self.inner.check_traced_runs(runs) } else { self.inner.check_runs(runs) };
        checked.map_err(|problem| ScenarioError::new_err(problem.to_string()))
    }

    /// Checks only the number of runs, not their memory, for results that are written to disk as they arrive.
    fn check_run_count(&self, runs: u64) -> PyResult<()> {
        let checked = self.inner.check_run_count(runs);
        checked.map(drop).map_err(|problem| ScenarioError::new_err(problem.to_string()))
    }

    /// Transport of each flow: mptcp, tcp or udp.
    #[getter]
    fn transports(&self) -> Vec<String> {
        self.inner.flows.iter().map(|flow| flow.transport.to_string()).collect()
    }

    /// Approximate memory of a run's results, in bytes.
    #[getter]
    fn result_bytes(&self) -> f64 {
        self.inner.estimate().results
    }

    fn __repr__(&self) -> String {
        format!("Scenario({:?}, {} s)", self.inner.name, self.inner.duration.as_secs_f64())
    }
}

/// The synonym of `word` among `choices`, such as `delay` for `latency`, or else the most similar choice.
#[pyfunction]
pub(crate) fn nearest_word(word: &str, choices: Vec<String>) -> Option<String> {
    lab::nearest_word(word, choices.iter().map(String::as_str)).map(str::to_owned)
}

/// JSON of the network and the flows of a scenario, for the page: `Description` in `web/src/engine/types.ts`.
#[pyfunction]
pub(crate) fn describe(scenario: &Scenario) -> String {
    mptcp_lab::described(&scenario.inner).to_string()
}

/// The JSON Schema of scenario files.
#[pyfunction]
pub(crate) fn json_schema() -> String {
    registry().json_schema().to_string()
}

/// The reference page of scenario files, in Markdown.
#[pyfunction]
pub(crate) fn reference_page() -> String {
    registry().reference_page()
}
