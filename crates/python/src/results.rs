//! Runs a scenario, and returns its measurements as Python objects.
//!
//! Owns the conversion to columns and dictionaries, and the pickled form; measures nothing but the wall-clock time.

use std::path::PathBuf;
use std::sync::Mutex;

use mptcp_lab::events::{Events, Filter};
use mptcp_lab::measurements::{FlowSummary, LinkSummary, Measurements, Metric, Samples};
use mptcp_lab::world::World;
use numpy::PyArray1;
use pyo3::exceptions::{PyOSError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyType};

use crate::events::{self, Trace};
use crate::policies::{self, RunState};
use crate::run_failure::RunFailure;
use crate::scenario::Scenario;
use crate::slices;

/// The results of one run.
#[pyclass(frozen, module = "mptcplab._core")]
pub struct Results {
    measured: Measurements,
    samples: Columns<Samples>,
    events: Columns<Events>,
    /// The rows of flows, links and blocks of unpickled results; `measured` then has none.
    restored: Option<Restored>,
    wall: f64,
}

impl Results {
    pub(crate) fn new(mut measured: Measurements, wall: f64) -> Self {
        let samples = Columns::new(Some(std::mem::take(&mut measured.samples)), sample_columns);
        let events = Columns::new(measured.events.take(), events::columns);
        Self { measured, samples, events, restored: None, wall }
    }
}

/// Columns in the form of the core until Python first asks for them, and from then on as numpy arrays. They
/// are taken at most once.
struct Columns<T> {
    slot: Mutex<Option<Slot<T>>>,
    converted: fn(Python<'_>, T) -> PyResult<Bound<'_, PyDict>>,
}

enum Slot<T> {
    Core(T),
    Python(Py<PyDict>),
}

impl<T> Columns<T> {
    fn new(columns: Option<T>, converted: fn(Python<'_>, T) -> PyResult<Bound<'_, PyDict>>) -> Self {
        Self { slot: Mutex::new(columns.map(Slot::Core)), converted }
    }

    fn restored(columns: Option<Py<PyDict>>) -> Self {
        Self { slot: Mutex::new(columns.map(Slot::Python)), converted: |py, _| Ok(PyDict::new(py)) }
    }

    /// The columns, which this call moves out.
    fn take<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let slot = self.slot.lock().map_err(|e| PyRuntimeError::new_err(e.to_string()))?.take();
        slot.map(|slot| match slot {
            Slot::Core(columns) => (self.converted)(py, columns),
            Slot::Python(columns) => Ok(columns.into_bound(py)),
        })
        .transpose()
    }

    /// The columns, which stay.
    fn look(&self, py: Python<'_>) -> PyResult<Option<Py<PyDict>>> {
        let columns = self.take(py)?.map(Bound::unbind);
        let mut slot = self.slot.lock().map_err(|e| PyRuntimeError::new_err(e.to_string()))?;
        *slot = columns.as_ref().map(|columns| Slot::Python(columns.clone_ref(py)));
        Ok(columns)
    }
}

/// The pickled form of results.
#[derive(FromPyObject, IntoPyObject)]
#[pyo3(from_item_all)]
struct State {
    flow_names: Vec<String>,
    path_names: Vec<String>,
    measured_s: f64,
    data_packets: u64,
    wall_s: f64,
    samples: Option<Py<PyDict>>,
    events: Option<Py<PyDict>>,
    flows: Py<PyList>,
    links: Py<PyList>,
    blocks: Vec<Latencies>,
}

/// Times at which blocks were written, and their latencies, s.
type Latencies = (Py<PyArray1<f64>>, Py<PyArray1<f64>>);

/// The rows of unpickled results.
struct Restored {
    flows: Py<PyList>,
    links: Py<PyList>,
    blocks: Vec<Latencies>,
}

/// A deep copy, because callers change the rows.
fn copied<'py>(rows: &Bound<'py, PyList>) -> PyResult<Bound<'py, PyList>> {
    let copy = rows.py().import("copy")?.call_method1("deepcopy", (rows,))?;
    Ok(copy.cast_into()?)
}

