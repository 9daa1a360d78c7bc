//! The state that a congestion controller written in Python reads and changes.
//!
//! Owns `CongestionView` and `CongestionPath`. Their values are those of `mptcp::path::Path`; times are in seconds, amounts
//! in bytes and rates in bytes per second. A controller can write `cwnd`, `ssthresh` and `pacing` of each path.

use mptcp_lab::mptcp::path::Path;
use numpy::{PyArray2, PyArrayMethods};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use super::send_view::window;
use super::state::{self, State};

/// Fields of a path, in the order of the rows. The first three can be written.
const FIELDS: [&str; 12] = [
    "cwnd",
    "ssthresh",
    "pacing",
    "mss",
    "srtt",
    "rttvar",
    "latest_rtt",
    "base_rtt",
    "in_flight",
    "rate",
    "active",
    "conservative",
];
const ACTIVE: usize = 10;

/// Maximum window, bytes: 1 TiB, more than any buffer of a scenario.
const MAX_WINDOW: f64 = (1_u64 << 40) as f64;

fn values(path: &Path) -> [f64; FIELDS.len()] {
    let seconds = |time: Option<mptcp_clock::Duration>| time.map_or(0.0, mptcp_clock::Duration::as_secs_f64);
    [
        path.cwnd as f64 + path.credit,
        window(path.ssthresh),
        path.pacing.unwrap_or(f64::INFINITY),
        path.mss as f64,
        seconds(path.srtt),
        path.rttvar.as_secs_f64(),
        seconds(path.latest_rtt),
        seconds(path.min_rtt),
        path.unacked as f64,
        path.rate(),
        f64::from(path.active),
        f64::from(path.conservative),
    ]
}

/// The state of all paths of a connection.
#[pyclass(module = "mptcplab._core")]
pub struct CongestionView {
    state: State,
    paths: Py<PyTuple>,
    now: f64,
}

impl CongestionView {
    pub(super) fn new(py: Python<'_>) -> Self {
        Self { state: State::new(py, &FIELDS), paths: PyTuple::empty(py).unbind(), now: 0.0 }
    }

    /// Copies the state; `now` is in seconds.
    pub(super) fn fill(&mut self, py: Python<'_>, paths: &[Path], now: f64) -> PyResult<()> {
        let has_grown = self.state.resize(py, paths.len());
        if has_grown || self.paths.bind(py).len() != paths.len() {
            let array = self.state.array();
            let of_paths = (0..paths.len())
                .map(|index| Py::new(py, CongestionPath { array: array.clone_ref(py), index }))
                .collect::<PyResult<Vec<_>>>()?;
            self.paths = PyTuple::new(py, of_paths)?.unbind();
        }
        self.now = now;
        self.state.write(py, paths.iter().map(values))
    }

    /// Copies changed windows and pacing rates back. `method` names the caller in errors.
    pub(super) fn read_back(&self, py: Python<'_>, paths: &mut [Path], method: &str) -> PyResult<()> {
        for (index, path) in paths.iter_mut().enumerate() {
            let [cwnd, ssthresh, pacing] = [0, 1, 2].map(|row| self.state.get(py, row, index));
            if cwnd != path.cwnd as f64 + path.credit {
                let place = format!("{method} set cwnd of path {index}");
                let cwnd = check(cwnd, &place, MAX_WINDOW)?.max(path.mss as f64);
                path.cwnd = cwnd as u64;
                path.credit = cwnd.fract();
            }
            if ssthresh != window(path.ssthresh) {
                path.ssthresh =
                    threshold(ssthresh, path.mss, &format!("{method} set ssthresh of path {index}"))?;
            }
            if pacing != path.pacing.unwrap_or(f64::INFINITY) {
                let pacing = check(pacing, &format!("{method} set pacing of path {index}"), f64::INFINITY)?;
                // The lowest rate: one segment per second, so that the connection goes on.
                path.pacing = pacing.is_finite().then_some(pacing.max(path.mss as f64));
            }
        }
        Ok(())
    }

    /// The object of a path.
    pub(super) fn path(&self, py: Python<'_>, path: usize) -> PyResult<Py<PyAny>> {
        Ok(self.paths.bind(py).get_item(path)?.unbind())
    }
}

/// A slow start threshold from Python, at least two segments (RFC 5681 equation 4).
pub(super) fn threshold(value: f64, mss: u64, place: &str) -> PyResult<u64> {
    let value = check(value, place, f64::INFINITY)?;
    Ok(if value > MAX_WINDOW { u64::MAX } else { (value as u64).max(2 * mss) })
}

/// Checks that a number is in the range from 0 to `max`.
fn check(value: f64, place: &str, max: f64) -> PyResult<f64> {
    if (0.0..=max).contains(&value) {
        Ok(value)
    } else {
        let range = if max.is_finite() { format!("from 0 to {max}") } else { "of at least 0".to_owned() };
        Err(PyValueError::new_err(format!("{place} to {value}; expected a number {range}")))
    }
}

