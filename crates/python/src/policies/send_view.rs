//! The state that a scheduler written in Python reads.
//!
//! Owns `SendView` and `SendPath`. Their values are those of `mptcp::scheduler::SendView` and `Candidate`; times are in
//! seconds, amounts in bytes and rates in bytes per second.

use mptcp_clock::Duration;
use mptcp_lab::mptcp::path::PathEstimate;
use mptcp_lab::mptcp::scheduler::{self, Candidate};
use numpy::PyArray2;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use super::state::{self, State};

/// Fields of a path, in the order of the rows.
pub(super) const FIELDS: [&str; 23] = [
    "id",
    "srtt",
    "rttvar",
    "base_rtt",
    "cwnd",
    "ssthresh",
    "in_flight",
    "held",
    "local_queue",
    "mss",
    "pacing",
    "rate",
    "max_rate",
    "own_queue",
    "cross_queue",
    "overdue",
    "lead",
    "loss",
    "is_probing",
    "is_available",
    "locally_limited",
    "backup",
    "queued",
];

/// The row of a field, at compile time.
const fn row(field: &str) -> usize {
    let mut at = 0;
    while !is_same(FIELDS[at], field) {
        at += 1;
    }
    at
}

const fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    if one.len() != other.len() {
        return false;
    }
    let mut at = 0;
    while at < one.len() {
        if one[at] != other[at] {
            return false;
        }
        at += 1;
    }
    true
}

fn values(candidate: &Candidate) -> [f64; FIELDS.len()] {
    let path = &candidate.path;
    [
        candidate.id.number() as f64,
        candidate.srtt.as_secs_f64(),
        path.rttvar.as_secs_f64(),
        path.base_rtt.as_secs_f64(),
        candidate.cwnd as f64,
        window(candidate.ssthresh),
        candidate.in_flight as f64,
        candidate.held as f64,
        candidate.local_queue as f64,
        candidate.mss as f64,
        candidate.pacing.unwrap_or(f64::INFINITY),
        path.rate,
        path.max_rate,
        path.own_queue.as_secs_f64(),
        path.cross_queue.as_secs_f64(),
        path.overdue.as_secs_f64(),
        path.lead.as_secs_f64(),
        path.loss,
        f64::from(path.is_probing),
        f64::from(candidate.is_available),
        f64::from(candidate.locally_limited),
        f64::from(candidate.backup),
        candidate.queued as f64,
    ]
}

/// A window in bytes; infinite if it has no limit.
pub(super) fn window(bytes: u64) -> f64 {
    if bytes == u64::MAX { f64::INFINITY } else { bytes as f64 }
}

/// The state at the time of a decision.
#[pyclass(module = "mptcplab._core")]
pub struct SendView {
    state: State,
    /// One object per column of the array.
    objects: Vec<Py<SendPath>>,
    /// The paths of this call.
    paths: Py<PyTuple>,
    now: f64,
    unsent: u64,
    writer_blocked: bool,
    in_flight: u64,
    window_space: u64,
    send_buffer: u64,
    offset: u64,
    has_subflow_queues: bool,
}

impl SendView {
    pub(super) fn new(py: Python<'_>) -> Self {
        Self {
            state: State::new(py, &FIELDS),
            objects: Vec::new(),
            paths: PyTuple::empty(py).unbind(),
            now: 0.0,
            unsent: 0,
            writer_blocked: false,
            in_flight: 0,
            window_space: 0,
            send_buffer: 0,
            offset: 0,
            has_subflow_queues: false,
        }
    }

    /// The paths of the last state.
    pub(super) fn path_tuple(&self, py: Python<'_>) -> Py<PyTuple> {
        self.paths.clone_ref(py)
    }

    /// Copies the state.
    pub(super) fn fill(&mut self, py: Python<'_>, view: &scheduler::SendView<'_>) -> PyResult<()> {
        let paths = view.candidates.len();
        if self.state.resize(py, paths) {
            self.objects.clear();
        }
        if self.paths.bind(py).len() != paths || self.objects.len() < paths {
            for index in self.objects.len()..paths {
                let array = self.state.array().clone_ref(py);
                self.objects.push(Py::new(py, SendPath { array, index })?);
            }
            self.paths =
                PyTuple::new(py, self.objects[..paths].iter().map(|path| path.clone_ref(py)))?.unbind();
        }
        self.state.write(py, view.candidates.iter().map(values))?;
        self.now = view.now.as_secs_f64();
        self.unsent = view.unsent;
        self.writer_blocked = view.writer_blocked;
        self.in_flight = view.in_flight;
        self.window_space = view.window_space;
        self.send_buffer = view.send_buffer;
        self.offset = view.offset;
        self.has_subflow_queues = view.has_subflow_queues;
        Ok(())
    }
}