fn sample_columns(py: Python<'_>, samples: Samples) -> PyResult<Bound<'_, PyDict>> {
    let columns = PyDict::new(py);
    columns.set_item("time_s", PyArray1::from_vec(py, samples.time))?;
    columns.set_item("flow", PyArray1::from_vec(py, samples.flow))?;
    columns.set_item("path", PyArray1::from_vec(py, samples.path))?;
    columns.set_item("metric", PyArray1::from_vec(py, samples.metric))?;
    columns.set_item("value", PyArray1::from_vec(py, samples.value))?;
    Ok(columns)
}

/// Runs a scenario to its end and measures the wall-clock time. Calls `go_on` with the reached virtual time after each
/// slice. If `go_on` returns false, the run stops, and the result is `None`.
pub(crate) fn measure(
    scenario: &mptcp_lab::scenario::Scenario,
    seed: u64,
    captures: Option<&PathBuf>,
    trace: Option<Filter>,
    mut go_on: impl FnMut(mptcp_clock::Duration) -> bool,
) -> Result<Option<Results>, RunFailure> {
    let mut state = RunState::new(seed);
    let results = state.within(|| {
        let mut world = World::new(scenario, seed)?;
        if let Some(directory) = captures {
            world.capture(directory)?;
        }
        if let Some(filter) = trace {
            world.observe(filter);
        }
        let start = std::time::Instant::now();
        let go_on = |reached| !policies::has_failed() && go_on(reached);
        let ended = slices::advance(&mut world, scenario.duration, go_on)?;
        let wall = start.elapsed().as_secs_f64();
        world.finish_captures()?;
        Ok(ended.then(|| Results::new(world.finish(), wall)))
    });
    match state.take_failure() {
        Some(error) => Err(RunFailure::Policy(error)),
        None => results,
    }
}

/// Runs one scenario. `captures` is a directory for one pcapng for each host and interface. `trace` selects events:
/// type names, start and end in seconds.
#[pyfunction]
#[pyo3(signature = (scenario, seed, captures = None, trace = None))]
pub(crate) fn run(
    py: Python<'_>,
    scenario: &Scenario,
    seed: u64,
    captures: Option<PathBuf>,
    trace: Option<Trace>,
) -> PyResult<Results> {
    let trace = events::filter(trace)?;
    if let Some(directory) = &captures {
        let made = std::fs::create_dir_all(directory);
        made.map_err(|e| PyOSError::new_err(format!("cannot create {}: {e}", directory.display())))?;
    }
    let mut signal = Ok(());
    // Ctrl-C stops a run at any time.
    let mut go_on = |_| {
        signal = Python::attach(|py| py.check_signals());
        signal.is_ok()
    };
    let measured = py.detach(|| measure(&scenario.inner, seed, captures.as_ref(), trace, &mut go_on));
    signal?;
    measured?.ok_or_else(|| PyRuntimeError::new_err("the run was cancelled"))
}

/// Names and units of the metrics, in order of their numbers.
#[pyfunction]
pub(crate) fn metrics() -> Vec<(&'static str, &'static str)> {
    Metric::ALL.iter().map(|metric| metric.name_and_unit()).collect()
}

#[pymethods]
impl Results {
    /// Restores pickled results from their state.
    #[new]
    fn restore(state: State) -> Self {
        let State { flow_names, path_names, measured_s, data_packets, wall_s, .. } = state;
        let measured = Measurements {
            flow_names,
            path_names,
            measured: measured_s,
            data_packets,
            ..Measurements::default()
        };
        Self {
            measured,
            samples: Columns::restored(state.samples),
            events: Columns::restored(state.events),
            restored: Some(Restored { flows: state.flows, links: state.links, blocks: state.blocks }),
            wall: wall_s,
        }
    }

    /// The class and its argument: all values and columns, except columns that were already taken.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyType>, (State,))> {
        let (py, own) = (slf.py(), slf.get());
        let count = own.restored.as_ref().map_or(own.measured.flows.len(), |restored| restored.blocks.len());
        let state = State {
            flow_names: own.flow_names(),
            path_names: own.path_names(),
            measured_s: own.measured_s(),
            data_packets: own.data_packets(),
            wall_s: own.wall,
            samples: own.samples.look(py)?,
            events: own.events.look(py)?,
            flows: own.flows(py)?.unbind(),
            links: own.links(py)?.unbind(),
            blocks: (0..count)
                .map(|flow| own.blocks(py, flow))
                .map(|(at, took)| (at.unbind(), took.unbind()))
                .collect(),
        };
        Ok((slf.get_type(), (state,)))
    }

    /// Names that the sample column `flow` indexes; the index after the last name means no flow.
    #[getter]
    fn flow_names(&self) -> Vec<String> {
        self.measured.flow_names.clone()
    }

    /// Names that the sample column `path` indexes; the index after the last name means all paths.
    #[getter]
    fn path_names(&self) -> Vec<String> {
        self.measured.path_names.clone()
    }

    /// Measured time after the warm-up, in seconds.
    #[getter]
    fn measured_s(&self) -> f64 {
        self.measured.measured
    }

    /// Number of data segments that arrived at hosts.
    #[getter]
    fn data_packets(&self) -> u64 {
        self.measured.data_packets
    }

    /// Wall-clock time of the run, in seconds.
    #[getter]
    fn wall_s(&self) -> f64 {
        self.wall
    }

    /// The samples as numpy columns `time_s flow path metric value`. The call moves them out, so it returns them only
    /// once.
    fn take_samples<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.samples.take(py)?.ok_or_else(|| PyRuntimeError::new_err("the samples were already taken"))
    }

    /// The events as numpy columns; None without tracing. The call moves them out, so it returns them only once.
    fn take_events<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        self.events.take(py)
    }

    /// One dictionary for each flow.
    #[getter]
    fn flows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        if let Some(restored) = &self.restored {
            return copied(restored.flows.bind(py));
        }
        let rows = self.measured.flows.iter().map(|flow| flow_row(py, flow)).collect::<PyResult<Vec<_>>>()?;
        PyList::new(py, rows)
    }

    /// One dictionary for each direction of each link.
    #[getter]
    fn links<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        if let Some(restored) = &self.restored {
            return copied(restored.links.bind(py));
        }
        let rows = self.measured.links.iter().map(|link| link_row(py, link)).collect::<PyResult<Vec<_>>>()?;
        PyList::new(py, rows)
    }

    /// Latencies of the blocks of flow number `flow`: time of writing and time until read, in seconds.
    fn blocks<'py>(
        &self,
        py: Python<'py>,
        flow: usize,
    ) -> (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>) {
        if let Some((written, latency)) =
            self.restored.as_ref().and_then(|restored| restored.blocks.get(flow))
        {
            return (written.bind(py).clone(), latency.bind(py).clone());
        }
        let blocks = self.measured.flows.get(flow).map_or(&[][..], |flow| &flow.blocks);
        let written = blocks.iter().map(|block| block.written_at.as_secs_f64()).collect();
        let latency = blocks.iter().map(|block| block.latency.as_secs_f64()).collect();
        (PyArray1::from_vec(py, written), PyArray1::from_vec(py, latency))
    }
}