#[pymethods]
impl CongestionView {
    /// Names of the rows of `table`.
    #[classattr]
    #[pyo3(name = "FIELDS")]
    fn fields() -> Vec<&'static str> {
        FIELDS.to_vec()
    }

    /// All paths of the connection, by slot.
    #[getter]
    fn paths(&self, py: Python<'_>) -> Py<PyTuple> {
        self.paths.clone_ref(py)
    }

    /// The paths that carry data and are coupled with the path of the call.
    #[getter]
    fn active<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for (index, path) in self.paths.bind(py).iter_borrowed().enumerate() {
            if self.state.get(py, ACTIVE, index) != 0.0 {
                list.append(path)?;
            }
        }
        Ok(list)
    }

    /// One field of all paths as an array, for example `view.column("cwnd")`.
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
}

/// A path of the connection. Valid during one call.
#[pyclass(frozen, module = "mptcplab._core")]
pub struct CongestionPath {
    array: Py<PyArray2<f64>>,
    index: usize,
}

impl CongestionPath {
    fn get(&self, py: Python<'_>, row: usize) -> f64 {
        state::get(&self.array, py, row, self.index)
    }

    fn set(&self, py: Python<'_>, row: usize, value: f64) -> PyResult<()> {
        let mut array = self.array.bind(py).try_readwrite()?;
        if let Some(element) = array.get_mut([row, self.index]) {
            *element = value;
        }
        Ok(())
    }
}

#[pymethods]
impl CongestionPath {
    /// Slot of the path: its position in `CongestionView.paths`.
    #[getter]
    fn index(&self) -> usize {
        self.index
    }

    /// Congestion window, bytes. Fractions of a byte are kept; a window below one segment becomes one segment.
    #[getter]
    fn cwnd(&self, py: Python<'_>) -> f64 {
        self.get(py, 0)
    }

    #[setter]
    fn set_cwnd(&self, py: Python<'_>, bytes: f64) -> PyResult<()> {
        self.set(py, 0, bytes)
    }

    /// Slow start threshold, bytes; infinite before the first loss.
    #[getter]
    fn ssthresh(&self, py: Python<'_>) -> f64 {
        self.get(py, 1)
    }

    #[setter]
    fn set_ssthresh(&self, py: Python<'_>, bytes: f64) -> PyResult<()> {
        self.set(py, 1, bytes)
    }

    /// Pacing rate, bytes per second; infinite without pacing.
    #[getter]
    fn pacing(&self, py: Python<'_>) -> f64 {
        self.get(py, 2)
    }

    #[setter]
    fn set_pacing(&self, py: Python<'_>, bytes_per_second: f64) -> PyResult<()> {
        self.set(py, 2, bytes_per_second)
    }

    /// Payload of a full-sized segment, bytes.
    #[getter]
    fn mss(&self, py: Python<'_>) -> f64 {
        self.get(py, 3)
    }

    /// Smoothed RTT, seconds; 0 before the first sample.
    #[getter]
    fn srtt(&self, py: Python<'_>) -> f64 {
        self.get(py, 4)
    }

    /// RTT variation (RFC 6298), seconds.
    #[getter]
    fn rttvar(&self, py: Python<'_>) -> f64 {
        self.get(py, 5)
    }

    /// Latest RTT sample, seconds; 0 before the first sample.
    #[getter]
    fn latest_rtt(&self, py: Python<'_>) -> f64 {
        self.get(py, 6)
    }

    /// Minimum RTT, seconds; 0 before the first sample.
    #[getter]
    fn base_rtt(&self, py: Python<'_>) -> f64 {
        self.get(py, 7)
    }

    /// Unacknowledged bytes.
    #[getter]
    fn in_flight(&self, py: Python<'_>) -> f64 {
        self.get(py, 8)
    }

    /// Estimate of the bottleneck rate, bytes per second.
    #[getter]
    fn rate(&self, py: Python<'_>) -> f64 {
        self.get(py, 9)
    }

    /// Whether the path carries data and is coupled with the path of the call.
    #[getter]
    fn active(&self, py: Python<'_>) -> bool {
        self.get(py, ACTIVE) != 0.0
    }

    /// Whether the window is below `ssthresh`.
    #[getter]
    fn in_slow_start(&self, py: Python<'_>) -> bool {
        self.get(py, 0) < self.get(py, 1)
    }

    /// Slow start (RFC 5681 section 3.1): grows the window by `acked` bytes up to `ssthresh`, or by a quarter of
    /// them in conservative slow start (RFC 9406). Returns the bytes that are left for congestion avoidance.
    fn slow_start(&self, py: Python<'_>, acked: f64) -> PyResult<f64> {
        let (cwnd, ssthresh) = (self.get(py, 0), self.get(py, 1));
        let acked = if self.get(py, 11) != 0.0 { acked / 4.0 } else { acked };
        let grown = (cwnd + acked).min(ssthresh.max(cwnd));
        self.set(py, 0, grown)?;
        Ok(acked - (grown - cwnd))
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        format!(
            "CongestionPath(index={}, cwnd={}, ssthresh={}, srtt={}, active={})",
            self.index,
            self.cwnd(py),
            self.ssthresh(py),
            self.srtt(py),
            if self.active(py) { "True" } else { "False" }
        )
    }
}