#[pymethods]
impl SendView {
    /// Names of the rows of `table`.
    #[classattr]
    #[pyo3(name = "FIELDS")]
    fn fields() -> Vec<&'static str> {
        FIELDS.to_vec()
    }

    /// The subflows that could send, with or without space.
    #[getter]
    fn paths(&self, py: Python<'_>) -> Py<PyTuple> {
        self.paths.clone_ref(py)
    }

    /// The paths of `paths` that have space.
    #[getter]
    fn available<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for (index, path) in self.paths.bind(py).iter_borrowed().enumerate() {
            if self.state.get(py, const { row("is_available") }, index) != 0.0 {
                list.append(path)?;
            }
        }
        Ok(list)
    }

    /// One field of all paths as an array, for example `view.column("srtt")`.
    fn column(&mut self, py: Python<'_>, field: &str) -> PyResult<Py<PyAny>> {
        self.state.row(py, field)?.ok_or_else(|| {
            PyKeyError::new_err(format!("no field {field:?}; expected one of {}", FIELDS.join(", ")))
        })
    }

    /// All fields of all paths as an array: one row per field of `FIELDS`, one column per path.
    #[getter]
    fn table(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.state.table(py)
    }

    /// Time since the start of the run, seconds.
    #[getter]
    fn now(&self) -> f64 {
        self.now
    }

    /// Written bytes that no subflow has carried yet.
    #[getter]
    fn unsent(&self) -> u64 {
        self.unsent
    }

    /// Whether the application waits for space in the send buffer.
    #[getter]
    fn writer_blocked(&self) -> bool {
        self.writer_blocked
    }

    /// Bytes sent but not acknowledged at the data level.
    #[getter]
    fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// Free space in the peer's receive window, bytes.
    #[getter]
    fn window_space(&self) -> u64 {
        self.window_space
    }

    /// Size of the send buffer, bytes.
    #[getter]
    fn send_buffer(&self) -> u64 {
        self.send_buffer
    }

    /// Stream offset of the next new data, bytes: the data given to subflows so far.
    #[getter]
    fn offset(&self) -> u64 {
        self.offset
    }

    /// Whether data is assigned to subflows ahead of their windows (`subflow_queues`).
    #[getter]
    fn has_subflow_queues(&self) -> bool {
        self.has_subflow_queues
    }
}

/// A subflow that could carry the next data. Valid during one call of `choose`; keep `id`, not the object.
#[pyclass(frozen, module = "mptcplab._core")]
pub struct SendPath {
    array: Py<PyArray2<f64>>,
    pub(super) index: usize,
}

impl SendPath {
    fn get(&self, py: Python<'_>, row: usize) -> f64 {
        state::get(&self.array, py, row, self.index)
    }

    fn estimate(&self, py: Python<'_>) -> PathEstimate {
        let time = |row| Duration::from_secs_f64(self.get(py, row));
        let mut estimate = PathEstimate::default();
        (estimate.rttvar, estimate.base_rtt) =
            (time(const { row("rttvar") }), time(const { row("base_rtt") }));
        (estimate.rate, estimate.max_rate) =
            (self.get(py, const { row("rate") }), self.get(py, const { row("max_rate") }));
        (estimate.own_queue, estimate.cross_queue) =
            (time(const { row("own_queue") }), time(const { row("cross_queue") }));
        (estimate.overdue, estimate.lead) = (time(const { row("overdue") }), time(const { row("lead") }));
        (estimate.loss, estimate.is_probing) =
            (self.get(py, const { row("loss") }), self.get(py, const { row("is_probing") }) != 0.0);
        estimate
    }
}

#[pymethods]
impl SendPath {
    /// Position in `SendView.paths`.
    #[getter]
    fn index(&self) -> usize {
        self.index
    }

    /// Number of the subflow in the connection, never reused.
    #[getter]
    fn id(&self, py: Python<'_>) -> u64 {
        self.get(py, const { row("id") }) as u64
    }

    /// Smoothed RTT, seconds; 0 before the first sample.
    #[getter]
    fn srtt(&self, py: Python<'_>) -> f64 {
        self.get(py, const { row("srtt") })
    }

    /// RTT variation (RFC 6298), seconds.
    #[getter]
    fn rttvar(&self, py: Python<'_>) -> f64 {
        self.get(py, const { row("rttvar") })
    }