fn flow_row<'py>(py: Python<'py>, flow: &FlowSummary) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    row.set_item("flow", &flow.flow)?;
    row.set_item("multipath", flow.multipath)?;
    let fallback = flow.fallback.as_ref();
    row.set_item("fell_back", fallback.is_some())?;
    row.set_item("fell_back_at_s", fallback.map(|fallback| fallback.at))?;
    row.set_item("fell_back_path", fallback.map(|fallback| &fallback.path))?;
    row.set_item("fell_back_because", fallback.map(|fallback| fallback.reason))?;
    row.set_item("bytes_received", flow.bytes_received)?;
    row.set_item("bytes_received_total", flow.bytes_received_total)?;
    row.set_item("unique_bytes_arrived", flow.unique_bytes_arrived)?;
    row.set_item("measured_s", flow.measured)?;
    row.set_item("waited_s", flow.waited)?;
    row.set_item("goodput", flow.goodput)?;
    row.set_item("throughput", flow.throughput)?;
    row.set_item("intact", flow.intact)?;
    row.set_item("completion_s", flow.completion)?;
    row.set_item("handshake_s", flow.handshake)?;
    row.set_item("longest_silence_s", flow.longest_silence)?;
    row.set_item("longest_silence_at_s", flow.longest_silence_at)?;
    row.set_item("closed", &flow.closed)?;
    row.set_item("reinjected", flow.reinjected)?;
    row.set_item("opportunistic", flow.opportunistic)?;
    row.set_item("penalties", flow.penalties)?;
    row.set_item("duplicates", flow.duplicates)?;
    row.set_item("blocks", flow.blocks.len())?;
    for (at, name) in ["latency_p50_s", "latency_p95_s", "latency_p99_s"].into_iter().enumerate() {
        row.set_item(name, flow.latency.map(|latency| latency[at]))?;
    }
    row.set_item("late", flow.late)?;
    row.set_item("jitter_s", flow.jitter)?;
    row.set_item("datagram_loss", flow.datagram_loss)?;
    row.set_item("capacity", flow.capacity)?;
    row.set_item("best_capacity", flow.best_capacity)?;
    row.set_item("receive_buffer", flow.receive_buffer)?;
    row.set_item("send_buffer", flow.send_buffer)?;
    let limits = PyDict::new(py);
    for (name, share) in &flow.limits {
        limits.set_item(name, share)?;
    }
    row.set_item("limits", limits)?;
    let full = PyDict::new(py);
    for (name, share) in &flow.full_buffers {
        full.set_item(name, share)?;
    }
    row.set_item("full_buffers", full)?;
    let paths = flow
        .paths
        .iter()
        .map(|path| {
            let row = PyDict::new(py);
            row.set_item("path", &path.path)?;
            row.set_item("subflows", path.subflows)?;
            row.set_item("bytes_sent", path.bytes_sent)?;
            row.set_item("bytes_arrived", path.bytes_arrived)?;
            row.set_item("bytes_acked", path.bytes_acked)?;
            row.set_item("retransmits", path.retransmits)?;
            row.set_item("timeouts", path.timeouts)?;
            row.set_item("reinjected", path.reinjected)?;
            row.set_item("mean_srtt_s", path.mean_srtt)?;
            row.set_item("capacity", path.capacity)?;
            row.set_item("best_capacity", path.best_capacity)?;
            row.set_item("base_rtt_s", path.base_rtt)?;
            row.set_item("ack_wait_s", path.ack_wait)?;
            row.set_item("ack_queue", path.ack_queue.as_deref())?;
            let drops = path.drops;
            row.set_item("dropped_random", drops.map(|drops| drops.random))?;
            row.set_item("dropped_queue", drops.map(|drops| drops.queue))?;
            row.set_item("dropped_down", drops.map(|drops| drops.down))?;
            row.set_item("dropped_filter", drops.map(|drops| drops.filter))?;
            let limits = [
                ("limits", &path.limits),
                ("sender_limits", &path.sender_limits),
                ("silence", &path.silence),
            ];
            for (name, shares) in limits {
                let limits = PyDict::new(py);
                for (cause, share) in shares {
                    limits.set_item(cause, share)?;
                }
                row.set_item(name, limits)?;
            }
            row.set_item("queue_wait_s", path.queue_wait)?;
            row.set_item("is_backup", path.is_backup)?;
            row.set_item("queue_at", path.queue_at.as_deref())?;
            let places = PyDict::new(py);
            for (cause, place) in &path.places {
                places.set_item(cause, place)?;
            }
            row.set_item("places", places)?;
            row.set_item("blamed", path.blamed)?;
            Ok(row)
        })
        .collect::<PyResult<Vec<_>>>()?;
    row.set_item("paths", PyList::new(py, paths)?)?;
    let (absent, down, boxes) = (PyDict::new(py), PyDict::new(py), PyDict::new(py));
    for path in &flow.never_joined {
        absent.set_item(&path.path, path.best_capacity)?;
        down.set_item(&path.path, path.down)?;
        boxes.set_item(&path.path, &path.middleboxes)?;
    }
    row.set_item("never_joined", absent)?;
    row.set_item("never_joined_down", down)?;
    row.set_item("never_joined_boxes", boxes)?;
    Ok(row)
}

fn link_row<'py>(py: Python<'py>, link: &LinkSummary) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    row.set_item("link", &link.link)?;
    row.set_item("direction", link.direction)?;
    row.set_item("offered_frames", link.offered_frames)?;
    row.set_item("sent_frames", link.sent_frames)?;
    row.set_item("sent_bytes", link.sent_bytes)?;
    row.set_item("queue_drops", link.queue_drops)?;
    row.set_item("random_losses", link.random_losses)?;
    row.set_item("mac_retries", link.mac_retries)?;
    row.set_item("mac_drops", link.mac_drops)?;
    row.set_item("longest_queue", link.longest_queue)?;
    row.set_item("busy", link.busy)?;
    row.set_item("capacity", link.capacity)?;
    let some =
        [("queue_marks", link.queue_marks), ("duplicated", link.duplicated), ("corrupted", link.corrupted)];
    for (name, count) in some {
        if let Some(count) = count {
            row.set_item(name, count)?;
        }
    }
    Ok(row)
}