    /// Minimum RTT, seconds; 0 before the first sample.
    #[getter]
    fn base_rtt(&self, py: Python<'_>) -> f64 {
        self.get(py, const { row("base_rtt") })
    }

    /// Congestion window, bytes.
    #[getter]
    fn cwnd(&self, py: Python<'_>) -> f64 {
        self.get(py, const { row("cwnd") })
    }

    /// Slow start threshold, bytes; infinite before the first loss.
    #[getter]
    fn ssthresh(&self, py: Python<'_>) -> f64 {
        self.get(py, const { row("ssthresh") })
    }

    /// Bytes in flight.
    #[getter]
    fn in_flight(&self, py: Python<'_>) -> f64 {
        self.get(py, const { row("in_flight") })
    }

    /// Bytes in flight, or lost and not yet retransmitted.
    #[getter]
    fn held(&self, py: Python<'_>) -> f64 {
        self.get(py, const { row("held") })
    }

    /// Bytes in the queue of the local interface.
    #[getter]
    fn local_queue(&self, py: Python<'_>) -> f64 {
        self.get(py, const { row("local_queue") })
    }

    /// Payload of a full-sized segment, bytes.
    #[getter]
    fn mss(&self, py: Python<'_>) -> f64 {
        self.get(py, const { row("mss") })
    }

    /// Pacing rate, bytes per second; infinite without pacing.
    #[getter]
    fn pacing(&self, py: Python<'_>) -> f64 {
        self.get(py, const { row("pacing") })
    }

    /// Estimate of the bottleneck rate, bytes per second.
    #[getter]
    fn rate(&self, py: Python<'_>) -> f64 {
        self.get(py, const { row("rate") })
    }

    /// Upper bound of the bottleneck rate, bytes per second; infinite while slow start has not found it.
    #[getter]
    fn max_rate(&self, py: Python<'_>) -> f64 {
        self.get(py, const { row("max_rate") })
    }

    /// Queueing delay behind packets of this path, seconds.
    #[getter]
    fn own_queue(&self, py: Python<'_>) -> f64 {
        self.get(py, const { row("own_queue") })
    }

    /// Queueing delay behind packets of other flows, seconds.
    #[getter]
    fn cross_queue(&self, py: Python<'_>) -> f64 {
        self.get(py, const { row("cross_queue") })
    }

    /// Seconds by which the oldest data in flight is overdue.
    #[getter]
    fn overdue(&self, py: Python<'_>) -> f64 {
        self.get(py, const { row("overdue") })
    }

    /// Seconds by which a DATA_ACK on another path precedes the acknowledgement on this path.
    #[getter]
    fn lead(&self, py: Python<'_>) -> f64 {
        self.get(py, const { row("lead") })
    }

    /// Loss probability of a segment, 0 to 1.
    #[getter]
    fn loss(&self, py: Python<'_>) -> f64 {
        self.get(py, const { row("loss") })
    }

    /// Whether more is in flight than the window after the last congestion loss.
    #[getter]
    fn is_probing(&self, py: Python<'_>) -> bool {
        self.get(py, const { row("is_probing") }) != 0.0
    }

    /// Whether the congestion window has space and nothing else blocks the subflow.
    #[getter]
    fn is_available(&self, py: Python<'_>) -> bool {
        self.get(py, const { row("is_available") }) != 0.0
    }

    /// Whether this host limits the subflow, by pacing or by a full interface queue.
    #[getter]
    fn locally_limited(&self, py: Python<'_>) -> bool {
        self.get(py, const { row("locally_limited") }) != 0.0
    }

    /// Whether the subflow is a backup.
    #[getter]
    fn backup(&self, py: Python<'_>) -> bool {
        self.get(py, const { row("backup") }) != 0.0
    }

    /// Bytes assigned to the subflow that wait for its window; 0 without `subflow_queues`.
    #[getter]
    fn queued(&self, py: Python<'_>) -> f64 {
        self.get(py, const { row("queued") })
    }

    /// Seconds until `length` bytes arrive that are sent now after `ahead` bytes, on average.
    #[pyo3(signature = (length, ahead = 0))]
    fn arrival(&self, py: Python<'_>, length: u64, ahead: u64) -> f64 {
        self.estimate(py).arrival(ahead, length, 0.0)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        format!(
            "SendPath(index={}, id={}, srtt={}, cwnd={}, in_flight={}, is_available={})",
            self.index,
            self.id(py),
            self.srtt(py),
            self.cwnd(py),
            self.in_flight(py),
            if self.is_available(py) { "True" } else { "False" }
        )
    }
}
